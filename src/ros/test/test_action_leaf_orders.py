# SPDX-License-Identifier: Apache-2.0
"""The action leaf under any order of ticks, halts and answers, with a server that is a puppet."""

from types import SimpleNamespace

import pytest
from action_msgs.msg import GoalStatus
from behavior_msgs.action import Pick
from fakes import PuppetActions
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from behavior_ros.leaves.action_leaf import action_leaf
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.node_models import NodeModel
from behavior_tree import BehaviorTreeFactory, NodeStatus

MODEL = NodeModel("Pick", "action", "/pick", "behavior_msgs/action/Pick", timeout=10.0)
ACCEPTED = 0
REFUSED = 1
XML = """<root BTCPP_format="4"><BehaviorTree ID="T">
<Pick message="{message}" phase="{phase}" code="{code}"/></BehaviorTree></root>"""


class PuppetHub(LeafHub):
    """A clock that is set by hand, and actions whose servers are puppets."""

    def __init__(self):
        self.node_time = 0.0
        self.remote = PuppetActions()
        self.client = self.action(None, MODEL.name).client
        self.barriers = {}

    def now(self):
        return self.node_time

    def wall(self):
        return self.remote.now

    def action(self, action_type, name):
        return self.remote.action(action_type, name)


class LeafMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.hub = PuppetHub()
        factory = BehaviorTreeFactory()
        factory.register_node_type(action_leaf(self.hub, MODEL), "Pick")
        self.tree = factory.create_tree_from_text(XML)
        self.leaf = self.tree.root_node()
        self.outputs = self.seen()
        self.first_goal_of_run = 0

    def seen(self):
        board = self.leaf.config().blackboard
        entries = (board.entry(key) for key in ("message", "phase", "code"))
        return tuple(None if entry is None else entry.value for entry in entries)

    def goals(self):
        return self.hub.client.goals

    @rule()
    def tick(self):
        if self.leaf.status.completed:
            self.leaf.reset_status()
        if self.leaf.status is NodeStatus.IDLE:
            self.first_goal_of_run = len(self.goals())
        status = self.leaf.execute_tick()
        assert status in (NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE)
        if status is NodeStatus.FAILURE:
            assert self.leaf.failure_reason(), "a failure says why"
        if status is NodeStatus.SUCCESS:
            response = self.goals()[-1].result.result()
            assert len(self.goals()) > self.first_goal_of_run, "success is of this run's goal"
            assert response.status == GoalStatus.STATUS_SUCCEEDED
            assert response.result.code == 0
            assert self.seen()[0] == response.result.message, "outputs come before the status"
        self.outputs = self.seen()

    @rule()
    def halt(self):
        self.leaf.halt_node()

    @rule(seconds=st.sampled_from([0.1, 4.0, 11.0]))
    def time_passes(self, seconds):
        self.hub.node_time += seconds
        self.hub.remote.now += seconds

    @rule(up=st.booleans())
    def server(self, up):
        self.hub.client.up = up

    @rule(lost=st.sampled_from([None, None, "server lost: gone"]), restarted=st.booleans())
    def losing(self, lost, restarted):
        self.hub.remote.lost, self.hub.remote.restarted = lost, restarted

    @rule()
    def look(self):
        self.hub.remote.look()

    @precondition(lambda self: self.goals())
    @rule(data=st.data(), event=st.sampled_from(["accept", "reject", "feedback"]))
    def answer(self, data, event):
        goal = data.draw(st.sampled_from(self.goals()))
        if event == "feedback":
            goal.feedback(SimpleNamespace(feedback=Pick.Feedback(phase="lift")))
        else:
            getattr(goal, event)()

    @precondition(lambda self: self.goals())
    @rule(data=st.data(), code=st.sampled_from([ACCEPTED, REFUSED]))
    def answer_cancel(self, data, code):
        data.draw(st.sampled_from(self.goals())).answer_cancel(code)

    @precondition(lambda self: self.goals())
    @rule(
        data=st.data(),
        code=st.sampled_from([0, 0, 211]),
        status=st.sampled_from(
            [
                GoalStatus.STATUS_SUCCEEDED,
                GoalStatus.STATUS_ABORTED,
                GoalStatus.STATUS_CANCELED,
                GoalStatus.STATUS_UNKNOWN,
            ]
        ),
    )
    def end(self, data, code, status):
        goal = data.draw(st.sampled_from(self.goals()))
        goal.finish(status, Pick.Result(code=code, message=f"text {id(goal)}"))

    @invariant()
    def outputs_are_written_by_ticks_only(self):
        assert self.seen() == self.outputs

    @invariant()
    def only_a_running_leaf_has_a_goal_that_goes_on(self):
        held = self.goals() if self.leaf.status is not NodeStatus.RUNNING else self.goals()[:-1]
        for goal in held:
            accepted = goal.answer.done() and goal.answer.result().accepted
            if accepted and not goal.result.done():
                assert goal.cancels, "a goal that nobody waits for was cancelled"

    def teardown(self):
        """Whatever happened, everything can be closed."""
        self.hub.remote.lost = None
        self.leaf.halt_node()
        for goal in self.goals():
            goal.accept()
            goal.finish(GoalStatus.STATUS_CANCELED, Pick.Result())
        assert self.hub.remote.closed()


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (GoalStatus.STATUS_SUCCEEDED, 0, NodeStatus.SUCCESS),
        (GoalStatus.STATUS_SUCCEEDED, 211, NodeStatus.FAILURE),
        (GoalStatus.STATUS_ABORTED, 0, NodeStatus.FAILURE),
        (GoalStatus.STATUS_CANCELED, 0, NodeStatus.FAILURE),
    ],
)
def test_success_takes_status_and_code(status, code, expected):
    machine = LeafMachine()
    machine.tick()
    machine.goals()[0].accept()
    machine.goals()[0].finish(status, Pick.Result(code=code))
    machine.tick()
    assert machine.leaf.status is expected


def test_a_goal_that_went_to_a_dead_server_is_sent_to_the_next_one():
    machine = LeafMachine()
    machine.tick()
    machine.hub.remote.restarted, machine.hub.remote.lost = True, "server lost: restarted"
    machine.look()
    machine.tick()
    assert machine.leaf.status is NodeStatus.RUNNING
    machine.hub.remote.lost = None
    machine.look()
    assert len(machine.goals()) == 2
    machine.goals()[1].accept()
    machine.goals()[1].finish(GoalStatus.STATUS_SUCCEEDED, Pick.Result())
    machine.tick()
    assert machine.leaf.status is NodeStatus.SUCCESS
    machine.goals()[0].accept()
    assert len(machine.goals()[0].cancels) == 1, "should it have arrived after all, it is cancelled"


def test_an_accepted_goal_is_not_sent_again():
    machine = LeafMachine()
    machine.hub.remote.restarted = True
    machine.tick()
    machine.goals()[0].accept()
    machine.hub.remote.lost = "server lost: restarted"
    machine.look()
    machine.tick()
    assert machine.leaf.status is NodeStatus.FAILURE
    assert len(machine.goals()) == 1


def test_a_refused_cancel_is_asked_again_while_the_goal_runs():
    machine = LeafMachine()
    machine.tick()
    goal = machine.goals()[0]
    goal.accept()
    machine.halt()
    for number in range(1, 4):
        assert len(goal.cancels) == number
        goal.answer_cancel(REFUSED)
        machine.look()
    goal.answer_cancel(ACCEPTED)
    machine.look()
    assert len(goal.cancels) == 4
    goal.finish(GoalStatus.STATUS_CANCELED, Pick.Result())
    assert machine.hub.remote.closed()


LeafMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLeafMachine = LeafMachine.TestCase


def test_a_leaf_that_waits_goes_on_under_a_hook_of_its_ticks():
    """Breakpoints and steps hook into ticks."""
    hub = PuppetHub()
    factory = BehaviorTreeFactory()
    factory.register_node_type(action_leaf(hub, MODEL), "Pick")
    tree = factory.create_tree_from_text(XML)
    asked = []
    tree.root_node().set_pre_tick(lambda node: asked.append(node.status))
    assert [tree.tick_once() for _ in range(3)] == [NodeStatus.RUNNING] * 3
    assert asked == [NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.RUNNING]
