# SPDX-License-Identifier: Apache-2.0
"""Our servers, leaves and clients pass the conformance kit, and the kit finds what does not."""

import subprocess
import sys
import threading
from functools import partial

import pytest
from action_msgs.msg import GoalStatus
from behavior_msgs.action import Wait
from conftest import _spinning
from rclpy.action import ActionClient, ActionServer, GoalResponse

from behavior_ros import (
    End,
    GoalContext,
    WorkerActionServer,
    register_ros_nodes,
    remote_actions,
)
from behavior_ros.conformance import (
    CLIENT_RULES,
    SERVER_RULES,
    ClientsUnderTest,
    ServerUnderTest,
    broken_rules,
)
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, NodeStatus

PATIENCE = 1.5
"""[s] of our clients here: they give servers up soon, so that tests are short."""
BUSY = "while True: pass"


@pytest.fixture(scope="module")
def spinning():
    yield from _spinning()


# -- our clients -----------------------------------------------------------------------------------


class Leaf:
    """A leaf of an action, in a tree that is ticked all the time."""

    def __init__(self, spinner, node):
        self.spinner, self.status = spinner, NodeStatus.IDLE
        model = NodeModel(
            "Act", "action", "/leaf", "behavior_msgs/action/Wait", server_timeout=PATIENCE
        )
        self.factory = BehaviorTreeFactory()
        spinner.do(lambda: register_ros_nodes(self.factory, node, [model]))
        xml = "<root BTCPP_format='4'><BehaviorTree ID='t'><Act/></BehaviorTree></root>"
        self.tree = spinner.do(self.factory.create_tree_from_text, xml)
        self.stopped = False

    def start(self):
        self._tick()

    def _tick(self):
        if not self.stopped:
            self.status = self.spinner.do(self.tree.tick_exactly_once)

    def cancel(self):
        self.stopped = True
        self.spinner.do(self.tree.halt_tree)

    def ended(self):
        if self.status is NodeStatus.RUNNING:
            self._tick()
        if self.stopped:
            return "failed"
        done = {NodeStatus.SUCCESS: "succeeded", NodeStatus.FAILURE: "failed"}
        return done.get(self.status, "")


class Goal:
    """A goal by `remote_actions`."""

    def __init__(self, spinner, node):
        self.spinner = spinner
        self.action = spinner.do(lambda: remote_actions(node).action(Wait, "/goal"))

    def start(self):
        self.goal = self.spinner.do(lambda: self.action.send(Wait.Goal(), server_timeout=PATIENCE))

    def cancel(self):
        self.spinner.do(self.goal.cancel)

    def ended(self):
        if self.goal.outcome is None:
            return ""
        return "succeeded" if self.goal.outcome.succeeded else "failed"


@pytest.fixture(scope="module")
def clients(spinning):
    """Return clients of a kind, by the kind."""
    node = spinning.node("clients")
    made = {}

    def of(kind):
        if kind not in made:
            make = partial(kind, spinning, node)
            name = f"/{kind.__name__.lower()}"
            made[kind] = ClientsUnderTest(Wait, name, make, patience=PATIENCE)
        return made[kind]

    yield of
    for each in made.values():
        each.close()


@pytest.mark.parametrize("rule", CLIENT_RULES, ids=str)
def test_goals_that_our_nodes_send(clients, rule):
    assert rule.broken(clients(Goal)) == ""


# -- our servers -----------------------------------------------------------------------------------


def work(context):
    context.wait_until(lambda: False, context.goal.duration)
    return Wait.Result()


@pytest.fixture(scope="module")
def server(spinning):
    node = spinning.node("server")
    made = spinning.do(lambda: WorkerActionServer(node, Wait, "/work", work))
    with ServerUnderTest(Wait, "/work", lambda: Wait.Goal(duration=1000.0)) as subject:
        yield subject
    made.destroy()


# -- the kit ---------------------------------------------------------------------------------------


def test_what_a_careless_client_breaks_is_told_in_a_sentence(spinning):
    """The usual client of rclpy: it waits for answers, and cancels what it has a handle of."""
    node = spinning.node("careless")

    class Careless:
        client = spinning.do(lambda: ActionClient(node, Wait, "/careless"))

        def start(self):
            until(self.client.server_is_ready)
            self.result = None
            self.sent = spinning.do(self.client.send_goal_async, Wait.Goal())
            self.sent.add_done_callback(self.answered)

        def answered(self, future):
            if future.result().accepted:
                self.result = future.result().get_result_async()

        def cancel(self):
            if self.sent.done() and self.sent.result().accepted:
                spinning.do(self.sent.result().cancel_goal_async)

        def ended(self):
            if self.sent.done() and not self.sent.result().accepted:
                return "failed"
            if self.result is None or not self.result.done():
                return ""
            good = self.result.result().status == GoalStatus.STATUS_SUCCEEDED
            return "succeeded" if good else "failed"

    with ClientsUnderTest(Wait, "/careless", Careless, patience=0.1, limit=60.0) as subject:
        assert broken_rules(CLIENT_RULES[3:4], subject) == []
        subject.stage.limit = 0.5  # now that they have met
        rules = {rule.name: rule for rule in CLIENT_RULES}
        names = ("rejected", "cancelled before acceptance", "result lost", "restart")
        broken = {name: rules[name].broken(subject) for name in names}
    assert broken == {
        "rejected": "",
        "restart": "restart: a goal whose server was restarted has failed, but it did not end "
        "within 0.5 s",
        "result lost": "result lost: a result that gets lost is not waited for for ever, but it "
        "did not end within 0.5 s",
        "cancelled before acceptance": "cancelled before acceptance: a goal that was cancelled "
        "before it was accepted is cancelled then, but the goal was left running within 0.5 s",
    }


def test_what_a_careless_server_breaks_is_told_in_a_sentence(spinning):
    """It takes every goal, refuses to cancel, and forgets a goal as soon as it has ended."""
    node = spinning.node("careless_server")

    def execute(handle):
        handle.succeed()
        return Wait.Result()

    server = spinning.do(
        lambda: ActionServer(
            node,
            Wait,
            "/hasty",
            execute,
            goal_callback=lambda goal: (
                GoalResponse.REJECT if goal.duration else GoalResponse.ACCEPT
            ),
            result_timeout=0,
        )
    )
    rules = {rule.name: rule for rule in SERVER_RULES}
    with ServerUnderTest(Wait, "/hasty", lambda: Wait.Goal(duration=1.0)) as picky:
        assert rules["cancel"].broken(picky).endswith("but it takes not even one goal")
    with ServerUnderTest(Wait, "/hasty", Wait.Goal) as hasty:
        assert "ended with status 0" in rules["cancel after the end"].broken(hasty)
    with ServerUnderTest(Wait, "/nobody", Wait.Goal, limit=0.2) as nobody:
        assert "its services are not there within 0.2 s" in rules["burst"].broken(nobody)
    spinning.do(server.destroy)


def test_a_goal_in_a_worker_thread_survives_too(spinning):
    """The skills' way to use a client: it blocks a thread of its own."""
    node = spinning.node("worker")
    action = spinning.do(lambda: remote_actions(node).action(Wait, "/worker"))

    class InThread:
        def start(self):
            self.end = ""
            self.context = GoalContext(node, None, lambda feedback: None, Wait.Feedback)
            threading.Thread(target=self.run, daemon=True).start()

        def run(self):
            try:
                outcome = action.run(self.context, Wait.Goal())
            except Exception:
                self.end = "failed"
            else:
                self.end = "succeeded" if outcome.end is End.SUCCEEDED else "failed"

        def cancel(self):
            self.context.cancel("enough")

        def ended(self):
            return self.end

    quick = {"late acceptance", "aborted", "rejected", "cancelled before acceptance"}
    with ClientsUnderTest(Wait, "/worker", InThread, patience=3.0) as subject:
        assert broken_rules([rule for rule in CLIENT_RULES if rule.name in quick], subject) == []


# -- under load ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def busy():
    """Four busy loops beside."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(4)]
    yield
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize("rule", SERVER_RULES, ids=str)
def test_our_server_beside_four_busy_loops(server, busy, rule):
    assert rule.broken(server) == ""


@pytest.mark.parametrize("rule", CLIENT_RULES, ids=str)
def test_our_leaf_beside_four_busy_loops(clients, busy, rule):
    assert rule.broken(clients(Leaf)) == ""
