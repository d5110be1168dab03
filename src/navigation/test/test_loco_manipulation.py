# SPDX-License-Identifier: Apache-2.0
"""A behavior of another executor as one action of a tree: rules, then with a real server."""

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionFeedback
from navigation_rig import Rig, rig

from behavior_navigation.managers.loco_manipulation import LocoManipulationManager
from behavior_navigation.rules.behavior_call import (
    BehaviorProgress,
    read_parameters,
    register_behavior_nodes,
)
from behavior_navigation.rules.calls import CallResult
from behavior_ros import GoalContext, WorkerActionServer
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, Blackboard, InputPort, NodeStatus, Tree

TREE = Path(__file__).parents[3] / "trees" / "navigation" / "subtrees" / "loco_manipulation.xml"


class FakeBehavior:
    def __init__(self) -> None:
        self.progress = BehaviorProgress(0.5, "reaching")
        self.result: CallResult | None = None
        self.cancelled = 0

    def poll(self) -> CallResult | None:
        return self.result

    def cancel(self) -> None:
        self.cancelled += 1


class Arms:
    """Runs behaviors, and a subtree that uses them."""

    def __init__(self, timeout: float = 0.0) -> None:
        self.now = 0.0
        self.calls: list[tuple[str, dict]] = []
        self.behavior = FakeBehavior()
        self.idle = 0
        factory = BehaviorTreeFactory()
        register_behavior_nodes(factory, self.run, lambda: self.now)
        factory.register_simple_action("setPlannerIdle", self._set_idle, [InputPort("reason", str)])
        factory.register_behavior_tree_from_file(TREE)
        self.blackboard = Blackboard.create()
        self.blackboard.set("behavior", "stack_blocks")
        self.blackboard.set("parameters", "order=a;max_failures=3")
        self.blackboard.set("timeout", timeout)
        self.tree: Tree = factory.create_tree("SUBTREE_loco_manipulation", self.blackboard)

    def run(self, name: str, parameters: Mapping[str, str]) -> FakeBehavior:
        self.calls.append((name, dict(parameters)))
        return self.behavior

    def _set_idle(self, node: object) -> NodeStatus:
        self.idle += 1
        return NodeStatus.SUCCESS


def test_it_runs_while_the_base_stands_and_ends_well() -> None:
    arms = Arms()
    for _ in range(3):
        assert arms.tree.tick_exactly_once() is NodeStatus.RUNNING
    assert arms.calls == [("stack_blocks", {"order": "a", "max_failures": "3"})]
    assert arms.idle == 1
    assert arms.blackboard.get("detail") == "reaching"
    arms.behavior.result = CallResult(True)
    assert arms.tree.tick_exactly_once() is NodeStatus.SUCCESS


def test_its_failure_is_told() -> None:
    arms = Arms()
    arms.behavior.result = CallResult(False, "the block fell")
    assert arms.tree.tick_exactly_once() is NodeStatus.FAILURE
    assert "stack_blocks: the block fell" in arms.tree.failure_reason().text


def test_halting_cancels_it_once() -> None:
    arms = Arms()
    arms.tree.tick_exactly_once()
    arms.tree.halt_tree()
    arms.tree.halt_tree()
    assert arms.behavior.cancelled == 1


def test_it_may_take_its_time_only() -> None:
    arms = Arms(timeout=5.0)
    arms.tree.tick_exactly_once()
    arms.now = 5.0
    assert arms.tree.tick_exactly_once() is NodeStatus.RUNNING
    arms.now = 5.1
    assert arms.tree.tick_exactly_once() is NodeStatus.FAILURE
    assert arms.behavior.cancelled == 1


@pytest.mark.parametrize("text", ["a", "=1", "a=1;a=2", "a=1;b"])
def test_malformed_parameters(text: str) -> None:
    with pytest.raises(ValueError, match="key=value"):
        read_parameters(text)


def test_parameters() -> None:
    assert read_parameters("") == {}
    assert read_parameters(" a = 1 ; b=x=y;") == {"a": "1", "b": "x=y"}


class Executor:
    """Another executor, that does as the test says."""

    def __init__(self, arms: Rig[LocoManipulationManager]) -> None:
        self.missions: list[tuple[str, dict]] = []
        self.gate = threading.Event()
        self.cancelled = 0
        self.code = 0
        arms.do(
            lambda: WorkerActionServer(
                arms.world, ExecuteMission, "/manipulation/execute", self._execute
            )
        )

    def _execute(self, context: GoalContext) -> ExecuteMission.Result:
        mission = context.goal.mission
        self.missions.append((mission.name, {p.key: p.value for p in mission.parameters}))
        try:
            while not self.gate.is_set():
                told = MissionFeedback(progress=0.25, phase="reach")
                context.publish_feedback(ExecuteMission.Feedback(feedback=told))
                context.check_cancelled()
                self.gate.wait(0.02)
        except Exception:
            self.cancelled += 1
            raise
        return ExecuteMission.Result(code=self.code, message="" if self.code == 0 else "it fell")


NODE = "<runBehavior behavior='stack' parameters='n=3' progress='{p}' detail='{d}'/>"


def test_missions_of_another_executor() -> None:
    with rig(LocoManipulationManager, "server_timeout:=5.0") as arms:
        other = Executor(arms)
        tree = arms.tree(NODE)

        def told() -> bool:
            assert arms.run(tree) is NodeStatus.RUNNING
            return tree.root_blackboard().get("d", "") == "reach"

        until(told, 90.0, "feedback")
        assert other.missions == [("stack", {"n": "3"})]
        assert tree.root_blackboard().get("p") == 0.25
        other.gate.set()
        until(lambda: arms.run(tree) is NodeStatus.SUCCESS, 90.0, "success")
        other.code = 110
        tree = arms.tree(NODE)
        until(lambda: arms.run(tree) is NodeStatus.FAILURE, 90.0, "failure")
        assert "stack: it fell" in tree.failure_reason().text
        other.gate.clear()
        tree = arms.tree(NODE)
        until(lambda: arms.run(tree) and len(other.missions) == 3, 90.0, "third mission")
        arms.do(tree.halt_tree)
        until(lambda: other.cancelled == 1, 90.0, "cancellation")


def test_without_another_executor() -> None:
    with rig(LocoManipulationManager, "server_timeout:=0.5") as arms:
        tree = arms.tree(NODE)
        until(lambda: arms.run(tree) is NodeStatus.FAILURE, 90.0, "failure")
        assert "no server of action /manipulation/execute" in tree.failure_reason().text
