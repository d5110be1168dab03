# SPDX-License-Identifier: Apache-2.0
"""Runs a mission in a copy of the simulated world before the real one is allowed to.

:mod:`behavior_bringup.preview.run` is the way in for programs. Nothing is imported here, so that
the command starts fast.
"""
