# SPDX-License-Identifier: Apache-2.0
"""One goal, all orders of events: exactly one end, and no goal left running."""

from types import SimpleNamespace

import pytest
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from fakes import PuppetActions
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_ros import End
from behavior_tree.cause import CauseKind

ACCEPTED = CancelGoal.Response.ERROR_NONE
REFUSED = CancelGoal.Response.ERROR_REJECTED
GONE, RESTARTED = "server lost: gone", "server lost: restarted"


class Bench:
    """A goal, its puppet servers and what was told of it."""

    def __init__(self, **options):
        self.actions = PuppetActions()
        self.action = self.actions.action(None, "/act")
        self.client, self.ends, self.heard = self.action.client, [], []
        self.goal = self.send(on_feedback=self.heard.append, on_end=self.ends.append, **options)

    def send(self, **options):
        return self.action.send("goal", server_timeout=2.0, **options)

    @property
    def server(self):
        """What the newest goal was sent to."""
        return self.client.goals[-1]

    def lose(self, reason=GONE):
        """The goals' servers count as lost."""
        self.actions.lost, self.actions.restarted = reason, reason is RESTARTED
        self.actions.look()
        self.actions.lost = None

    def wait(self, seconds):
        self.actions.now += seconds
        self.actions.look()


EVENTS = {
    "accept": lambda bench: bench.server.accept(),
    "reject": lambda bench: bench.server.reject(),
    "cancel": lambda bench: bench.goal.cancel(),
    "lose": Bench.lose,
    "look": lambda bench: bench.wait(0.1),
    "cancel accepted": lambda bench: bench.server.answer_cancel(ACCEPTED),
    "cancel refused": lambda bench: bench.server.answer_cancel(REFUSED),
    "succeed": lambda bench: bench.server.finish(GoalStatus.STATUS_SUCCEEDED),
    "abort": lambda bench: bench.server.finish(GoalStatus.STATUS_ABORTED),
    "canceled": lambda bench: bench.server.finish(GoalStatus.STATUS_CANCELED),
    "forget": lambda bench: bench.server.finish(GoalStatus.STATUS_UNKNOWN),
    "listed": lambda bench: bench.client.list_goal(bench.server, GoalStatus.STATUS_EXECUTING),
    "listed as ended": lambda bench: bench.client.list_goal(
        bench.server, GoalStatus.STATUS_SUCCEEDED
    ),
    "feedback": lambda bench: bench.server.feedback(SimpleNamespace(feedback="f")),
}


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12))
def test_any_order_of_events(order):
    bench = Bench()
    for event in order:
        before, heard = bench.goal.outcome, len(bench.heard)
        wanted = before is None and not bench.goal.closing
        EVENTS[event](bench)
        if before is not None:
            assert bench.goal.outcome is before, "an end is final"
        if not wanted:
            assert len(bench.heard) == heard, "no feedback after the end or a cancellation"
    ended = bench.goal.outcome is not None
    assert bench.ends == ([bench.goal.outcome] if ended else []), "told once"
    assert bench.actions.closed() == ended, "looked after until the end"
    server = bench.server
    unwanted = {"cancel", "lose"} & set(order)
    if server.accepted and not server.result.done() and (bench.goal.closing or ended):
        assert server.cancels, "a goal that runs although nobody wants it was told so"
    if not unwanted:
        assert not server.cancels, "nothing is cancelled that nobody wants cancelled"


@pytest.mark.slow
@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=8))
def test_every_order_can_end(order):
    bench = Bench()
    for event in order:
        EVENTS[event](bench)
    bench.server.accept()
    bench.server.finish(GoalStatus.STATUS_ABORTED)
    assert len(bench.ends) == 1
    assert bench.actions.closed()


def test_cancel_before_acknowledgement_is_sent_with_it():
    bench = Bench()
    bench.goal.cancel()
    assert not bench.server.cancels
    bench.server.accept()
    assert len(bench.server.cancels) == 1
    bench.server.finish(GoalStatus.STATUS_CANCELED)
    assert bench.ends[0].end is End.CANCELED


def test_cancel_twice_is_one_request():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    bench.goal.cancel()
    bench.server.answer_cancel(ACCEPTED)
    bench.goal.cancel()
    bench.wait(1.0)
    assert len(bench.server.cancels) == 1


def test_a_cancel_that_is_never_answered_is_asked_again():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    bench.wait(0.5)
    assert len(bench.server.cancels) == 1
    bench.wait(0.5)
    assert len(bench.server.cancels) == 2


def test_a_lost_acknowledgement_is_made_good_by_the_list_of_goals():
    bench = Bench()
    bench.client.list_goal(bench.server, GoalStatus.STATUS_EXECUTING)
    assert bench.goal.accepted
    bench.server.result.set_result(
        SimpleNamespace(status=GoalStatus.STATUS_SUCCEEDED, result="done")
    )
    assert bench.ends[0].succeeded
    bench.server.accept()
    assert not bench.server.cancels, "the late acknowledgement is of no use"


def test_a_goal_without_acknowledgement_is_cancelled_by_its_identifier_when_given_up():
    bench = Bench()
    bench.lose()
    assert bench.ends[0].end is End.LOST
    assert len(bench.server.cancels) == 1


def test_a_result_that_got_lost_is_asked_for_again_and_not_for_ever():
    bench = Bench()
    bench.server.accept()
    bench.wait(100.0)
    assert bench.server.questions == 1, "it runs"
    bench.client.list_goal(bench.server, GoalStatus.STATUS_SUCCEEDED)
    bench.wait(0.7)
    assert bench.server.questions == 2
    for _ in range(3):
        assert not bench.ends
        bench.wait(0.7)
    assert bench.ends[0].end is End.LOST
    assert "the result of /act does not come" in bench.ends[0].message


def test_a_refused_cancel_is_asked_again():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    bench.server.answer_cancel(REFUSED)
    bench.wait(0.1)
    assert len(bench.server.cancels) == 2


def test_late_acceptance_after_the_server_was_given_up_is_cancelled():
    bench = Bench()
    bench.lose()
    assert bench.ends[0].end is End.LOST
    before = len(bench.server.cancels)
    bench.server.accept()
    assert len(bench.server.cancels) == before + 1


def test_goal_that_the_server_forgot():
    bench = Bench()
    bench.server.accept()
    bench.server.finish(GoalStatus.STATUS_UNKNOWN)
    assert bench.ends[0].end is End.LOST
    assert "server lost" in bench.ends[0].message


@pytest.mark.parametrize("patient", [True, False])
def test_a_server_that_is_not_there_is_waited_for_but_not_for_ever(patient):
    bench = Bench()
    bench.client.up = False
    ends = []
    late = bench.send(patient=patient, on_end=ends.append)
    bench.wait(1.9)
    assert not late.sent
    bench.client.up = True
    bench.wait(0.0)
    assert late.sent
    bench.client.up = False
    bench.send(patient=patient, on_end=ends.append)
    bench.wait(1.9)
    assert not ends
    bench.wait(0.2)
    assert ends[0].end is End.LOST
    assert ends[0].message == "no server of action /act for 2.1 s: start it"
    assert ends[0].message.kind is CauseKind.SERVER_LOST


def test_a_goal_that_was_cancelled_before_it_could_be_sent_never_is():
    bench = Bench()
    bench.client.up = False
    unsent = bench.send()
    unsent.cancel()
    assert unsent.outcome.end is End.CANCELED
    bench.client.up = True
    bench.wait(1.0)
    assert len(bench.client.goals) == 1


@pytest.mark.parametrize(("patient", "times"), [(True, 2), (False, 1)])
def test_a_patient_goal_that_went_to_a_ghost_reaches_the_restarted_server(patient, times):
    bench = Bench(patient=patient)
    ghost = bench.server
    bench.lose(RESTARTED)
    bench.wait(0.1)
    assert len(bench.client.goals) == times
    assert bool(bench.ends) != patient
    ghost.accept()
    assert ghost.cancels, "should it have arrived after all, it is cancelled"


@pytest.mark.parametrize("patient", [True, False])
def test_an_accepted_goal_is_never_sent_twice(patient):
    bench = Bench(patient=patient)
    bench.server.accept()
    bench.lose(RESTARTED)
    bench.wait(10.0)
    assert len(bench.client.goals) == 1
    assert bench.ends[0].end is End.LOST


def test_a_patient_goal_follows_at_the_moment_in_which_the_one_before_has_closed():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    bench.send(patient=True)
    bench.wait(10.0)  # however long it takes
    assert len(bench.client.goals) == 1
    bench.server.finish(GoalStatus.STATUS_CANCELED)
    assert len(bench.client.goals) == 2


def test_other_goals_do_not_wait_for_one_that_closes():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    bench.send()
    assert len(bench.client.goals) == 2


def test_a_rejection_while_another_action_closes_says_nothing_to_a_patient_goal():
    bench = Bench()
    bench.server.accept()
    bench.goal.cancel()
    other = bench.actions.action(None, "/other")
    patient = other.send("goal", patient=True)
    other.client.goals[0].reject()
    bench.wait(1.0)
    assert patient.outcome is None
    bench.server.finish(GoalStatus.STATUS_CANCELED)
    assert len(other.client.goals) == 2
    other.client.goals[1].reject()
    assert patient.outcome.end is End.REJECTED


@pytest.mark.parametrize("event", ["accept", "reject", "lose", "listed"])
def test_what_is_under_way_to_a_server_counts_as_work_and_nothing_else_does(event):
    """A simulation that waits for those who compute goes on no step for each goal then."""
    bench = Bench()
    assert bench.action.workers
    EVENTS["look"](bench)
    EVENTS["cancel"](bench)
    assert bench.action.workers
    EVENTS[event](bench)
    assert not bench.action.workers
    for later in ("accept", "succeed"):
        EVENTS[later](bench)
    assert bench.action.workers._count == 0
