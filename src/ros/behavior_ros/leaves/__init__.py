# SPDX-License-Identifier: Apache-2.0
"""Tree leaves made from ROS interfaces."""
