# SPDX-License-Identifier: Apache-2.0
"""Hundreds of goals at once: all are answered, and results outlive the list of goals."""

import gc
import weakref

import pytest
from action_msgs.msg import GoalStatus
from behavior_msgs.action import Pick
from rclpy.action import CancelResponse, GoalResponse
from rclpy.task import Future

from behavior_ros import BurstActionClient, BurstActionServer, End, remote_actions
from behavior_ros.actions import burst_action_server
from behavior_ros.testing import until


class Desk:
    """A server that ends every second goal at once and keeps the others until told."""

    def __init__(self, spinner, **arguments):
        self.handles = []
        node = spinner.node("desk")
        self.server = spinner.do(
            lambda: BurstActionServer(
                node,
                Pick,
                "/desk",
                goal_callback=lambda goal: GoalResponse.ACCEPT,
                handle_accepted_callback=self.take,
                cancel_callback=lambda handle: CancelResponse.ACCEPT,
                **arguments,
            )
        )

    def take(self, handle):
        self.handles.append(handle)
        if len(self.handles) % 2:
            self.end(handle, Pick.Result.NO_GRASP)

    def end(self, handle, code):
        self.server.finish(handle, Pick.Result(code=code, message=handle.request.object_name))


@pytest.fixture
def client(spinner2):
    made = BurstActionClient(spinner2.node("client"), Pick, "/desk")
    yield made
    spinner2.do(made.destroy)


def sent(spinner2, client, names):
    """Handles of goals that were sent at once."""
    until(client.server_is_ready, what="server")
    goals = [Pick.Goal(object_name=name) for name in names]
    futures = spinner2.do(lambda: [client.send_goal_async(goal) for goal in goals])
    until(lambda: all(future.done() for future in futures), 60.0, "all acknowledgements")
    return [future.result() for future in futures]


def results(spinner2, handles):
    futures = spinner2.do(lambda: [handle.get_result_async() for handle in handles])
    until(lambda: all(future.done() for future in futures), 60.0, "all results")
    return [(f.result().status, f.result().result.message) for f in futures]


def test_of_goals_that_ended_the_client_keeps_nothing(spinner, spinner2):
    answers = iter([GoalResponse.REJECT, GoalResponse.ACCEPT] * 3)
    server, node = spinner.node("desk"), spinner2.node("client")
    desk = spinner.do(
        lambda: BurstActionServer(
            server,
            Pick,
            "/desk",
            goal_callback=lambda goal: next(answers),
            handle_accepted_callback=lambda handle: desk.finish(handle, Pick.Result()),
        )
    )
    action = spinner2.do(lambda: remote_actions(node).action(Pick, "/desk"))
    until(action.ready, what="server")
    goals = spinner2.do(lambda: [action.send(Pick.Goal(object_name=str(n))) for n in range(6)])
    until(lambda: all(each.outcome is not None for each in goals), 60.0, "ends")
    assert {each.outcome.end for each in goals} == {End.REJECTED, End.SUCCEEDED}
    kept = [weakref.ref(each) for each in goals]
    goals.clear()

    def gone():
        gc.collect()
        return all(each() is None for each in kept)

    until(gone, 60.0, "memory of the goals")


def test_every_goal_of_a_burst_is_answered(spinner, spinner2, client):
    desk = Desk(spinner)
    names = [f"thing {number}" for number in range(300)]
    handles = sent(spinner2, client, names)
    assert all(handle.accepted for handle in handles)
    assert [handle.request.object_name for handle in desk.handles] == names

    def end_the_others():
        for handle in desk.handles[1::2]:
            desk.end(handle, 0)

    spinner.do(end_the_others)
    ends = [GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_SUCCEEDED]
    assert results(spinner2, handles) == [(ends[i % 2], name) for i, name in enumerate(names)]


def test_results_outlive_the_list_of_goals(spinner, spinner2, client, monkeypatch):
    monkeypatch.setattr(burst_action_server, "LISTED", 0.01)
    monkeypatch.setattr(burst_action_server, "MOST_RESULTS", 3)
    desk = Desk(spinner)
    handles = sent(spinner2, client, "abcdefghi")[::2]
    until(lambda: len(desk.server._ended) == 3, what="five goals left the list, two are forgotten")
    until(lambda: len(desk.server._goal_handles) == 4)
    aborted = GoalStatus.STATUS_ABORTED
    unknown = (GoalStatus.STATUS_UNKNOWN, "")
    wanted = [unknown, unknown, (aborted, "e"), (aborted, "g"), (aborted, "i")]
    assert results(spinner2, handles) == wanted


def test_results_are_kept_for_their_time(spinner, spinner2, client, monkeypatch):
    monkeypatch.setattr(burst_action_server, "LISTED", 0.01)
    desk = Desk(spinner, result_kept=0.0)
    (handle,) = sent(spinner2, client, "a")
    until(lambda: not desk.server._goal_handles)
    sent(spinner2, client, "bc")
    until(lambda: len(desk.server._goal_handles) == 1 and len(desk.server._ended) == 1)
    assert results(spinner2, [handle]) == [(GoalStatus.STATUS_UNKNOWN, "")]


def test_a_server_waits_with_its_end_for_clients_that_have_not_asked_yet(
    spinner, spinner2, client, monkeypatch
):
    monkeypatch.setattr(burst_action_server, "CLAIMED", 60.0)
    desk = Desk(spinner)
    handles = sent(spinner2, client, ["ended", "running"])
    until(lambda: desk.handles, what="goals")
    assert not desk.server.closed()  # the first has ended, and nobody has asked how
    assert results(spinner2, handles[:1]) == [(GoalStatus.STATUS_ABORTED, "ended")]
    until(desk.server.closed, what="a moment after the answer")


def test_a_server_does_not_wait_for_clients_that_never_ask(spinner, spinner2, client, monkeypatch):
    monkeypatch.setattr(burst_action_server, "CLAIMED", 0.05)
    desk = Desk(spinner)
    sent(spinner2, client, ["unwanted", "running", "unwanted", "running"])
    until(lambda: len(desk.handles) == 4, what="goals")
    until(desk.server.closed, what="the end of the wait")
    until(lambda: len(desk.server._unclaimed) == 2, what="only the running ones are remembered")


def test_an_identifier_is_known_while_its_goal_leaves_the_list(spinner, spinner2, client):
    desk = Desk(spinner)
    leaving = []

    async def later(infos):
        leaving.extend(infos)

    desk.server._execute_expire_goals = later  # the middleware knows nothing of them any more
    (handle,) = sent(spinner2, client, "a")
    until(lambda: leaving, what="the goal to leave the list")
    again = spinner2.do(
        lambda: client.send_goal_async(Pick.Goal(object_name="a"), goal_uuid=handle.goal_id)
    )
    until(again.done)
    assert not again.result().accepted
    assert len(desk.handles) == 1


def test_a_goal_that_waits_can_be_cancelled(spinner, spinner2, client):
    desk = Desk(spinner)
    handle = sent(spinner2, client, "ab")[1]
    answer = spinner2.do(handle.cancel_goal_async)
    until(answer.done)
    until(lambda: desk.handles[1].is_cancel_requested)
    spinner.do(desk.end, desk.handles[1], Pick.Result.CANCELED)
    assert results(spinner2, [handle]) == [(GoalStatus.STATUS_CANCELED, "b")]


@pytest.mark.parametrize(
    ("name", "cancel", "end"),
    [
        ("", False, (GoalStatus.STATUS_SUCCEEDED, "fine")),
        ("heavy", False, (GoalStatus.STATUS_ABORTED, "too heavy")),
        ("heavy", True, (GoalStatus.STATUS_CANCELED, "too heavy")),
        ("bug", False, (GoalStatus.STATUS_ABORTED, "")),
    ],
)
def test_goals_of_a_coroutine_end_as_its_result_says(spinner, spinner2, client, name, cancel, end):
    gate = Future()

    async def work(handle):
        await gate
        if handle.request.object_name == "bug":
            raise KeyError("finger")
        if handle.request.object_name == "heavy":
            return Pick.Result(code=Pick.Result.NO_GRASP, message="too heavy")
        return Pick.Result(message="fine")

    node = spinner.node("coroutines")
    spinner.do(
        lambda: BurstActionServer(
            node, Pick, "/desk", work=work, cancel_callback=lambda handle: CancelResponse.ACCEPT
        )
    )
    (handle,) = sent(spinner2, client, [name])
    if cancel:
        until(spinner2.do(handle.cancel_goal_async).done, what="the answer to the cancellation")
    spinner.do(gate.set_result, None)
    assert results(spinner2, [handle]) == [end]
