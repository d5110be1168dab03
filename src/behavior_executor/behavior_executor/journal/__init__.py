# SPDX-License-Identifier: Apache-2.0
"""The durable record of missions. No ROS."""
