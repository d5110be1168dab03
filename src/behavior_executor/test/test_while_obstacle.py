# SPDX-License-Identifier: Apache-2.0
"""Obstacles that count only while a branch runs."""

import pytest

from behavior_executor.scene.while_obstacle import WhileObstacle
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE


class Network:
    """A tree whose leaves return what `says` tells, and keep what they saw of the entry."""

    def __init__(self, xml):
        self.says, self.seen = RUNNING, []
        factory = BehaviorTreeFactory()
        factory.register_node_type(WhileObstacle, "WhileObstacle")
        factory.register_simple_stateful_action("Reach", self._reach, self._reach, lambda _: None)
        self.blackboard = Blackboard.create()
        self.blackboard.set("side", 1)
        self.tree = factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="main">{xml}</BehaviorTree></root>',
            self.blackboard,
        )

    def _reach(self, node):
        self.seen.append(self.on)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    @property
    def on(self):
        return self.blackboard.get("obstacles")

    def tick(self):
        return self.tree.tick_exactly_once()


ONE = """<WhileObstacle enable="dome;barrier" if="side == 1" obstacles="{obstacles}">
           <Reach/></WhileObstacle>"""


def test_they_are_on_while_the_child_runs():
    tree = Network(ONE)
    assert tree.tick() is RUNNING
    assert tree.seen == [["dome", "barrier"]]
    tree.says = SUCCESS
    assert tree.tick() is SUCCESS
    assert tree.on == []


def test_the_script_switches_at_every_tick():
    tree = Network(ONE)
    for side in (2, 1, 2, 1):
        tree.blackboard.set("side", side)
        tree.tick()
    assert tree.seen == [[], ["dome", "barrier"], [], ["dome", "barrier"]]


def test_they_are_off_after_halt_failure_and_exception():
    tree = Network(ONE)
    tree.tick()
    tree.tree.halt_tree()
    assert tree.on == []
    tree.says = FAILURE
    assert tree.tick() is FAILURE
    assert tree.on == []
    tree.says = RuntimeError("broken")
    with pytest.raises(Exception, match="broken"):
        tree.tick()
    assert tree.seen[-1] == ["dome", "barrier"]
    assert tree.on == []


def test_what_two_switch_on_stays_on_until_both_have_ended():
    tree = Network(
        """<WhileObstacle enable="dome" obstacles="{obstacles}">
             <WhileObstacle enable="dome" if="side == 1" obstacles="{obstacles}"><Reach/>
             </WhileObstacle></WhileObstacle>"""
    )
    tree.tick()
    assert tree.seen == [["dome", "dome"]]
    tree.blackboard.set("side", 2)
    tree.tick()
    assert tree.seen[-1] == ["dome"]
    tree.tree.halt_tree()
    assert tree.on == []
