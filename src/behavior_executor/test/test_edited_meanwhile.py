# SPDX-License-Identifier: Apache-2.0
"""A mission whose trees were edited between acceptance and start says so; no ROS."""

from collections.abc import Callable
from pathlib import Path

import pytest
from core_bench import TREE, Bench
from editing_bench import EditingBench

from behavior_executor.journal.journal import MissionJournal, RestartPolicy
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.mission import Code, Kind, Mission, MissionRequest, Policy, State
from behavior_executor.missions.tree_digests import TreeDigests
from behavior_executor.running.feedback import progress_of
from behavior_executor.running.tree_run import Activity
from behavior_tree.sharing import Running

LIB = """<root BTCPP_format="4"><BehaviorTree ID="Lib"><AlwaysSuccess/></BehaviorTree></root>"""
USES_LIB = """<root BTCPP_format="4" main_tree_to_execute="main">
  <include path="parts/../lib.xml"/>
  <BehaviorTree ID="main">
    <Sequence><SubTree ID="Lib"/><Sleep msec="1000"/></Sequence>
  </BehaviorTree>
</root>
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "parts").mkdir()
    (tmp_path / "lib.xml").write_text(LIB)
    (tmp_path / "uses_lib.xml").write_text(USES_LIB)
    return Bench(tmp_path, policy=Policy.QUEUE)


def edit(file: Path) -> None:
    file.write_text(file.read_text() + "<!-- another -->")


def ended(bench: Bench, mission: Mission) -> Mission:
    for _ in range(100):
        bench.tick()
        if mission.is_final:
            return mission
    raise AssertionError(mission)


@pytest.mark.parametrize("name", ["uses_lib.xml", "lib.xml"])
def test_an_edit_while_it_waits_is_told_while_it_runs_and_at_its_end(
    bench: Bench, name: str
) -> None:
    first, second = bench.submit("good", "a"), bench.submit("uses_lib", "b")
    bench.tick()
    edit(bench.folder / name)
    assert ended(bench, first).text == "done"
    bench.tick()
    remark = f"not as accepted, edited since: {bench.folder / name}"
    assert second.state is State.RUNNING
    assert progress_of(second, Activity(), bench.time).text == remark
    assert bench.problems == [f"mission 'uses_lib' runs {remark}"]
    assert ended(bench, second).code is Code.SUCCESS
    assert second.text == f"done; {remark}"
    assert bench.log.journal.records()[0].text == second.text


def test_what_is_as_it_was_is_no_edit(bench: Bench) -> None:
    first, second = bench.submit("good", "a"), bench.submit("uses_lib", "b")
    bench.tick()
    file = bench.folder / "lib.xml"
    text = file.read_text()
    edit(file)
    file.write_text(text)
    edit(bench.folder / "good.xml")  # which runs already
    ended(bench, first)
    assert (first.text, ended(bench, second).text) == ("done", "done")
    assert bench.problems == []


def test_an_edit_while_an_earlier_step_runs_is_told(bench: Bench) -> None:
    names = ("good", "uses_lib", "good")
    steps = tuple(MissionRequest(f"a#{n}", name=name) for n, name in enumerate(names, 1))
    mission = bench.core.submit(MissionRequest("a", Kind.SEQUENCE, steps=steps))
    bench.tick()
    edit(bench.folder / "lib.xml")
    edit(bench.folder / "good.xml")
    bench.tick(2.0)
    bench.tick()
    assert mission.steps_done == 1
    assert mission.remark.endswith(f": {bench.folder / 'lib.xml'}")
    files = [str(bench.folder / name) for name in ("good.xml", "lib.xml")]
    assert ended(bench, mission).text.endswith(f"edited since: {', '.join(files)}")
    assert len(bench.problems) == 2


def test_an_edit_before_a_restart_is_told_after_it(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "missions.journal"
    log = MissionLog(MissionJournal(path))
    before = Bench(tmp_path, policy=Policy.QUEUE, log=log)
    before.submit("good", "a")
    before.submit("uses_lib", "b")
    before.tick()
    edit(bench.folder / "lib.xml")
    log.close()
    again = Bench(tmp_path, policy=Policy.QUEUE, journal=MissionJournal(path))
    again.core.restore(again.log.unfinished(), RestartPolicy.RESUME)
    waiting = again.core.find("b")
    assert waiting is not None
    assert ended(again, waiting).text.endswith(f"edited since: {bench.folder / 'lib.xml'}")


def test_many_files_are_counted() -> None:
    mission = Mission(MissionRequest("a"), 0.0, edited=frozenset("edcba"))
    assert mission.remark == "not as accepted, edited since: a, b, c and 2 more"


# -- edits of peers -------------------------------------------------------------------------------


@pytest.fixture
def shared(tmp_path: Path) -> EditingBench:
    return EditingBench(tmp_path)


def save(shared: EditingBench) -> None:
    shared.join().do("save")


def undo(shared: EditingBench) -> None:
    shared.join().do("undo")


@pytest.mark.parametrize(
    ("then", "told"),
    [(None, True), (save, True), (undo, False)],
    ids=["unsaved", "saved", "undone"],
)
def test_an_edit_by_a_peer_while_it_waits_is_told(
    shared: EditingBench, then: Callable[[EditingBench], None] | None, told: bool
) -> None:
    mission = shared.core.submit(MissionRequest("patrol", name="patrol"))
    shared.join().set("desk", seconds="3")
    if then is not None:
        then(shared)
    shared.tick()
    file = shared.folder / "patrol.xml"
    assert mission.remark == (f"not as accepted, edited since: {file}" if told else "")


@pytest.mark.parametrize("then", [None, save], ids=["unsaved", "saved"])
def test_an_edit_before_it_was_accepted_is_what_was_accepted(
    shared: EditingBench, then: Callable[[EditingBench], None] | None
) -> None:
    shared.join().set("desk", seconds="3")
    edit(shared.folder / "lib.xml")
    mission = shared.core.submit(MissionRequest("patrol", name="patrol"))
    if then is not None:
        then(shared)
    shared.tick()
    assert mission.remark == ""
    assert shared.node("desk").raw_port("seconds") == "3"


def test_an_edit_of_what_runs_is_none_of_what_was_accepted(shared: EditingBench) -> None:
    mission = shared.start()
    shared.join().set("desk", Running.AFTER, seconds="3")
    shared.tick()
    assert mission.remark == ""


# -- files ----------------------------------------------------------------------------------------


def test_what_is_included_is_looked_at_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = tmp_path / "share"
    (share / "ament_index/resource_index/packages").mkdir(parents=True)
    (share / "ament_index/resource_index/packages/doors").touch()
    (share / "doors").mkdir()
    (share / "doors/lib.xml").write_text(LIB)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    first = tmp_path / "first.xml"
    includes = (
        'path="first.xml"',
        'path="gone.xml"',
        'path="broken.xml"',
        'ros_pkg="doors" path="lib.xml"',
        'ros_pkg="walls" path="lib.xml"',
        f'path="{tmp_path}/x/../other.xml"',
    )
    first.write_text(f"<root>{''.join(f'<include {each}/>' for each in includes)}</root>")
    (tmp_path / "broken.xml").write_text("<root")
    (tmp_path / "other.xml").write_text(LIB)
    (tmp_path / "x").mkdir()
    digests = TreeDigests()
    found = digests.of(first)
    names = ("broken.xml", "first.xml", "gone.xml", "other.xml", "share/doors/lib.xml")
    assert sorted(found) == [str(tmp_path / name) for name in names]
    assert [path for path, digest in found.items() if not digest] == [str(tmp_path / "gone.xml")]
    assert digests.of(first) == found
    first.write_text(TREE)
    assert list(digests.of(first)) == [str(first)]
