# SPDX-License-Identifier: Apache-2.0
"""An operator steps, stops and mends the runs of missions, without ROS."""

from pathlib import Path

import pytest
from core_bench import TREE, Bench

from behavior_executor.missions.mission import Code, Mission, State
from behavior_executor.running.operator_control import MOST_PREPARED, ControlState
from behavior_tree import BehaviorTreeError
from behavior_tree.authoring import register_authoring_nodes

LOST = "action /pick: the server of /pick is gone"
STEPS = """<Sequence name="all">
  <Script name="one" code="a := 1"/>
  <ScriptCondition name="look" code="a == 2"/>
  <Script name="two" code="b := 1"/>
</Sequence>"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "steps.xml").write_text(TREE.format(about="Steps", body=STEPS))
    return Bench(tmp_path)


def manual(bench: Bench, name: str = "steps") -> Mission:
    bench.core.operator.obey("stop")
    mission = bench.submit(name)
    bench.tick()
    return mission


def tick_after(bench: Bench, command: str) -> str:
    answer = bench.core.operator.obey(command)
    bench.tick()
    return answer


def test_nobody_controls_a_mission_unless_asked(bench: Bench) -> None:
    assert bench.run("steps").code is Code.TREE_FAILED
    assert bench.core.operator.obey("") == ""
    assert bench.core.operator.state == ControlState()


def test_a_mission_is_stepped_and_its_failure_skipped(bench: Bench) -> None:
    mission = manual(bench)
    state = bench.core.operator.state
    assert (state.controlled, state.automatic, state.held) == (True, False, ("one",))
    assert bench.core.activity.detail == "waits for a step: one"
    assert tick_after(bench, "step") == "begins: one"
    assert tick_after(bench, "step look") == "begins: look"
    assert bench.core.operator.state.failed == ("look",)
    assert bench.core.activity.detail.startswith("failed, retry, skip or give up: look")
    assert mission.state is State.RUNNING
    assert tick_after(bench, "skip") == "skipped: look"
    tick_after(bench, "step")
    assert mission.code is Code.SUCCESS


def test_control_takes_over_while_a_mission_runs_and_is_released(bench: Bench) -> None:
    mission = bench.submit("good")
    bench.tick()
    bench.core.operator.obey("stop")
    for _ in range(30):
        bench.tick()
    assert bench.core.operator.state.held == ("AlwaysSuccess::3",)
    assert bench.core.operator.obey("release") == "released"
    assert bench.core.operator.state == ControlState()
    bench.tick()
    assert mission.code is Code.SUCCESS


def test_control_lasts_over_missions(bench: Bench) -> None:
    first = manual(bench, "good")
    bench.core.cancel("")
    assert first.code is Code.CANCELED_BY_CLIENT
    assert bench.core.operator.state.prepared == ("stop",)
    second = bench.submit("good", "b")
    for _ in range(5):
        bench.tick()
    assert bench.core.operator.state.held == ("Sleep::2",)
    assert second.state is State.RUNNING


def test_a_run_begins_and_stops_where_the_operator_says(bench: Bench) -> None:
    for command in ("from two", "break two"):
        assert bench.core.operator.obey(command) == "the next run begins with it"
    assert bench.core.operator.state.prepared == ("from two", "break two")
    mission = bench.submit("steps")
    bench.tick()
    assert bench.core.operator.state.held == ("two",)
    tick_after(bench, "go")
    assert mission.code is Code.SUCCESS  # without a look


def test_what_cannot_be_prepared_makes_the_run_wait(bench: Bench) -> None:
    bench.core.operator.obey("from the cellar")
    bench.submit("steps")
    bench.tick()
    assert bench.core.operator.state.held == ("one",)
    (problem,) = bench.problems
    assert "waits for an operator" in problem
    assert "the cellar" in problem


def test_an_operator_may_take_his_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mission_timeout=5.0)
    mission = manual(bench, "good")
    for _ in range(100):
        bench.tick(1.0)
    assert mission.state is State.RUNNING
    bench.core.operator.obey("go")
    for _ in range(30):
        bench.tick()
    assert mission.code is Code.SUCCESS


def test_what_takes_too_long_besides_is_ended_all_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mission_timeout=5.0)
    mission = manual(bench, "forever")
    bench.tick(100.0)
    bench.core.operator.obey("go")
    for _ in range(99):
        bench.tick()
    assert mission.state is State.RUNNING
    for _ in range(3):
        bench.tick()
    assert mission.code is Code.TIMED_OUT


def test_a_lost_server_is_the_operators_to_decide_on(bench: Bench) -> None:
    bench.server = LOST
    bench.core.operator.obey("go")
    mission = bench.submit("server")
    for _ in range(10):
        bench.tick(1.0)
    assert mission.state is State.RUNNING
    assert bench.core.operator.state.failed == ("RetryUntilSuccessful::1",)
    bench.server = None
    tick_after(bench, "retry")
    assert mission.code is Code.SUCCESS


def test_breakpoints_are_kept_beside_the_tree(bench: Bench) -> None:
    manual(bench)
    bench.core.operator.obey("break two")
    bench.core.operator.obey("save")
    assert (bench.folder / "steps.breakpoints").read_text() == "two\n"
    bench.core.cancel("")
    bench.core.operator.obey("release")
    manual(bench)
    assert bench.core.operator.state.breakpoints == ("two",)


def test_a_command_that_there_is_not_is_answered_with_all_that_there_are(bench: Bench) -> None:
    manual(bench)
    with pytest.raises(BehaviorTreeError, match="concurrent off, set, release, queue"):
        bench.core.operator.obey("dance")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("dance", "no command 'dance' (there are step, go"),
        ("step two", "'two' does not wait to begin (there are 'one')"),
        ("stop one", "'one' is too much here"),
        ("break", "a node is missing"),
        ("retry", "nothing has failed"),
        ("from look", "the tree runs"),
    ],
)
def test_a_wrong_command_says_why_and_changes_nothing(
    bench: Bench, command: str, words: str
) -> None:
    manual(bench)
    before = bench.core.operator.state
    with pytest.raises(BehaviorTreeError) as error:
        bench.core.operator.obey(command)
    assert words in str(error.value)
    assert bench.core.operator.state == before


def test_without_a_tree_only_the_next_run_can_be_prepared(bench: Bench) -> None:
    with pytest.raises(BehaviorTreeError, match="no tree runs: 'step'"):
        bench.core.operator.obey("step")
    assert not bench.core.operator.state.controlled
    for _ in range(MOST_PREPARED):
        bench.core.operator.obey("break one")
    with pytest.raises(BehaviorTreeError, match="release"):
        bench.core.operator.obey("break one")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("dance", "no command 'dance' (there are step, go"),
        ("concurrent", "no command 'concurrent' (there are step, go"),
        ("stop now", "'now' is too much here"),
        ("break", "a node is missing"),
    ],
)
def test_without_a_tree_a_wrong_command_is_refused_at_once(
    bench: Bench, command: str, words: str
) -> None:
    with pytest.raises(BehaviorTreeError) as error:
        bench.core.operator.obey(command)
    assert words in str(error.value)
    assert bench.core.operator.state == ControlState()


def test_a_wrong_first_command_does_not_take_control(bench: Bench) -> None:
    mission = bench.submit("fails")
    bench.core.tick()  # the tree is there
    assert mission.is_final or bench.core.operator.state == ControlState()
    mission = bench.submit("forever", "b")
    bench.tick()
    with pytest.raises(BehaviorTreeError):
        bench.core.operator.obey("dance")
    assert bench.core.operator.state == ControlState()


def test_a_waiting_failure_is_not_released(bench: Bench) -> None:
    bench.core.operator.obey("go")
    mission = bench.submit("steps")
    bench.tick()
    with pytest.raises(BehaviorTreeError, match="retry, skip or give up"):
        bench.core.operator.obey("release")
    assert bench.core.operator.state.failed == ("look",)
    tick_after(bench, "give up")
    assert mission.code is Code.TREE_FAILED


def test_a_release_that_is_refused_lets_nothing_begin(bench: Bench) -> None:
    body = """<ConcurrentSequence on_failure="finish"><Work name="lathe" fails="x"/>
      <Step execute_after="beginning"><Wait name="arm"/></Step></ConcurrentSequence>"""
    register_authoring_nodes(bench.factory)
    (bench.folder / "beside.xml").write_text(TREE.format(about="Beside", body=body))
    manual(bench, "beside")
    tick_after(bench, "step lathe")
    before = bench.core.operator.state
    assert (before.failed, before.held) == (("lathe",), ("arm",))
    with pytest.raises(BehaviorTreeError, match="retry, skip or give up"):
        bench.core.operator.obey("release")
    bench.tick()
    assert bench.core.operator.state == before
    tick_after(bench, "skip")
    assert bench.core.operator.state.held == ("arm",)


def test_one_by_one_lasts_over_the_ends_of_missions_until_it_is_released(bench: Bench) -> None:
    body = """<ConcurrentSequence><Wait name="one"/>
      <Step execute_after="beginning"><Wait name="two"/></Step></ConcurrentSequence>"""
    register_authoring_nodes(bench.factory)
    (bench.folder / "both.xml").write_text(TREE.format(about="Both", body=body))

    def running() -> list[str]:
        bench.submit("both")
        bench.tick()
        nodes = [node for node in bench.last_run.tree.nodes() if node.status.name == "RUNNING"]
        return [str(node.name) for node in nodes if not node.has_nodes]

    assert running() == ["one", "two"]
    bench.core.operator.obey("concurrent off")
    bench.core.cancel("")
    state = bench.core.operator.state
    assert (state.concurrent, state.prepared) == (False, ("concurrent off",))
    assert running() == ["one"]
    bench.core.cancel("")
    bench.core.operator.obey("release")
    assert running() == ["one", "two"]


def test_setting_a_value_alone_controls_no_run(bench: Bench, tmp_path: Path) -> None:
    body = """<Sequence><Script code="go := false"/>
      <Precondition if="go" else="RUNNING"><AlwaysSuccess/></Precondition></Sequence>"""
    (tmp_path / "wait.xml").write_text(TREE.format(about="Waits", body=body))
    mission = bench.submit("wait")
    bench.tick()
    with pytest.raises(BehaviorTreeError, match="no blackboard has an entry 'gone'"):
        bench.core.operator.obey("set gone = 1")
    assert tick_after(bench, "set go = 1") == ""
    assert bench.core.operator.state == ControlState()
    assert mission.state is State.FINISHED
