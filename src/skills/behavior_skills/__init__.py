# SPDX-License-Identifier: Apache-2.0
"""Skills of an arm with a gripper, and the action servers around them.

All but `behavior_skills.node` is free of ROS: skills are plain functions over the protocols of
`behavior_skills.interfaces`. `behavior_skills.node.skills_node` is the node around them.
"""
