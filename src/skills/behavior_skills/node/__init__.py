# SPDX-License-Identifier: Apache-2.0
"""The ROS nodes of the arm: action servers, clients of controllers and of the scene."""
