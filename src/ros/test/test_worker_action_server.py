# SPDX-License-Identifier: Apache-2.0
"""Goals worked on in threads: one end state each, cancelled at once, in simulated time too."""

import threading
import time

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from behavior_msgs.action import Pick
from control_msgs.action import GripperCommand
from rclpy.action import ActionClient
from rclpy.clock import ClockType
from rclpy.parameter import Parameter
from rclpy.task import Future
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from behavior_ros import (
    Cancelled,
    End,
    GoalContext,
    ServerLost,
    WaitTimeout,
    WorkerActionServer,
    mark_of,
    remote_actions,
    to_time,
)
from behavior_ros.testing import until

TIMEOUT = 60.0


def ready(client):
    until(client.server_is_ready, what="the server")


class Client:
    """Sends goals in the executor's thread and waits for results in the test's."""

    def __init__(self, spinner, node, action_type, name):
        self.spinner = spinner
        self.client = spinner.do(lambda: ActionClient(node, action_type, name))
        self.feedback = []
        ready(self.client)

    def send(self, goal):
        future = self.spinner.do(
            lambda: self.client.send_goal_async(goal, lambda m: self.feedback.append(m.feedback))
        )
        until(future.done, what="the answer to the goal")
        return future.result()

    def result(self, handle):
        future = self.spinner.do(handle.get_result_async)
        until(future.done, what="the result")
        return future.result()

    def cancel(self, handle):
        future = self.spinner.do(handle.cancel_goal_async)
        until(future.done, what="the answer to the cancellation")
        return future.result()


@pytest.fixture
def served(spinner):
    """Return a function that serves an action and returns a client and the server's node."""
    servers = []

    def serve(execute, action_type=Pick, accept=None, **node_arguments):
        name = f"/{action_type.__name__.lower()}"
        node = spinner.node("server", **node_arguments)
        servers.append(
            spinner.do(lambda: WorkerActionServer(node, action_type, name, execute, accept=accept))
        )
        client_node = spinner.node("client")
        return Client(spinner, client_node, action_type, name), node

    yield serve
    for server in servers:
        server.destroy()


def succeed(context):
    return Pick.Result(message=f"took {context.goal.object_name}")


def test_success_with_feedback(served):
    def execute(context):
        context.publish_feedback(Pick.Feedback(phase="reach", progress=0.5))
        return succeed(context)

    client, _ = served(execute)
    handle = client.send(Pick.Goal(object_name="red_block"))
    response = client.result(handle)
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.message == "took red_block"
    until(lambda: [f.phase for f in client.feedback] == ["reach"], what="feedback")


def test_result_with_another_code_aborts(served):
    client, _ = served(lambda context: Pick.Result(code=Pick.Result.NO_GRASP, message="no grasp"))
    response = client.result(client.send(Pick.Goal()))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert (response.result.code, response.result.message) == (Pick.Result.NO_GRASP, "no grasp")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (WaitTimeout("too slow"), Pick.Result.TIMED_OUT),
        (ServerLost("gone"), Pick.Result.SERVER_LOST),
    ],
)
def test_exceptions_abort_with_their_text(served, error, code):
    def execute(context):
        raise error

    client, _ = served(execute)
    response = client.result(client.send(Pick.Goal()))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.code == code
    assert str(error) in response.result.message


def test_a_fault_of_the_server_is_told_in_plain_words(served):
    def execute(context):
        raise KeyError("left_finger")

    client, node = served(execute)
    response = client.result(client.send(Pick.Goal()))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.code == Pick.Result.EXECUTION_FAILED
    assert f"the log of node '{node.get_name()}'" in response.result.message
    assert "KeyError" not in response.result.message


def test_wrong_return_value_aborts(served):
    client, _ = served(lambda context: "done")
    response = client.result(client.send(Pick.Goal()))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert "'done' instead of a result" in response.result.message


def test_type_without_code_aborts_on_exception(served):
    def execute(context):
        raise RuntimeError("motor off")

    client, _ = served(execute, GripperCommand)
    assert client.result(client.send(GripperCommand.Goal())).status == GoalStatus.STATUS_ABORTED


def test_cancel_ends_waits_at_once(served):
    started = threading.Event()

    def execute(context):
        started.set()
        context.sleep(60.0)
        return succeed(context)

    client, _ = served(execute)
    handle = client.send(Pick.Goal())
    assert started.wait(TIMEOUT)
    begin = time.monotonic()
    client.cancel(handle)
    client.cancel(handle)
    response = client.result(handle)
    assert time.monotonic() - begin < 30.0
    assert response.status == GoalStatus.STATUS_CANCELED
    assert response.result.code == Pick.Result.CANCELED
    assert response.result.message == "cancelled by the client"


def test_success_that_crosses_a_cancellation_stays_success(served):
    started, cancelled = threading.Event(), threading.Event()

    def execute(context):
        started.set()
        assert context.cancelled.wait(TIMEOUT)
        cancelled.set()
        return succeed(context)

    client, _ = served(execute)
    handle = client.send(Pick.Goal())
    assert started.wait(TIMEOUT)
    client.cancel(handle)
    assert client.result(handle).status == GoalStatus.STATUS_SUCCEEDED


def test_refused_goals(served):
    def accept(goal):
        if goal.object_name == "bug":
            raise RuntimeError("in accept")
        return None if goal.object_name else "no object named"

    client, _ = served(succeed, accept=accept)
    assert not client.send(Pick.Goal()).accepted
    assert not client.send(Pick.Goal(object_name="bug")).accepted
    assert client.send(Pick.Goal(object_name="red_block")).accepted


def test_goals_run_side_by_side_and_callbacks_do_not_block(served):
    gate = threading.Barrier(2)

    def execute(context):
        gate.wait(TIMEOUT)
        return succeed(context)

    client, _ = served(execute)
    handles = [client.send(Pick.Goal()), client.send(Pick.Goal())]
    assert [client.result(h).status for h in handles] == [GoalStatus.STATUS_SUCCEEDED] * 2


def test_destroy_ends_the_work(spinner):
    ended = threading.Event()

    def execute(context):
        try:
            context.sleep(60.0)
        finally:
            ended.set()

    node = spinner.node("server")
    server = spinner.do(lambda: WorkerActionServer(node, Pick, "/pick", execute))
    client = Client(spinner, node, Pick, "/pick")
    client.send(Pick.Goal())
    until(lambda: server.busy)
    spinner.do(server.destroy)
    assert ended.is_set()


def test_sleep_follows_simulated_time(served, spinner):
    began, ended = threading.Event(), threading.Event()

    def execute(context):
        began.set()
        context.sleep(2.0)
        ended.set()
        return succeed(context)

    client, node = served(execute, parameter_overrides=[Parameter("use_sim_time", value=True)])
    clock = spinner.node("clock").create_publisher(Clock, "/clock", 10)

    def set_time(now):
        def shown():
            clock.publish(Clock(clock=to_time(now)))
            return node.get_clock().now() == Time.from_msg(to_time(now), ClockType.ROS_TIME)

        until(shown, what=f"{now} s")

    set_time(100.0)
    handle = client.send(Pick.Goal())
    assert began.wait(TIMEOUT)
    set_time(101.9)
    assert not ended.wait(0.1)
    set_time(102.1)
    assert client.result(handle).status == GoalStatus.STATUS_SUCCEEDED


def test_sleep_in_halted_simulated_time_can_be_cancelled(served):
    started = threading.Event()

    def execute(context):
        started.set()
        context.sleep(1.0)
        return succeed(context)

    client, _ = served(execute, parameter_overrides=[Parameter("use_sim_time", value=True)])
    handle = client.send(Pick.Goal())
    assert started.wait(TIMEOUT)
    client.cancel(handle)
    assert client.result(handle).status == GoalStatus.STATUS_CANCELED


def test_wait_for_futures(spinner):
    context = spinner.do(lambda: GoalContext(spinner.node("waiter"), None))
    future = Future()
    threading.Timer(0.05, future.set_result, ["value"]).start()
    assert context.wait(future, TIMEOUT) == "value"
    with pytest.raises(WaitTimeout, match=r"within 0\.05 s"):
        context.wait(Future(), 0.05)
    with pytest.raises(ServerLost, match="gone"):
        context.wait(Future(), TIMEOUT, lost=lambda: "gone")
    threading.Timer(0.05, context.cancel, ["enough"]).start()
    with pytest.raises(Cancelled, match="enough"):
        context.wait(Future(), TIMEOUT)


def test_a_cancellation_waits_for_the_end_of_a_shield(spinner):
    context = spinner.do(lambda: GoalContext(spinner.node("waiter"), None))
    context.cancel("enough")
    context.shield(True)
    context.tick()
    context.sleep(0.01)
    with pytest.raises(WaitTimeout):
        context.wait(Future(), 0.01)
    context.shield(False)
    with pytest.raises(Cancelled, match="enough"):
        context.tick()


def test_a_tick_takes_as_long_as_the_pace_that_is_set(spinner):
    context = spinner.do(lambda: GoalContext(spinner.node("ticker"), None))
    begun = context.now()
    context.tick()
    assert context.now() - begun >= 0.05
    moments = []
    context.pace = lambda: moments.append(len(moments))
    context.tick()
    context.tick()
    assert moments == [0, 1]


def test_feedback_comes_with_each_phase_and_not_too_often(spinner, monkeypatch):
    told, now = [], [10.0]
    node = spinner.node("teller")
    context = spinner.do(lambda: GoalContext(node, None, told.append, Pick.Feedback))
    monkeypatch.setattr(context, "now", lambda: now[0])
    for phase, after in (("plan", 0.0), ("plan", 0.1), ("move", 0.0), ("move", 0.1), ("move", 0.2)):
        now[0] += after
        context.feedback(phase, 0.5)
    assert [feedback.phase for feedback in told] == ["plan", "move", "move"]
    assert context.phase == "move"


def test_service_calls_from_a_worker(spinner, spinner2):
    node = spinner.node("caller")
    client = spinner.do(lambda: node.create_client(Trigger, "/trigger"))
    context = spinner.do(lambda: GoalContext(node, None))
    with pytest.raises(ServerLost, match="/trigger is not there"):
        context.call(client, Trigger.Request(), 1.0)

    def answer(request, response):
        response.message = "pong"
        return response

    spinner2.node("answerer").create_service(Trigger, "/trigger", answer)
    until(client.service_is_ready)
    assert context.call(client, Trigger.Request(), TIMEOUT).message == "pong"


def lasting(begun, ended):
    """A goal's work that goes on until it is cancelled."""

    def execute(context):
        begun.set()
        try:
            context.sleep(60.0)
        finally:
            ended.set()

    return execute


class TestRemoteAction:
    """Goals of another server, run from a worker."""

    @pytest.fixture
    def remote(self, spinner):
        node = spinner.node("client")
        made = spinner.do(lambda: remote_actions(node).action(Pick, "/pick"))
        made.context = spinner.do(lambda: GoalContext(node, None))
        return made

    @pytest.fixture
    def serve(self, spinner2):
        def start(execute, name="other"):
            node = spinner2.node(name)
            return spinner2.do(lambda: WorkerActionServer(node, Pick, "/pick", execute))

        return start

    def test_no_server(self, remote):
        with pytest.raises(ServerLost, match="no server of action /pick"):
            remote.run(remote.context, Pick.Goal())

    def test_runs_to_the_end(self, remote, serve):
        server = serve(succeed)
        until(remote.ready)
        outcome = remote.run(remote.context, Pick.Goal(object_name="a"), timeout=TIMEOUT)
        assert outcome.succeeded
        assert outcome.result.message == "took a"
        server.destroy()

    def test_a_server_hears_on_whose_behalf_a_goal_is_sent(self, remote, serve, spinner):
        marks = []

        def note(context):
            marks.append(context.mark)
            return succeed(context)

        server = serve(note)
        until(remote.ready)
        actions = remote_actions(remote.node)
        inner = spinner.do(lambda: GoalContext(remote.node, None, mark=mark_of("another")))
        for context, mission in [(remote.context, ""), (remote.context, "m"), (inner, "m")]:
            actions.mark = mark_of(mission) if mission else b""
            assert remote.run(context, Pick.Goal(), timeout=TIMEOUT).succeeded
        nobody, *known = marks
        assert nobody not in known
        assert known == [mark_of("m"), mark_of("another")]
        server.destroy()

    def test_a_goal_that_became_pointless_is_cancelled(self, remote, serve):
        begun, ended = threading.Event(), threading.Event()

        server = serve(lasting(begun, ended))
        until(remote.ready)
        with pytest.raises(ServerLost, match="the stop is pressed"):
            remote.run(
                remote.context,
                Pick.Goal(),
                lost=lambda: "the stop is pressed" if begun.is_set() else None,
            )
        assert ended.wait(TIMEOUT)
        server.destroy()

    def test_timeout_cancels(self, remote, serve):
        begun, ended = threading.Event(), threading.Event()
        server = serve(lasting(begun, ended))
        until(remote.ready)
        with pytest.raises(WaitTimeout, match=r"/pick did not end within 0\.2 s"):
            remote.run(remote.context, Pick.Goal(), timeout=0.2)
        assert ended.wait(TIMEOUT)
        server.destroy()

    def test_cancellation_is_passed_on(self, remote, serve):
        started, ended = threading.Event(), threading.Event()

        server = serve(lasting(started, ended))
        until(remote.ready)
        threading.Thread(
            target=lambda: started.wait(TIMEOUT) and remote.context.cancel("enough"), daemon=True
        ).start()
        with pytest.raises(Cancelled, match="enough"):
            remote.run(remote.context, Pick.Goal())
        assert ended.is_set()
        server.destroy()

    def test_server_that_goes_away(self, remote, serve, spinner2):
        started = threading.Event()

        def execute(context):
            started.set()
            context.sleep(60.0)

        server = serve(execute)
        until(remote.ready)

        def vanish():
            started.wait(TIMEOUT)
            spinner2.do(server.destroy)

        threading.Thread(target=vanish, daemon=True).start()
        with pytest.raises(ServerLost, match="server lost"):
            remote.run(remote.context, Pick.Goal())

    def test_rejection_is_an_outcome(self, remote, spinner2):
        node = spinner2.node("other")
        server = spinner2.do(
            lambda: WorkerActionServer(node, Pick, "/pick", succeed, accept=lambda goal: "no")
        )
        until(remote.ready)
        assert remote.run(remote.context, Pick.Goal()).end is End.REJECTED
        server.destroy()


def test_context_is_alive():
    assert rclpy.ok()
