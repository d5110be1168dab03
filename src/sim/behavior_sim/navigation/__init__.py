# SPDX-License-Identifier: Apache-2.0
"""A world to navigate in, without physics: truth, what a robot drives by, and how both go wrong.

``system`` is the whole without ROS, stepped like a clockwork; ``node`` puts it on topics, services
and actions. The modules that only compute: ``world``, ``people``, ``grid``, ``localizer``,
``evidence``, ``routes``, ``path_planner``, ``speed``, ``tracker``, ``map_loader``.
"""
