# SPDX-License-Identifier: Apache-2.0
"""The run of one mission's tree, and who may step in. No ROS."""
