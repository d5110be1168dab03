# SPDX-License-Identifier: Apache-2.0
"""Leaves against real servers: success, failure, and every way to be cancelled or left alone."""

import threading
import time
from types import SimpleNamespace
from xml.sax.saxutils import quoteattr

import pytest
from behavior_msgs.action import MoveArm, Pick
from geometry_msgs.msg import PointStamped
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from behavior_ros import (
    NodeModel,
    WorkerActionServer,
    load_node_models,
    register_ros_nodes,
    remote_actions,
    ros_node_manifests,
)
from behavior_ros.leaves.node_models import NodeModelError
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, CauseKind, LoadError, NodeStatus

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE
TICK_BUDGET = 0.1
"""[s] of processor time that a tick may take, whatever the server does; it takes far below 1 ms."""
BLOCKED = 5.0
"""[s] A tick that lasts longer has waited for something, not for the processor alone."""

MODELS = [
    {
        "node": "Pick",
        "action": "/pick",
        "type": "behavior_msgs/action/Pick",
        "defaults": {"velocity_scaling": 0.5},
        "server_timeout": 20.0,
    },
    {
        "node": "LostPick",
        "action": "/pick",
        "type": "behavior_msgs/action/Pick",
        "server_timeout": 0.6,
    },
    {
        "node": "HurriedPick",
        "action": "/pick",
        "type": "behavior_msgs/action/Pick",
        "timeout": 0.3,
    },
    {
        "node": "KilledPick",
        "action": "/killed_pick",
        "type": "behavior_msgs/action/Pick",
        "server_timeout": 1.0,
    },
    {
        "node": "MoveArm",
        "action": "/move_arm",
        "type": "behavior_msgs/action/MoveArm",
        "required": ["mode"],
    },
    {
        "node": "Switch",
        "service": "/switch",
        "type": "std_srvs/srv/SetBool",
        "server_timeout": 2.0,
    },
    {
        "node": "HurriedSwitch",
        "service": "/switch",
        "type": "std_srvs/srv/SetBool",
        "timeout": 0.5,
        "server_timeout": 20.0,
    },
    {
        "node": "AnySwitch",
        "service": "/switch",
        "type": "std_srvs/srv/SetBool",
        "ports": {"data": "on"},
        "name_port": "who",
        "server_timeout": 2.0,
    },
    {
        "node": "AnyPick",
        "action": "/pick",
        "type": "behavior_msgs/action/Pick",
        "ports": {"object_name": "what", "message": "told"},
        "name_port": "server",
        "server_timeout": 0.6,
    },
    {
        "node": "GroupsPick",
        "action": "pick",
        "type": "behavior_msgs/action/Pick",
        "namespace_port": "group",
        "server_timeout": 0.6,
    },
    {
        "node": "SwitchedOn",
        "service": "/switch",
        "type": "std_srvs/srv/SetBool",
        "condition": {"message": "on"},
        "unused": ["patience"],
    },
    {
        "node": "StopPicking",
        "cancel": "/pick",
        "type": "behavior_msgs/action/Pick",
        "name_port": "server",
        "unused": ["server_timeout"],
        "server_timeout": 0.3,
    },
    {
        "node": "Follow",
        "action": "/follow",
        "type": "behavior_msgs/action/Pick",
        "resend": True,
        "server_timeout": 20.0,
    },
    {"node": "PublishPoint", "publisher": "/point", "type": "geometry_msgs/msg/PointStamped"},
    {
        "node": "DoorOpen",
        "subscriber": "/door",
        "type": "std_msgs/msg/Bool",
        "max_age": 1.0,
        "condition": {"data": True},
    },
    {
        "node": "WaitForDoor",
        "subscriber": "/door",
        "type": "std_msgs/msg/Bool",
        "timeout": 2.0,
        "max_age": 1.0,
        "condition": {"data": True},
    },
]


class Tree:
    """Leaves on one node, ticked in its executor's thread."""

    def __init__(self, spinner):
        self.spinner = spinner
        self.node = spinner.node("tree")
        self.factory = BehaviorTreeFactory()
        models = load_node_models({"nodes": MODELS})
        spinner.do(lambda: register_ros_nodes(self.factory, self.node, models))
        self.remote = remote_actions(self.node)
        self.trees = []

    def make(self, name, **ports):
        attributes = " ".join(f"{key}={quoteattr(text)}" for key, text in ports.items())
        xml = f'<BehaviorTree ID="T"><{name} {attributes}/></BehaviorTree>'
        text = f'<root BTCPP_format="4">{xml}</root>'
        tree = self.spinner.do(lambda: self.factory.create_tree_from_text(text))
        self.trees.append(tree)
        return tree.root_node()

    def tick(self, leaf):
        def measured():
            if leaf.status.completed:
                leaf.reset_status()
            begin, work = time.perf_counter(), time.thread_time()
            status = leaf.execute_tick()
            assert time.perf_counter() - begin < BLOCKED, "the tick was blocked"
            assert time.thread_time() - work < TICK_BUDGET
            return status

        return self.spinner.do(measured)

    def halt(self, leaf):
        self.spinner.do(leaf.halt_node)

    def run(self, leaf, timeout=60.0):
        """Tick until the end, return status and reason."""
        deadline = time.monotonic() + timeout
        while (status := self.tick(leaf)) is RUNNING:
            assert time.monotonic() < deadline, "the leaf hangs"
            time.sleep(0.01)
        return status, leaf.failure_reason()

    def value(self, leaf, key):
        return leaf.config().blackboard.get(key)


@pytest.fixture
def tree(spinner):
    return Tree(spinner)


class Servers:
    """Action servers of another process, as it were."""

    def __init__(self, spinner):
        self.spinner = spinner
        self.servers = []
        self.started = []
        self.ended = []

    def serve(self, execute, action_type=Pick, name="/pick", accept=None):
        def counted(context):
            self.started.append(context.goal)
            try:
                return execute(context)
            finally:
                self.ended.append(context.cancel_reason)

        node = self.spinner.node(f"server{len(self.spinner.nodes)}")
        server = self.spinner.do(
            lambda: WorkerActionServer(node, action_type, name, counted, accept=accept)
        )
        self.servers.append(server)
        return server

    def stop(self, server):
        self.spinner.do(server.destroy)
        self.servers.remove(server)


@pytest.fixture
def servers(spinner2):
    made = Servers(spinner2)
    yield made
    for server in list(made.servers):
        made.stop(server)


def linger(context):
    context.sleep(60.0)
    return Pick.Result()


def succeed(context):
    return Pick.Result(message="fine")


class TestPorts:
    def test_ports_of_an_action(self, tree):
        ports = tree.factory.manifests()["Pick"].ports
        assert ports["object_name"].description == "object of the scene"
        assert ports["object_name"].type is str
        assert ports["velocity_scaling"].default_text == "0.5"
        assert ports["max_tilt"].default_text == "0.0"
        assert {name for name, port in ports.items() if port.direction.name == "OUTPUT"} == {
            *("code", "message", "grasp", "phase", "progress")
        }

    def test_enumerations_required_ports_and_clashes(self, tree):
        ports = tree.factory.manifests()["MoveArm"].ports
        assert ports["mode"].required
        assert ports["mode"].type.NAMED == 1

    def test_goal_is_filled_from_texts(self, tree, servers):
        servers.serve(lambda context: MoveArm.Result(fraction=1.0), MoveArm, "/move_arm")
        leaf = tree.make(
            "MoveArm",
            mode="NAMED",
            named_target="home",
            joints="1;2.5",
            poses="world;1;2;3 | world;4;5;6",
            avoid_collisions="true",
            fraction="{fraction}",
        )
        assert tree.run(leaf) == (SUCCESS, "")
        goal = servers.started[0]
        assert (goal.mode, goal.named_target, list(goal.joints)) == (1, "home", [1.0, 2.5])
        assert [pose.pose.position.x for pose in goal.poses] == [1.0, 4.0]
        assert goal.avoid_collisions is True
        assert tree.value(leaf, "fraction") == 1.0

    def test_bad_texts_fail_with_a_reason(self, tree):
        leaf = tree.make("MoveArm", mode="NAMED", poses="{nothing}")
        status, reason = tree.run(leaf)
        assert (status, "[nothing], which nobody has written" in reason) == (FAILURE, True)
        leaf = tree.make("MoveArm", mode="NAMED", joints="{angles}")
        leaf.config().blackboard.set("angles", ["a", "b"])
        assert tree.run(leaf) == (FAILURE, "port [joints]: 'a' is no number")

    def test_frames_of_poses_come_from_the_blackboard(self, tree, servers):
        servers.serve(lambda context: MoveArm.Result(), MoveArm, "/move_arm")
        leaf = tree.make("MoveArm", mode="NAMED", poses="{door};1;2;3|world;4;5;6| {door};7;8;9")
        assert tree.run(leaf) == (
            FAILURE,
            "port [poses]: {door} in '{door};1;2;3|world;4;5;6| {door};7;8;9' is no name of a "
            "frame: write one to 'door'",
        )
        for name in ("front", "back"):
            leaf.config().blackboard.set("door", name)
            assert tree.run(leaf) == (SUCCESS, "")
            frames = [pose.header.frame_id for pose in servers.started[-1].poses]
            assert frames == [name, "world", name]

    def test_bad_literals_are_found_at_load(self, tree):
        with pytest.raises(LoadError, match="x;y;z or x;y;z;qx"):
            tree.make("MoveArm", mode="NAMED", poses="1;2")
        with pytest.raises(LoadError, match="mode"):
            tree.make("MoveArm")

    def test_what_is_left_out_is_named(self, tree, monkeypatch):
        told = []
        log = SimpleNamespace(warning=told.append)
        monkeypatch.setattr(tree.node, "get_logger", lambda: log)
        entry = {"node": "Fly", "action": "/fly", "type": "drone_msgs/action/Fly"}
        models = load_node_models({"nodes": [{**entry, "if_installed": True}]})
        register_ros_nodes(tree.factory, tree.node, models)
        assert "Fly" not in tree.factory.manifests()
        assert told == [
            "tree nodes left out, their types are not installed: Fly (drone_msgs/action/Fly)"
        ]


class TestActionLeaf:
    def test_success_writes_outputs_first(self, tree, servers):
        def execute(context):
            context.publish_feedback(Pick.Feedback(phase="lift", progress=0.5))
            context.sleep(0.05)
            return Pick.Result(message="took it")

        servers.serve(execute)
        leaf = tree.make(
            "Pick", object_name="red_block", message="{text}", phase="{phase}", grasp="{grasp}"
        )
        assert tree.run(leaf) == (SUCCESS, "")
        assert servers.started[0].object_name == "red_block"
        assert servers.started[0].velocity_scaling == 0.5
        assert tree.value(leaf, "text") == "took it"
        assert tree.value(leaf, "phase") == "lift"
        assert tree.value(leaf, "grasp") == Pick.Result().grasp

    def test_inputs_that_change_are_sent_again_and_a_halt_ends_all(self, tree, servers):
        running = []

        def execute(context):
            for other in running:
                other.cancel("replaced")
            running.append(context)
            context.sleep(60.0)

        servers.serve(execute, name="/follow")
        leaf = tree.make("Follow", object_name="{target}")
        leaf.config().blackboard.set("target", "red")

        def tick_until(count):
            deadline = time.monotonic() + 90.0
            while len(servers.started) < count:
                assert tree.tick(leaf) is RUNNING
                assert time.monotonic() < deadline, "it was not sent"
                time.sleep(0.01)

        tick_until(1)
        for _ in range(5):
            tree.tick(leaf)
        leaf.config().blackboard.set("target", "blue")
        tick_until(2)
        assert [goal.object_name for goal in servers.started] == ["red", "blue"]
        for _ in range(5):
            assert tree.tick(leaf) is RUNNING
        tree.halt(leaf)
        until(lambda: len(servers.ended) == 2)
        assert servers.ended == ["replaced", "cancelled by the client"]

    def test_failure_gives_the_message(self, tree, servers):
        results = [
            Pick.Result(code=Pick.Result.NO_GRASP, message="no grasp: move it away from the edge"),
            Pick.Result(code=Pick.Result.NO_GRASP),
        ]
        servers.serve(lambda context: results.pop(0))
        leaf = tree.make("Pick", code="{code}")
        assert tree.run(leaf) == (FAILURE, "no grasp: move it away from the edge")
        assert tree.value(leaf, "code") == Pick.Result.NO_GRASP
        assert tree.run(leaf) == (FAILURE, "action /pick aborted with NO_GRASP")

    def test_rejection(self, tree, servers):
        servers.serve(succeed, accept=lambda goal: "busy")
        assert tree.run(tree.make("Pick")) == (
            FAILURE,
            "action /pick: the server rejected the goal",
        )

    def test_no_server(self, tree):
        begin = time.monotonic()
        status, reason = tree.run(tree.make("LostPick"))
        assert status is FAILURE
        assert "no server of action /pick" in reason
        assert 0.5 < time.monotonic() - begin < 60.0

    def test_server_that_comes_late_is_waited_for(self, tree, servers):
        leaf = tree.make("Pick")
        assert tree.tick(leaf) is RUNNING
        servers.serve(succeed)
        assert tree.run(leaf)[0] is SUCCESS

    def test_timeout_cancels(self, tree, servers):
        servers.serve(linger)
        assert tree.run(tree.make("HurriedPick")) == (
            FAILURE,
            "action /pick did not end within 0.3 s",
        )
        until(lambda: servers.ended == ["cancelled by the client"])

    def test_halt_after_acknowledgement_and_twice(self, tree, servers):
        servers.serve(linger)
        leaf = tree.make("Pick", message="{text}")
        tree.tick(leaf)
        until(lambda: servers.started)
        tree.tick(leaf)
        tree.halt(leaf)
        tree.halt(leaf)
        assert leaf.status is NodeStatus.IDLE
        until(lambda: servers.ended == ["cancelled by the client"])
        until(lambda: not tree.spinner.do(lambda: tree.remote.goals))
        with pytest.raises(Exception, match="text"):
            tree.value(leaf, "text")  # the late result is nobody's any more

    def test_halt_before_acknowledgement(self, tree, spinner2):
        """The server takes its time to accept; the halt comes before, the cancellation after."""
        asked, accept, ended = threading.Event(), threading.Event(), []

        def decide(goal):
            asked.set()
            assert accept.wait(20.0)
            return GoalResponse.ACCEPT

        async def execute(handle):
            for _ in range(2000):
                if handle.is_cancel_requested:
                    handle.canceled()
                    ended.append("canceled")
                    return Pick.Result()
                await sleep_a_little(spinner2)
            ended.append("never cancelled")
            handle.abort()
            return Pick.Result()

        node = spinner2.node("slow_server")
        server = spinner2.do(
            lambda: ActionServer(
                node,
                Pick,
                "/pick",
                execute,
                goal_callback=decide,
                cancel_callback=lambda handle: CancelResponse.ACCEPT,
            )
        )
        leaf = tree.make("Pick")
        tick_until(tree, leaf, asked.is_set)
        tree.halt(leaf)
        assert leaf.status is NodeStatus.IDLE
        assert not ended
        accept.set()
        until(lambda: ended == ["canceled"])
        until(lambda: not tree.spinner.do(lambda: tree.remote.goals))
        spinner2.do(server.destroy)

    def test_next_goal_waits_for_the_old_one_to_close(self, tree, servers):
        overlap = []

        def execute(context):
            overlap.append(len(servers.started) - len(servers.ended))
            if len(servers.started) == 1:
                context.cancelled.wait(20.0)
                time.sleep(0.2)  # the robot takes a moment to stop
            return succeed(context)

        servers.serve(execute)
        leaf = tree.make("Pick")
        tree.tick(leaf)
        until(lambda: servers.started)
        tree.halt(leaf)
        assert tree.run(leaf) == (SUCCESS, "")
        assert overlap == [1, 1]

    def test_rejection_while_another_action_closes_is_tried_again(self, tree, servers):
        """One arm, two actions: the second is rejected until the first has let go of the arm."""
        arm = threading.Lock()

        def hold(context):
            with arm:
                context.cancelled.wait(20.0)
                time.sleep(0.2)
                context.check_cancelled()

        servers.serve(hold)
        servers.serve(
            lambda context: MoveArm.Result(),
            MoveArm,
            "/move_arm",
            accept=lambda goal: "the arm is busy" if arm.locked() else None,
        )
        pick, move = tree.make("Pick"), tree.make("MoveArm", mode="NAMED")
        tick_until(tree, pick, lambda: servers.started)
        until(tree.make("MoveArm", mode="NAMED").action.ready)
        tree.halt(pick)
        assert tree.run(move) == (SUCCESS, "")

    def test_server_that_goes_away_and_comes_back(self, tree, servers):
        server = servers.serve(linger)
        leaf = tree.make("Pick")
        tick_until(tree, leaf, lambda: servers.started)
        servers.stop(server)
        begin = time.monotonic()
        status, reason = tree.run(leaf)
        assert status is FAILURE
        assert reason == "action /pick: server lost: the server of /pick is gone"
        assert reason.kind is CauseKind.SERVER_LOST
        assert time.monotonic() - begin < 60.0
        servers.serve(succeed)
        assert tree.run(leaf) == (SUCCESS, "")

    def test_server_that_is_restarted_at_once(self, tree, servers):
        server = servers.serve(linger)
        leaf = tree.make("Pick")
        tick_until(tree, leaf, lambda: servers.started)
        servers.stop(server)
        servers.serve(succeed)
        status, reason = tree.run(leaf)
        assert status is FAILURE
        assert "server lost" in reason
        assert tree.run(leaf) == (SUCCESS, "")

    def test_server_whose_process_died(self, tree, servers, spinner2):
        """A killed process stays in the graph for a while, but answers nothing."""
        servers.serve(linger)
        leaf = tree.make("LostPick")
        tick_until(tree, leaf, lambda: servers.started)
        dead = threading.Event()
        spinner2.executor.create_task(dead.wait, 60.0)
        begin = time.monotonic()
        status, reason = tree.run(leaf)
        elapsed = time.monotonic() - begin
        dead.set()
        assert status is FAILURE
        assert "server lost: the server of /pick has not answered" in reason
        assert 0.5 < elapsed < 50.0
        until(lambda: servers.ended == ["cancelled by the client"], what="the late cancellation")

    def test_killed_process(self, tree, start):
        process = start("--node", "hosted_nodes:Serving")
        leaf = tree.make("KilledPick")  # its ghost haunts the graph for 20 s
        until(leaf.action.ready, timeout=60.0)
        assert tree.tick(leaf) is RUNNING
        process.wait_for("working")
        process.process.kill()
        begin = time.monotonic()
        status, reason = tree.run(leaf)
        assert (status, "server lost" in reason) == (FAILURE, True)
        assert time.monotonic() - begin < 18.0

    def test_server_that_would_not_cancel_is_asked_again(self, tree, spinner2):
        """The second mission does not wait for ever behind the first one's goal."""
        answers = [CancelResponse.REJECT, CancelResponse.REJECT, CancelResponse.ACCEPT]
        node = spinner2.node("stubborn")

        async def execute(handle):
            while not handle.is_cancel_requested:
                await sleep_a_little(spinner2)
            handle.canceled()
            return Pick.Result()

        server = spinner2.do(
            lambda: ActionServer(
                node, Pick, "/pick", execute, cancel_callback=lambda handle: answers.pop(0)
            )
        )
        leaf = tree.make("Pick")
        tick_until(tree, leaf, lambda: tree.spinner.do(lambda: leaf._goal.accepted))
        tree.halt(leaf)
        until(lambda: not answers, what="three requests to cancel, though nothing is ticked")
        until(lambda: not tree.spinner.do(lambda: tree.remote.goals))
        spinner2.do(server.destroy)

    def test_goal_sent_to_a_ghost_reaches_the_restarted_server(self, tree, start):
        leaf = tree.make("KilledPick")

        def tick_until_accepted():
            """Until the server is there every failure tells of its absence."""
            deadline, reasons = time.monotonic() + 90.0, set()
            leaf._goal = None
            while not tree.spinner.do(lambda: leaf._goal and leaf._goal.accepted):
                if tree.tick(leaf) is FAILURE:
                    reasons.add(leaf.failure_reason())
                assert time.monotonic() < deadline, reasons
                time.sleep(0.01)
            assert all("server lost" in r or "no server" in r for r in reasons), reasons

        process = start("--node", "hosted_nodes:Serving")
        tick_until_accepted()
        process.wait_for("working")
        process.process.kill()
        assert tree.run(leaf)[0] is FAILURE
        other = start("--node", "hosted_nodes:Serving")
        tick_until_accepted()
        other.wait_for("working")
        tree.halt(leaf)

    def test_silent_server_that_answers_questions_is_not_lost(self, tree, servers):
        servers.serve(linger)
        leaf = tree.make("LostPick")

        def lasts() -> bool:
            tick_until(tree, leaf, lambda: tree.spinner.do(lambda: leaf._goal.accepted))
            deadline = time.monotonic() + 1.5  # more than twice the server timeout
            while time.monotonic() < deadline:
                if tree.tick(leaf) is not RUNNING:
                    assert "has not answered for" in leaf.failure_reason()
                    return False
                time.sleep(0.02)
            return True

        # A busy machine may hold answers up for longer than the timeout, but not every time.
        assert any(lasts() for _ in range(5))
        tree.halt(leaf)

    def test_closing_the_process_cancels(self, tree, servers):
        servers.serve(linger)
        leaf = tree.make("Pick")
        tick_until(tree, leaf, lambda: servers.started)
        tree.spinner.do(tree.remote.begin_close)
        until(lambda: tree.spinner.do(tree.remote.closed))
        assert servers.ended == ["cancelled by the client"]


def tick_until(tree, leaf, predicate):
    def ticked():
        # On a busy machine a server may be silent for longer than these tests' short timeouts.
        if tree.tick(leaf) is not RUNNING:
            assert "has not answered for" in leaf.failure_reason()
            return False
        return predicate()

    until(ticked)


async def sleep_a_little(spinner):
    """Give the executor a turn, from a coroutine."""
    from rclpy.task import Future

    future = Future()
    timer = threading.Timer(0.005, lambda: spinner.executor.create_task(future.set_result, None))
    timer.start()
    await future


class TestServiceLeaf:
    @pytest.fixture
    def switch(self, spinner2):
        answers = {"delay": 0.0, "success": True, "message": ""}
        node = spinner2.node("switch_server")

        def answer(request, response):
            time.sleep(answers["delay"])
            response.success = answers["success"] and request.data
            response.message = answers["message"]
            return response

        node.create_service(SetBool, "/switch", answer)
        return answers

    def test_success_and_refusal(self, tree, switch):
        leaf = tree.make("Switch", data="true", success="{done}")
        assert tree.run(leaf) == (SUCCESS, "")
        assert tree.value(leaf, "done") is True
        switch.update(success=False, message="no power")
        assert tree.run(leaf) == (FAILURE, "no power")
        switch.update(message="")
        assert tree.run(leaf) == (FAILURE, "service /switch refused")

    def test_timeout_and_halt(self, tree, switch):
        switch.update(delay=0.8)
        leaf = tree.make("HurriedSwitch", data="true", message="{text}")
        assert tree.run(leaf) == (FAILURE, "service /switch did not answer within 0.5 s")
        tree.tick(leaf)
        tree.halt(leaf)
        tree.halt(leaf)
        assert leaf.status is NodeStatus.IDLE

    def test_a_port_names_the_server_and_others_are_called_otherwise(self, tree, switch):
        leaf = tree.make("AnySwitch", on="true")
        assert tree.run(leaf) == (SUCCESS, "")
        assert [need.what for need in leaf.ros_needs()] == [
            "service /switch (std_srvs/srv/SetBool)"
        ]
        leaf = tree.make("AnySwitch", on="true", who="/lamp")
        assert [need.what for need in leaf.ros_needs()] == ["service /lamp (std_srvs/srv/SetBool)"]
        assert tree.run(leaf) == (FAILURE, "no server of service /lamp: start it")
        leaf = tree.make("AnySwitch", on="true", who="{lamp}")
        assert leaf.ros_needs() == []  # nobody knows yet
        leaf.config().blackboard.set("lamp", "/switch")
        assert tree.run(leaf) == (SUCCESS, "")

    def test_an_actions_name_too(self, tree):
        leaf = tree.make("AnyPick", what="cup", server="/left/pick", told="{told}")
        status, reason = tree.run(leaf)
        assert status is FAILURE
        assert "/left/pick" in reason
        assert [need.what for need in leaf.ros_needs()] == [
            "action /left/pick (behavior_msgs/action/Pick)"
        ]

    def test_a_namespace_says_which_part_of_the_robot_is_asked(self, tree):
        for group, name in (("left_arm", "/left_arm/pick"), ("", "/pick")):
            leaf = tree.make("GroupsPick", object_name="cup", group=group)
            assert [need.what for need in leaf.ros_needs()] == [
                f"action {name} (behavior_msgs/action/Pick)"
            ]
        leaf = tree.make("GroupsPick", object_name="cup", group="left_arm")
        status, reason = tree.run(leaf)
        assert status is FAILURE
        assert "left_arm/pick" in reason

    def test_a_response_must_be_as_the_condition_wants_it(self, tree, switch):
        switch.update(message="off")
        leaf = tree.make("SwitchedOn", patience="20", data="true")
        reason = "message of the response of /switch is 'off', not 'on'"
        assert tree.run(leaf) == (FAILURE, reason)
        switch.update(message="on")
        assert tree.run(leaf) == (SUCCESS, "")
        switch.update(success=False, message="on")
        assert tree.run(leaf) == (FAILURE, "on"), "the server's own refusal comes first"

    def test_no_server(self, tree):
        assert tree.run(tree.make("Switch")) == (
            FAILURE,
            "no server of service /switch: start it",
        )


class TestCancelLeaf:
    def test_goals_of_all_clients_are_cancelled(self, tree, servers):
        servers.serve(linger)
        picks = [tree.make("Pick"), tree.make("Pick")]
        deadline = time.monotonic() + 90.0
        while len(servers.started) < len(picks):
            assert [tree.tick(leaf) for leaf in picks] == [RUNNING, RUNNING]
            assert time.monotonic() < deadline, "they were not sent"
            time.sleep(0.01)
        leaf = tree.make("StopPicking", server_timeout="20")
        assert [need.what for need in leaf.ros_needs()] == [
            "action /pick (behavior_msgs/action/Pick)"
        ]
        assert tree.run(leaf) == (SUCCESS, "")
        until(lambda: len(servers.ended) == 2)
        assert set(servers.ended) == {"cancelled by the client"}
        assert [tree.run(pick)[0] for pick in picks] == [FAILURE, FAILURE]

    def test_nothing_to_cancel_is_fine_and_no_server_is_not(self, tree, servers):
        servers.serve(succeed)
        assert tree.run(tree.make("StopPicking")) == (SUCCESS, "")
        status, reason = tree.run(tree.make("StopPicking", server="/left/pick"))
        assert status is FAILURE
        assert "/left/pick/_action/cancel_goal" in reason


class TestTopicLeaves:
    def test_publisher(self, tree, spinner2):
        heard = []
        spinner2.node("listener").create_subscription(PointStamped, "/point", heard.append, 10)
        publisher = tree.make("PublishPoint").publisher
        until(lambda: publisher.get_subscription_count() == 1)
        assert tree.run(tree.make("PublishPoint", point="1;2;3")) == (SUCCESS, "")
        until(lambda: heard)
        assert heard[0].point.z == 3.0
        assert heard[0].header.stamp.sec > 0
        assert tree.run(tree.make("PublishPoint", point="{unwritten}"))[0] is FAILURE

    def test_subscriber_and_its_age(self, tree, spinner2):
        leaf = tree.make("DoorOpen", data="{open}")
        status, reason = tree.run(leaf)
        assert (status, "no message on /door yet" in reason) == (FAILURE, True)
        publisher = spinner2.node("door").create_publisher(Bool, "/door", 10)
        until(lambda: publisher.get_subscription_count() == 1)
        publisher.publish(Bool(data=False))
        until(lambda: "is False, not True" in tree.run(leaf)[1])
        publisher.publish(Bool(data=True))
        until(lambda: tree.run(leaf)[0] is SUCCESS)
        assert tree.value(leaf, "open") is True
        until(lambda: "old, more than 1 s" in tree.run(leaf)[1])

    def test_waiting_for_a_message(self, tree, spinner2):
        leaf = tree.make("WaitForDoor")
        status, reason = tree.run(leaf)
        assert (status, reason.startswith("waited 2 s: no message")) == (FAILURE, True)
        publisher = spinner2.node("door").create_publisher(Bool, "/door", 10)
        until(lambda: publisher.get_subscription_count() == 1)
        assert tree.tick(leaf) is RUNNING
        publisher.publish(Bool(data=True))
        assert tree.run(leaf) == (SUCCESS, "")

    @pytest.mark.parametrize("name", ["DoorOpen", "WaitForDoor"])
    def test_a_message_that_changes_the_answer_wakes_the_tree(self, tree, spinner2, name):
        leaf = tree.make(name)
        woken = []
        tree.trees[-1].runtime.on_wake_up = lambda: woken.append(leaf.subscription.problem(leaf))
        publisher = spinner2.node("door").create_publisher(Bool, "/door", 10)
        until(lambda: publisher.get_subscription_count() == 1)
        publisher.publish(Bool(data=False))
        until(lambda: "is False" in (tree.spinner.do(leaf.subscription.problem, leaf) or ""))
        publisher.publish(Bool(data=False))  # no news
        publisher.publish(Bool(data=True))
        until(lambda: woken)
        assert woken == [None]


@pytest.mark.parametrize("name", ["HurriedPick", "HurriedSwitch", "WaitForDoor"])
def test_a_clock_that_is_set_back_puts_no_timeout_off(tree, monkeypatch, name):
    leaf, clock = tree.make(name), [1000.0]
    monkeypatch.setattr(leaf.hub, "now", lambda: clock[0])
    assert tree.tick(leaf) is RUNNING
    clock[0] = 0.0
    assert tree.tick(leaf) is RUNNING
    clock[0] = 3.0
    assert tree.tick(leaf) is FAILURE


def test_factories_share_clients(tree):
    other = BehaviorTreeFactory()
    before = len(list(tree.node.waitables)), len(list(tree.node.subscriptions))
    models = load_node_models({"nodes": MODELS})
    tree.spinner.do(lambda: register_ros_nodes(other, tree.node, models))
    assert (len(list(tree.node.waitables)), len(list(tree.node.subscriptions))) == before


class TestModels:
    def test_file(self, tmp_path):
        path = tmp_path / "nodes.yaml"
        entry = "{node: Pick, action: /pick, type: behavior_msgs/action/Pick, timeout: 5}"
        path.write_text(f"- {entry}\n")
        assert load_node_models(path) == [
            NodeModel("Pick", "action", "/pick", "behavior_msgs/action/Pick", timeout=5.0)
        ]

    @pytest.mark.parametrize(
        ("entry", "text"),
        [
            ({"node": "A", "type": "x"}, "give one of action"),
            ({"node": "A", "action": "/a"}, "type is missing"),
            ({"node": "A", "action": "/a", "type": "x", "timout": 1}, "did you mean timeout"),
            ({"node": "A", "action": "/a", "type": "x", "timeout": -1}, "positive number"),
            ("A", "no mapping"),
            (
                {"node": "A", "action": "/a", "type": "x", "optional": "maybe"},
                "optional is 'maybe', give true or false",
            ),
            (
                {"node": "A", "action": "/a", "type": "x", "offered_by": 3},
                "offered_by is 3, give a text",
            ),
            (
                {"node": "A", "action": "/a", "type": "x", "ports": "goal"},
                "ports is 'goal', give a mapping",
            ),
            (
                {"node": "A", "action": "/a", "type": "x", "required": "goal"},
                "required is 'goal', give a list",
            ),
        ],
    )
    def test_mistakes_are_named(self, entry, text):
        with pytest.raises(NodeModelError, match=text):
            load_node_models({"nodes": [entry]})

    def test_all_mistakes_at_once(self, spinner):
        entries = [
            {"node": "A", "action": "/a", "type": "behavior_msgs/action/Pikc"},
            {"node": "B", "action": "/b", "type": "behavior_msgs/action/Pick", "required": ["x"]},
        ]
        models, node = load_node_models({"nodes": entries}), spinner.node("n")
        with pytest.raises(NodeModelError) as info:
            register_ros_nodes(BehaviorTreeFactory(), node, models)
        assert "node A: behavior_msgs/action/Pikc: no such type" in str(info.value)
        assert "node B: no port 'x'" in str(info.value)

    @pytest.mark.slow
    def test_ports_are_known_without_a_node(self):
        models = load_node_models({"nodes": MODELS})
        manifests = {each.registration_id: each for each in ros_node_manifests(models)}
        assert list(manifests) == [model.node for model in models]
        pick = next(each for each in models if each.type == "behavior_msgs/action/Pick")
        ports = manifests[pick.node].ports
        assert ports["object_name"].type is str
        with pytest.raises(NodeModelError, match="no such type"):
            ros_node_manifests([NodeModel("A", "action", "/a", "behavior_msgs/action/Pikc")])

    def test_missing_file_and_twice_the_same(self, tmp_path):
        with pytest.raises(NodeModelError, match=r"nodes\.yaml"):
            load_node_models(tmp_path / "nodes.yaml")
        entry = {"node": "A", "action": "/a", "type": "x"}
        with pytest.raises(NodeModelError, match="node A twice"):
            load_node_models({"nodes": [entry, entry]})
