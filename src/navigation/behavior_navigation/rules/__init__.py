# SPDX-License-Identifier: Apache-2.0
"""What the navigation managers decide, without ROS: each rule a small module with its own tests."""
