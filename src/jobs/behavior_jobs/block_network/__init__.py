# SPDX-License-Identifier: Apache-2.0
"""The block tower as a decider network: what its monitors see and choose.

No ROS but in `nodes`.
"""
