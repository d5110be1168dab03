# SPDX-License-Identifier: Apache-2.0
"""Nav2 (Jazzy and later) behind the topics that the navigation managers speak.

Three nodes, each usable alone: ``route_planner`` answers route requests by ComputePathToPose or
ComputeRoute, ``path_planner`` drives maneuvers by ComputePathToPose and FollowPath, ``map_loader``
loads tiles by LoadMap. AMCL needs none: see the parameters of the manager ``system_health``. They
need nav2_msgs, which only a ROS distribution has; the stack ``nav2`` brings them together.
"""
