# SPDX-License-Identifier: Apache-2.0
"""What a robot's file says to be commanded together, the executor's trees know."""

from __future__ import annotations

from pathlib import Path

import pytest

from behavior_executor.node.tree_loader import TreeLoader
from behavior_tree import InputPort, LoadError, NodeStatus, SyncActionNode

TIAGO = Path(__file__).resolve().parents[3] / "config" / "robots" / "tiago_pro.yaml"
TREE = """<root BTCPP_format="4"><BehaviorTree ID="Main"><Parallel>
  <MoveGroup name="a" group="{one}"/><MoveGroup name="b" group="{other}"/>
</Parallel></BehaviorTree></root>"""


class MoveGroup(SyncActionNode):
    """Moves a part of the robot, as leaves of the skills do."""

    commands = ("{group} arm",)

    @classmethod
    def provided_ports(cls) -> dict[str, InputPort]:
        return {"group": InputPort("group", str)}

    def tick(self) -> NodeStatus:
        return NodeStatus.SUCCESS


def loader(robot: str) -> TreeLoader:
    made = TreeLoader(
        None,
        managers=(),
        nodes_file="",
        clock=lambda: 0.0,
        common={},
        warn=lambda text: None,
        robot=robot,
    )
    made.factory.register_node_type(MoveGroup, "MoveGroup")
    return made


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("both_arms", "left_arm", "left_arm arm"),
        ("torso", "upper_body", "torso arm"),
        ("both_arms", "upper_body", "left_arm arm"),
    ],
)
def test_a_group_does_not_move_beside_what_it_is_part_of(one: str, other: str, common: str) -> None:
    text = TREE.replace("{one}", one).replace("{other}", other)
    with pytest.raises(LoadError, match=f"both command '{common}'"):
        loader(str(TIAGO)).factory.create_tree_from_text(text)
    assert loader("").factory.create_tree_from_text(text), "without a robot's file names count"


@pytest.mark.parametrize(
    ("one", "other"), [("left_arm", "right_arm"), ("torso", "left_arm"), ("head", "both_arms")]
)
def test_groups_that_share_nothing_move_at_once(one: str, other: str) -> None:
    text = TREE.replace("{one}", one).replace("{other}", other)
    assert loader(str(TIAGO)).factory.create_tree_from_text(text)


def test_a_wrong_robot_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text("groups: {arm: {arm: {joints: [a]}}}\ncombined: {all: [legs]}\n")
    with pytest.raises(ValueError, match=r"robot\.yaml:2: combined\.all: no such name 'legs'"):
        loader(str(file))
