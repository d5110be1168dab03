# SPDX-License-Identifier: Apache-2.0
"""Names of what a recording holds of trees, missions and commands, in the file and on the bus."""

from __future__ import annotations

TREE_RECORD = "/behavior/tree_record"
"""`behavior_msgs/TreeRecord`: what happened."""
TREE_STATE = "/behavior/tree_state"
"""The same type, in files only: full records, where reading may begin."""
TREE_XML = "/behavior/tree_xml"
"""`std_msgs/String`: the XML for tree panels."""
TREE_LOG = "/behavior_tree_log"
"""`nav2_msgs/BehaviorTreeLog`, in files only: changes of status for tree panels."""
MISSION_FEEDBACK = "/mission/feedback"
COMMANDS = "/behavior/commands"
"""`behavior_msgs/OperatorCommand`."""
RECORDING = "/behavior/recording"
"""`behavior_msgs/RecordingState`: how the recording itself stands; not in files."""

FIXED_FRAMES = "/tf_static"
"""`tf2_msgs/TFMessage`: of several publishers, each with frames of its own."""

TREE_RECORD_TYPE = "behavior_msgs/msg/TreeRecord"
COMMAND_TYPE = "behavior_msgs/msg/OperatorCommand"
FEEDBACK_TYPE = "behavior_msgs/msg/MissionFeedback"
STRING_TYPE = "std_msgs/msg/String"
