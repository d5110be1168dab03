# SPDX-License-Identifier: Apache-2.0
"""Node types and fields of IHMC's behaviours: older names and units become today's."""

from __future__ import annotations

import math
import re
from typing import Any

from behavior_tree.importing.ihmc_json import Number, Object, compact, parse

KEPT_APART = ("type", "name", "notes", "children", "executeAfterAction")
"""Fields of nodes that are no ports."""

_KINDS = {
    "ArmJointAngles": "Arm",
    "HandPose": "Arm",
    "FootstepPlan": "Walk",
    "WaitDuration": "Wait",
    "ChestOrientation": "Spine",
    "PelvisHeightPitch": "Pelvis",
    "PelvisHeightOrientation": "Pelvis",
    "SakeHandCommand": "EZGripper",
    "FootPose": "Leg",
    "CheckPoint": "Checkpoint",
    "BehaviorTree": "Basic",
    "ActionSequence": "Sequence",
    "BehaviorTreeRoot": "Root",
}
_ENDING = re.compile(r"(Action)?(Node)?Definition$")
_IS_LITERAL = re.compile(r"true|false|null|-?[0-9].*")
_IS_ENTRY = re.compile(r"\{.*\}\Z", re.DOTALL)
_FRAMES = {
    "walkingFrame": "Walking",
    "afterGripperZLeft": "Left Hand",
    "afterGripperZRight": "Right Hand",
}
_NODES = {
    "Checkpoint": "CheckpointNodeDefinition",
    "Goto": "GotoNodeDefinition",
    "Condition": "ConditionNodeDefinition",
    "Fallback": "FallbackNodeDefinition",
    "Basic": "BehaviorTreeNodeDefinition",
    "Root": "BehaviorTreeRootNodeDefinition",
    "Sequence": "ActionSequenceDefinition",
    "DoorTraversal": "DoorTraversalDefinition",
    "BuildingExploration": "BuildingExplorationDefinition",
    "TrashCanInteraction": "TrashCanInteractionDefinition",
    "AI2R": "AI2RNodeDefinition",
}


def kind_of(type_name: str) -> str:
    """Today's short name of a node type, such as ``Arm``."""
    for old, kind in _KINDS.items():
        if re.fullmatch(rf"{old}(Action)?(Node)?Definition", type_name):
            return kind
    return _ENDING.sub("", type_name) or type_name


def type_name(kind: str) -> str:
    """Today's full name of a node type."""
    return _NODES.get(kind, f"{kind}ActionDefinition")


def modern(node: Object) -> tuple[Object, list[str]]:
    """The fields of a node under today's names and in today's units, without those kept apart; and
    notes on what could not be carried over.
    """
    kind, notes = kind_of(node["type"]), []
    fields: Object = {}
    for name, value in node.items():
        if name in KEPT_APART or name in ("executeWithNextAction", "executeWithNext"):
            continue
        if kind == "Arm" and re.fullmatch(r"j[0-6]", name) and isinstance(value, Number):
            fields[f"{name}Degrees"] = Number(round(math.degrees(float(value)), 9))
        elif kind == "Arm" and name == "usePredefinedJointAngles":
            fields["definedInJointspace"] = value
        elif kind == "Walk" and name == "plannerPerformAStarSearch" and isinstance(value, bool):
            fields["planner"] = "A_STAR" if value else "TURN_WALK_TURN"
        else:
            fields[name] = _frames(value) if "frame" in name.lower() else value
    if kind == "Walk" and isinstance(fields.get("planner"), Number):
        notes.append(f"planner {fields['planner']} is a number of an older program: choose a name")
    if kind == "Spine" and fields.get("jointspaceOnly") is False:
        notes.append(
            "jointspaceOnly is false, which IHMC's loader takes for true: the pose is meant"
        )
    return fields, notes


def _frames(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Number):
        return "Pelvis" if value.startswith("afterPelvis") else _FRAMES.get(value, value)
    return value


def to_text(value: Any) -> str:
    """A value as the text of a port."""
    if type(value) is str and not _IS_ENTRY.match(value):
        meant = of_text(value)
        if type(meant) is str and meant == value:  # a number is a text, too
            return value
    return str(value) if isinstance(value, Number) else _plain(value)


def _plain(value: Any) -> str:
    return compact(value) if value is None or isinstance(value, bool) else f"json:{compact(value)}"


def of_text(text: str) -> Any:
    """The value that the text of a port means."""
    if text.startswith("json:") or _IS_LITERAL.fullmatch(text):
        try:
            return parse(text.removeprefix("json:"))
        except (ValueError, RecursionError):
            return text
    return text
