# SPDX-License-Identifier: Apache-2.0
"""Whole trees of Nav2's kind: its control nodes and decorators are ours, its leaves are made from a
model and ask stand-ins of its servers. Nav2's own trees are ticked where they are installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from behavior_executor.node.tree_nodes import NodeContext
from behavior_navigation.nav2.tree_nodes import register, register_for
from behavior_ros import load_node_models, ros_node_manifests
from behavior_tree import (
    BehaviorTreeFactory,
    NodeConfig,
    NodeStatus,
    StatefulActionNode,
    Tree,
    register_placeholders,
)

MODEL = """<root BTCPP_format="4">
  <BehaviorTree ID="Navigate">
    <RecoveryNode number_of_retries="3" name="Recover">
      <PipelineSequence>
        <RateController hz="1.0">
          <RecoveryNode name="Plan">
            <ComputePathToPose goal="{goal}" path="{path}" error_code_id="{plan_error}"/>
            <Sequence>
              <WouldAPlannerRecoveryHelp error_code="{plan_error}"/>
              <ClearEntireCostmap name="ClearGlobal" service_name="global"/>
            </Sequence>
          </RecoveryNode>
        </RateController>
        <RecoveryNode name="Follow">
          <FollowPath path="{path}" error_code_id="{follow_error}"/>
          <Sequence>
            <WouldAControllerRecoveryHelp error_code="{follow_error}"/>
            <ClearEntireCostmap name="ClearLocal" service_name="local"/>
          </Sequence>
        </RecoveryNode>
      </PipelineSequence>
      <Sequence>
        <Fallback>
          <WouldAControllerRecoveryHelp error_code="{follow_error}"/>
          <WouldAPlannerRecoveryHelp error_code="{plan_error}"/>
        </Fallback>
        <ReactiveFallback>
          <GoalUpdated/>
          <RoundRobin>
            <ClearEntireCostmap name="ClearAll" service_name="all"/>
            <Spin spin_dist="1.57"/>
            <Wait wait_duration="5.0"/>
          </RoundRobin>
        </ReactiveFallback>
      </Sequence>
    </RecoveryNode>
  </BehaviorTree>
  <TreeNodesModel>
    <Action ID="ComputePathToPose">
      <input_port name="goal" type="geometry_msgs::msg::PoseStamped"/>
      <output_port name="path" type="nav_msgs::msg::Path"/>
      <output_port name="error_code_id" type="uint16"/>
    </Action>
    <Action ID="FollowPath">
      <input_port name="path" type="nav_msgs::msg::Path"/>
      <output_port name="error_code_id" type="uint16"/>
    </Action>
    <Action ID="ClearEntireCostmap"><input_port name="service_name" type="string"/></Action>
    <Action ID="Spin"><input_port name="spin_dist" type="double" default="1.57"/></Action>
    <Action ID="Wait"><input_port name="wait_duration" type="double" default="1.0"/></Action>
  </TreeNodesModel>
</root>
"""


class Servers:
    """Stand-ins of Nav2's servers: what each goal comes to, the last one again and again.

    A goal of FollowPath takes three ticks, all others end at once. What is not told succeeds.
    """

    def __init__(self, **errors: Sequence[int]) -> None:
        self.errors = errors
        self.goals: Counter[str] = Counter()
        self.order: list[str] = []

    def error(self, server: str) -> int:
        """The error code of the next goal; 0: it succeeds."""
        told = self.errors.get(server, (0,))
        number = self.goals[server]
        self.goals[server] += 1
        self.order.append(server)
        return told[min(number, len(told) - 1)]


class Leaf(StatefulActionNode):
    """Asks a server; its outputs are the error code and, of anything else, a text."""

    def __init__(self, name: str, config: NodeConfig, servers: Servers) -> None:
        super().__init__(name, config)
        self._servers, self._left = servers, 0

    def on_start(self) -> NodeStatus:
        server = self.registration_id()
        self._left = 3 if server == "FollowPath" else 0
        self._code = self._servers.error(server)
        return self.on_running()

    def on_running(self) -> NodeStatus:
        if self._left:
            self._left -= 1
            return NodeStatus.RUNNING
        for port in self.config().ports.values():
            if port.name == "error_code_id":
                self.set_output(port.name, self._code)
            elif port.direction.name == "OUTPUT":
                made = port.type()
                if not isinstance(made, str | int | float):  # a path, as far as anybody looks at it
                    made.poses = []
                self.set_output(port.name, made)
        if self._code == 0:
            return NodeStatus.SUCCESS
        self.set_failure_reason(f"{self.registration_id()} ended with {self._code}")
        return NodeStatus.FAILURE

    def on_halted(self) -> None:
        self._servers.order.append(f"cancel {self.registration_id()}")


class Robot:
    """Stands still, and nobody sends it goals."""

    def position(self, frame: str, robot: str) -> tuple[float, float]:
        return 0.0, 0.0

    def speed(self) -> float:
        return 0.0

    def newest(self, kind: Any, topic: str, *, latched: bool = False) -> None:
        return None


class Drive:
    """A tree with a clock that moves by 0.1 s from tick to tick."""

    def __init__(self, source: str | Path, models: str | Path, servers: Servers) -> None:
        self.now = 0.0
        self.factory = BehaviorTreeFactory(clock=lambda: self.now)
        register_for(self.factory, Robot())
        with patch("behavior_tree.placeholders.placeholder", partial(Leaf, servers=servers)):
            register_placeholders(self.factory, models)
        make = self.factory.create_tree_from_text
        if isinstance(source, Path):
            make = self.factory.create_tree_from_file
        self.tree: Tree = make(source)

    def run(self, most: int) -> NodeStatus:
        """Tick until it ends, or that many times."""
        status = NodeStatus.RUNNING
        for _ in range(most):
            status = self.tree.tick_exactly_once()
            self.now += 0.1
            if status is not NodeStatus.RUNNING:
                break
        return status


def drive(most: int = 100, **errors: Sequence[int]) -> tuple[Drive, Servers, NodeStatus]:
    servers = Servers(**errors)
    made = Drive(MODEL, MODEL, servers)
    return made, servers, made.run(most)


def test_a_drive_without_trouble_plans_once_a_second_and_follows() -> None:
    _, servers, status = drive()
    assert status is NodeStatus.SUCCESS
    assert servers.order == ["ComputePathToPose", "FollowPath"]


def test_a_planner_that_fails_is_helped_by_a_clean_map() -> None:
    _, servers, status = drive(ComputePathToPose=(208, 0))
    assert status is NodeStatus.SUCCESS
    assert servers.order == [
        *("ComputePathToPose", "ClearEntireCostmap", "ComputePathToPose", "FollowPath"),
    ]


def test_what_no_recovery_would_help_ends_the_drive_with_the_planners_reason() -> None:
    made, servers, status = drive(ComputePathToPose=(206,))  # the goal is occupied
    assert status is NodeStatus.FAILURE
    assert servers.order == ["ComputePathToPose"]
    reason = made.tree.failure_reason()
    assert reason is not None
    assert reason.text == "ComputePathToPose ended with 206"


def test_recoveries_come_in_turn_until_the_retries_are_used_up() -> None:
    made, servers, status = drive(FollowPath=(105,))
    assert status is NodeStatus.FAILURE
    tries = ["FollowPath", "ClearEntireCostmap", "FollowPath"]
    assert [each for each in servers.order if each != "ComputePathToPose"] == [
        *(*tries, "ClearEntireCostmap"),
        *(*tries, "Spin"),
        *(*tries, "Wait"),
        *tries,
    ]
    reason = made.tree.failure_reason()
    assert reason is not None
    assert reason.text == "FollowPath ended with 105"


def test_a_halt_reaches_what_runs() -> None:
    made, servers, status = drive(most=2)
    assert status is NodeStatus.RUNNING
    made.tree.halt_tree()
    assert servers.order[-1] == "cancel FollowPath"


# -- Nav2's own trees, where they are


def _share(package: str) -> Path | None:
    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError:
        return None


NODES_FILE = Path(__file__).parents[1] / "config" / "nav2_nodes.yaml"
TREES, NODES = _share("nav2_bt_navigator"), _share("nav2_behavior_tree")
installed = pytest.mark.skipif(
    TREES is None or NODES is None,
    reason="nav2_bt_navigator and nav2_behavior_tree are not installed",
)
FILES = sorted(TREES.glob("behavior_trees/*.xml")) if TREES and NODES else [Path("none")]
HELPLESS = (
    *("follow_point", "navigate_to_pose_w_bounds_check", "navigate_w_replanning_distance"),
    *("navigate_w_replanning_only_if_goal_is_updated", "navigate_w_replanning_speed"),
    *("navigate_w_replanning_only_if_path_becomes_invalid", "navigate_w_replanning_time"),
)
"""Trees without recovery: they end with the planner."""
FAR = {"ArePosesNear": (1,)}
"""The robot is not near its goal."""


def nav2_drive(file: Path, **errors: Sequence[int]) -> tuple[Servers, NodeStatus]:
    assert NODES is not None
    servers = Servers(**FAR, **errors)
    return servers, Drive(file, NODES / "nav2_tree_nodes.xml", servers).run(300)


@installed
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_nav2s_own_trees_drive(file: Path) -> None:
    servers, status = nav2_drive(file)
    assert status is (NodeStatus.RUNNING if file.stem == "follow_point" else NodeStatus.SUCCESS)
    assert servers.goals["FollowPath"] or servers.goals["Spin"]


@installed
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_nav2s_own_trees_recover(file: Path) -> None:
    servers, status = nav2_drive(
        file, ComputePathToPose=(208, 0), FollowPath=(105, 0), ComputeRoute=(405, 0)
    )
    assert status is (NodeStatus.FAILURE if file.stem in HELPLESS else NodeStatus.SUCCESS)
    cleared = servers.goals["ClearEntireCostmap"] > 0
    assert cleared is (file.stem not in [*HELPLESS, "odometry_calibration"])


LACKING = {"CheckPoseOccupancy", "RemoveInCollisionGoals", "ValidatePath collision_poses"}
"""What docs/navigation_world.md says is not there."""


@installed
def test_nav2s_nodes_are_there_with_their_ports() -> None:
    assert NODES is not None
    factory = BehaviorTreeFactory()
    register(factory, NodeContext(node=None, scene=None))
    manifests = dict(factory.manifests())
    for manifest in ros_node_manifests(load_node_models(NODES_FILE)):
        manifests[manifest.registration_id] = manifest
    missing = set()
    for model in ElementTree.parse(NODES / "nav2_tree_nodes.xml").iterfind("TreeNodesModel/*"):
        name = model.attrib["ID"]
        if name not in manifests:
            missing.add(name)
            continue
        ports = {port.attrib["name"] for port in model} - manifests[name].ports.keys()
        missing |= {f"{name} {port}" for port in ports}
    assert missing <= LACKING


def test_the_nodes_file_is_read_where_nav2_is_not_installed() -> None:
    assert "ReinitializeGlobalLocalization" in {
        manifest.registration_id for manifest in ros_node_manifests(load_node_models(NODES_FILE))
    }
