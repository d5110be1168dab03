# SPDX-License-Identifier: Apache-2.0
"""Trees of missions are edited by several peers while they tick; no ROS, no threads."""

import json
import random
import time

import pytest
from editing_bench import EditingBench, FarEditor, Network, tree_file

from behavior_executor.editing import tree_room
from behavior_executor.editing.edit_line import MOST_IN_LINE
from behavior_executor.editing.edited_trees import LIMITS, MOST_TREES
from behavior_executor.editing.tree_exchange import ExchangeRequest
from behavior_executor.editing.tree_room import MOST_EDITORS, PRESENCE
from behavior_executor.missions.mission import Kind, MissionRequest, State
from behavior_tree import LogicError
from behavior_tree.sharing import Code, Running


@pytest.fixture(autouse=True, scope="module")
def no_power_cuts():
    """The disk need not be waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        yield


@pytest.fixture
def bench(tmp_path):
    return EditingBench(tmp_path)


def test_an_edit_reaches_the_tree_that_ticks_and_all_who_look(bench):
    bench.start()
    ann, bob = bench.join("ann"), bench.join("bob")
    assert ann.peer.ticks
    desk = bench.node("desk")
    answer = ann.set("desk", seconds="3")
    assert answer.code is Code.MADE
    assert bench.node("desk") is desk
    assert desk.raw_port("seconds") == "3"
    assert bench.shown == [bench.run]
    assert (bench.news[-1].editor, bench.news[-1].answer.code) == ("ann", Code.MADE)
    bob.peer.hear(bench.news[-1])
    assert bob.peer.replica.nodes[bob.id("desk")]["attributes"]["seconds"] == "3"
    assert bob.peer.editors == ("ann", "bob")


def test_what_is_refused_is_told_to_all_with_a_sentence(bench):
    bench.start()
    ann = bench.join()
    answer = ann.do("set", node="n99", attributes={"seconds": "1"})
    assert answer.code is Code.REFUSED
    assert "not there any more" in answer.message
    assert bench.news[-1].answer.message == answer.message
    assert bench.news[-1].update == b""


def test_the_running_mission_needs_no_name_but_its_edits_do(bench):
    refused = bench.ask(ExchangeRequest(editor="ann"))
    assert "no mission runs: name" in refused.answer.message
    bench.start()
    ann = bench.join(tree="")
    assert ann.peer.tree == "patrol"
    edit = json.dumps({"op": "undo"})
    refused = bench.ask(ExchangeRequest(editor="ann", number=1, edit=edit))
    assert "says which tree" in refused.answer.message
    refused = bench.ask(ExchangeRequest(tree="patroll", editor="ann"))
    assert "did you mean 'patrol'" in refused.answer.message


def test_what_runs_is_changed_only_as_somebody_says(bench):
    bench.start()
    ann = bench.join()
    answer = ann.set("door", seconds="9")
    assert answer.code is Code.RUNNING
    assert "'door'" in answer.message
    assert ann.set("door", Running.AFTER, seconds="9").code is Code.WAITING
    bench.tick()
    assert bench.news[-1].answer.code is Code.WAITING
    while bench.node("door").status.name == "RUNNING":
        bench.tick()
    bench.aside.run()
    assert (bench.news[-1].number, bench.news[-1].answer.code) == (2, Code.MADE)
    assert bench.node("door").raw_port("seconds") == "9"
    ann.peer.hear(bench.news[-1])
    assert ann.peer.answers[2].code is Code.MADE
    window = bench.node("window")
    assert ann.do("remove", Running.HALT, node=ann.id("window")).code is Code.MADE
    assert window not in list(bench.run.tree.nodes())
    assert ann.do("undo").code is Code.MADE
    assert bench.node("window") is not window


def test_an_edit_that_waits_is_made_when_the_mission_ends(bench):
    mission = bench.start()
    ann = bench.join()
    assert ann.set("door", Running.AFTER, seconds="9").code is Code.WAITING
    bench.core.cancel("")
    assert mission.state is State.CANCELED
    bench.aside.run()
    assert bench.news[-1].answer.code is Code.MADE
    assert not ann.bench.ask(ann.peer.request()).ticks


def test_the_next_mission_runs_what_was_edited_and_says_if_that_is_not_saved(bench):
    ann = bench.join()
    ann.set("door", seconds="0.1")
    bench.start()
    assert bench.node("door").raw_port("seconds") == "0.1"
    assert "not saved" in bench.problems[-1]
    assert ann.set("desk", seconds="0.2").code is Code.MADE
    assert bench.node("desk").raw_port("seconds") == "0.2"


def test_saving_changes_the_file_by_the_edit_alone_and_takes_in_what_others_wrote(bench):
    file = bench.folder / "patrol.xml"
    ann = bench.join()
    before = file.read_text()
    ann.set("desk", seconds="3")
    assert file.read_text() == before
    file.write_text(before.replace("seconds='2'", "seconds='4'"))
    assert ann.do("save").code is Code.MADE
    expected = before.replace("seconds='2'", "seconds='4'")
    assert file.read_text() == expected.replace(
        '<Drive name="desk" seconds="1"/>', '<Drive name="desk" seconds="3"/>'
    )
    assert not any(each["modified"] for each in ann.peer.replica.files.values())


def test_a_conflict_with_the_file_overwrites_nothing_and_starts_nothing(bench):
    file = bench.folder / "patrol.xml"
    ann = bench.join()
    ann.set("desk", seconds="3")
    theirs = file.read_text().replace('name="desk" seconds="1"', 'name="desk" seconds="5"')
    file.write_text(theirs)
    answer = ann.do("save")
    assert answer.code is Code.REFUSED
    assert "is '3' here and '5' on disk" in answer.message
    assert file.read_text() == theirs
    mission = bench.start()
    assert mission.state is State.FAILED
    assert "`behavior mission edit --mission patrol revert`" in mission.text
    assert ann.do("revert").code is Code.MADE
    bench.start()
    assert bench.node("desk").raw_port("seconds") == "5"


def test_an_editor_hears_at_once_that_his_edit_has_mended_the_tree(bench):
    file = bench.folder / "patrol.xml"
    bench.join().set("desk", seconds="3")
    file.write_text(file.read_text().replace('name="desk" seconds="1"', 'name="desk" seconds="5"'))
    ann = EditingBench(bench.folder).join()  # after a crash
    assert "is '3' here and '5' on disk" in ann.peer.problem
    ann.set("desk", seconds="4")
    assert "and not as on disk" in ann.peer.problem
    assert ann.do("revert").code is Code.MADE
    assert ann.peer.problem == ""


def test_a_file_that_changed_on_disk_counts_for_the_next_mission(bench):
    file = bench.folder / "patrol.xml"
    ann = bench.join()
    file.write_text(file.read_text().replace("seconds='2'", "seconds='4'"))
    bench.start()
    assert bench.node("door").raw_port("seconds") == "4"
    ann.peer.hear(bench.news[-1])
    ann.catch_up()
    assert ann.peer.replica.nodes[ann.id("door")]["attributes"]["seconds"] == "4"


def test_a_tree_that_is_edited_first_while_it_ticks_may_have_changed_on_disk(bench):
    file = bench.folder / "patrol.xml"
    bench.start()
    file.write_text(file.read_text().replace("seconds='2'", "seconds='4'"))
    ann = bench.join()
    assert ann.set("desk", seconds="3").code is Code.MADE
    assert bench.node("desk").raw_port("seconds") == "3"
    assert bench.node("door").raw_port("seconds") == "2"
    assert ann.do("save", Running.AFTER).code is Code.WAITING
    while bench.node("door").status.name == "RUNNING":
        bench.tick()
    bench.aside.run()
    assert bench.node("door").raw_port("seconds") == "4"
    assert 'name="desk" seconds="3"' in file.read_text()


def test_a_subtree_of_another_file_is_edited_once_for_all(bench):
    bench.start()
    ann = bench.join()
    assert ann.set("dock", seconds="7").code is Code.MADE
    assert bench.node("park/dock").raw_port("seconds") == "7"
    modified = [name for name, each in ann.peer.replica.files.items() if each["modified"]]
    assert [name.rpartition("/")[2] for name in modified] == ["lib.xml"]


def test_edits_reach_the_first_step_of_a_sequence(bench):
    (bench.folder / "nap.xml").write_text(tree_file("nap", '<Drive name="nap" seconds="1"/>'))
    steps = [MissionRequest(f"s#{n}", name=name) for n, name in enumerate(("patrol", "nap"), 1)]
    bench.core.submit(MissionRequest("s", kind=Kind.SEQUENCE, steps=tuple(steps)))
    bench.tick()
    ann = bench.join()
    assert ann.set("desk", seconds="3").code is Code.MADE
    assert bench.node("desk").raw_port("seconds") == "3"


def test_one_deletes_what_another_moves(bench):
    bench.start()
    ann, bob = bench.join("ann"), bench.join("bob")
    both, round_ = bob.id("both"), bob.id("round")
    desk = bob.id("desk")
    assert ann.do("remove", node=both).code is Code.MADE
    answer = bob.do("move", node=desk, parent=round_)
    assert answer.code is Code.REFUSED
    assert "not there any more" in answer.message
    assert ann.do("undo").code is Code.MADE
    assert bob.do("move", node=desk, parent=round_).code is Code.MADE
    assert ann.do("redo").code is Code.MADE
    names = [node.name for node in bench.run.tree.nodes()]
    assert "desk" in names, "which is not where it was removed"
    assert "window" not in names


@pytest.mark.parametrize("after", range(4))
def test_nothing_acknowledged_is_lost_in_a_crash(tmp_path, after):
    """The executor dies after some pieces of an edit's work; the editor sends it again."""
    first = EditingBench(tmp_path)
    first.start()
    ann = first.join()
    assert ann.set("desk", seconds="3").code is Code.MADE
    edit = ann.peer.propose({"op": "set", "node": ann.id("window"), "attributes": {"seconds": "8"}})
    answers = []
    first.trees.exchange(ann.peer.request(), answers.append)
    for _ in range(min(after, len(first.aside.pieces) + 1)):
        if first.aside.pieces:
            first.aside.step()
    second = EditingBench(tmp_path)
    ann.bench = second
    ann.catch_up()
    ann.catch_up()
    assert ann.peer.answers[edit.number].code is Code.MADE
    nodes = ann.peer.replica.nodes
    assert nodes[ann.id("desk")]["attributes"]["seconds"] == "3"
    assert nodes[ann.id("window")]["attributes"]["seconds"] == "8"
    second.start()
    assert second.node("window").raw_port("seconds") == "8"
    assert second.node("desk").raw_port("seconds") == "3"
    assert ann.do("save").code is Code.MADE
    text = (tmp_path / "patrol.xml").read_text()
    assert text.count('seconds="8"') == text.count('seconds="3"') == 1


def test_an_edit_that_cannot_be_kept_is_taken_back_from_the_tree_that_ticks(bench):
    bench.start()
    ann = bench.join()
    (bench.folder / "kept").write_text("in the way")
    answer = ann.set("desk", seconds="3")
    assert answer.code is Code.REFUSED
    assert "taken back" in answer.message
    assert bench.node("desk").raw_port("seconds") == "1"


def test_an_edit_looked_at_before_the_file_was_taken_in_is_looked_at_again(bench):
    file = bench.folder / "patrol.xml"
    ann = bench.join()
    ann.peer.propose({"op": "set", "node": ann.id("desk"), "attributes": {"seconds": "3"}})
    answers = []
    bench.trees.exchange(ann.peer.request(), answers.append)
    file.write_text(file.read_text().replace("seconds='2'", "seconds='4'"))
    bench.start()  # takes the file in while the edit is looked at
    bench.aside.run()
    assert answers[0].answer.code is Code.MADE
    assert bench.node("door").raw_port("seconds") == "4"
    assert bench.node("desk").raw_port("seconds") == "3"


def test_who_asks_again_while_an_edit_is_looked_at_waits_for_its_answer(bench):
    ann = bench.join()
    edit = ann.peer.propose({"op": "set", "node": ann.id("desk"), "attributes": {"seconds": "3"}})
    request, answers = ann.peer.request(), []
    for _ in range(2):
        bench.trees.exchange(request, answers.append)
    assert [each.answer.code for each in answers] == [Code.WAITING]
    ann.peer.take(request, answers[0])
    assert ann.peer.answers == {}
    assert ann.peer.wants
    bench.aside.run()
    ann.peer.take(request, answers[1])
    assert ann.peer.answers[edit.number].code is Code.MADE


def test_a_mission_may_begin_while_its_tree_is_opened(bench):
    answers = []
    bench.trees.exchange(ExchangeRequest("patrol", "ann"), answers.append)
    file = bench.folder / "patrol.xml"
    file.write_text(file.read_text().replace("seconds='2'", "seconds='4'"))
    bench.start()
    bench.aside.run()
    assert answers[0].ticks
    ann = bench.join()
    assert ann.peer.replica.nodes[ann.id("door")]["attributes"]["seconds"] == "4"
    assert ann.set("desk", seconds="3").code is Code.MADE
    assert bench.node("desk").raw_port("seconds") == "3"


def test_edits_of_two_missions_do_not_reach_each_other(tmp_path):
    other = tree_file("other", '<Drive name="home" seconds="1"/>')
    bench = EditingBench(tmp_path)
    (tmp_path / "other.xml").write_text(other)
    ann, bob = bench.join("ann"), bench.join("bob", "other")
    bench.start()
    assert bob.set("home", seconds="2").code is Code.MADE
    assert bench.shown == []
    assert ann.set("desk", seconds="2").code is Code.MADE
    assert bench.shown == [bench.run]


# -- who is there -------------------------------------------------------------------------------


def test_who_is_silent_for_a_while_is_not_there_any_more(bench):
    bench.join("ann")
    bob = bench.join("bob")
    bench.wall += PRESENCE - 1
    bob.catch_up()
    bench.wall += 2
    bench.trees.look_around()
    assert bench.news[-1].editors == ("bob",)
    assert bench.join("").peer.editors == ("bob",)


def test_clocks_apart_by_minutes_do_not_matter(tmp_path, monkeypatch):
    """Each look at a clock is off by up to ten minutes, for editors, executor and its restart."""
    luck, clock = random.Random(1), time.time
    monkeypatch.setattr(time, "time", lambda: clock() + luck.uniform(-600.0, 600.0))
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * time.time()))
    bench = EditingBench(tmp_path)
    bench.start()
    ann, bob = bench.join("ann"), bench.join("bob")
    for number in range(1, 6):
        assert ann.set("desk", seconds=str(number)).code is Code.MADE
        assert bob.set("window", seconds=str(number)).code is Code.MADE
        assert bob.do("undo").code is Code.MADE
    ann.bench = bob.bench = EditingBench(tmp_path)
    assert ann.set("desk", seconds="7").code is Code.MADE
    bob.catch_up()
    shown = bob.peer.replica.nodes
    assert shown == ann.peer.replica.nodes
    assert shown[bob.id("desk")]["attributes"]["seconds"] == "7"
    assert shown[bob.id("window")]["attributes"]["seconds"] == "1"
    assert bob.peer.editors == ("ann", "bob")


def test_names_of_editors_are_checked(bench):
    for name in ("a\nb", "x" * 201):
        answer = bench.ask(ExchangeRequest("patrol", name)).answer
        assert answer.code is Code.REFUSED
    for number in range(MOST_EDITORS + 5):
        bench.ask(ExchangeRequest("patrol", f"e{number}"))
    assert len(bench.news[-1].editors) == MOST_EDITORS


def test_who_may_only_look_is_refused(tmp_path):
    bench = EditingBench(tmp_path, refusal="only looked at")
    ann = bench.join()
    assert ann.set("desk", seconds="3").message == "only looked at"
    assert ann.peer.replica.revision == 0


# -- too much -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_thousand_edits_a_second_are_held_back_and_nobody_else_waits(bench):
    bench.start()
    ann = bench.join("ann")
    edit = json.dumps({"op": "set", "node": ann.id("desk"), "attributes": {"seconds": "3"}})
    bob, answers, done = bench.join("bob"), [], []
    for number in range(1, 10_001):
        bench.wall += 1e-4
        request = ExchangeRequest("patrol", "flood", number, edit)
        bench.trees.exchange(request, answers.append)
        assert len(bench.aside.pieces) <= 1
        if number == 5_000:
            bob.peer.propose(json.loads(edit) | {"attributes": {"seconds": "5"}})
            bench.trees.exchange(bob.peer.request(), done.append)
            for _ in range(6):  # what is under way, one more of the other, and his own
                bench.aside.step()
            assert done[0].answer.code is Code.MADE
    bench.aside.run()
    assert len(answers) == 10_000
    made = [each for each in answers if each.answer.code is Code.MADE]
    held = [each for each in answers if each.answer.code is Code.HELD_BACK]
    assert len(made) <= LIMITS.burst + LIMITS.rate + MOST_IN_LINE
    assert len(made) + len(held) == 10_000
    assert all(each.answer.retry_after > 0 for each in held)


def test_a_large_tree_comes_in_parts_also_if_it_changes_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr(tree_room, "CHUNK", 2000)
    monkeypatch.setattr(tree_room, "MOST_TOLD", 1000)
    leaves = "".join(f'<Drive name="d{n}" seconds="1"/>' for n in range(60))
    text = tree_file("big", f"<Sequence>{leaves}</Sequence>")
    bench = EditingBench(tmp_path, trees=(("big", text),))
    bob = bench.join("bob", "big")
    first = bench.ask(ExchangeRequest("big", "ann"))
    assert len(first.update) == 2000 < first.size
    second = bench.ask(ExchangeRequest("big", "ann", offset=2000))
    assert second.offset == 2000
    bob.set("d59", seconds="2")
    again = bench.ask(ExchangeRequest("big", "ann", offset=2000))
    assert again.offset == 0
    ann = bench.join("ann", "big")
    assert ann.peer.replica.nodes == bob.peer.replica.nodes
    long = "".join(f'<Drive name="e{n}" seconds="1"/>' for n in range(40))
    sequence = bob.id("big/Sequence")
    assert bob.do("replace", node=sequence, xml=f"<Sequence>{long}</Sequence>").code is Code.MADE
    assert bench.news[-1].update == b"", "which is long, so it is asked for"
    ann.peer.hear(bench.news[-1])
    assert ann.peer.is_behind
    ann.catch_up()
    assert ann.peer.replica.nodes == bob.peer.replica.nodes


@pytest.mark.slow
def test_trees_that_nobody_edits_make_room(tmp_path):
    text = tree_file("t", '<Drive name="home" seconds="1"/>')
    names = [f"t{number}" for number in range(MOST_TREES + 1)]
    bench = EditingBench(tmp_path, trees=[(name, text) for name in names])
    for name in names[:-1]:
        bench.join("ann", name).set("home", seconds="2")
    full = bench.ask(ExchangeRequest(names[-1], "ann")).answer
    assert f"{MOST_TREES} trees" in full.message
    bench.wall += PRESENCE + 1
    bench.trees.look_around()
    assert bench.join("ann", names[-1]).peer.problem == ""
    assert bench.join("bob", names[0]).set("home", seconds="3").code is Code.MADE


def test_nothing_is_forgotten_that_is_nowhere_else(tmp_path):
    bench = EditingBench(tmp_path, folder=None)
    ann = bench.join()
    ann.set("desk", seconds="3")
    with pytest.raises(LogicError, match="save the edits of 'patrol' first"):
        bench.trees.forget()
    ann.do("save")
    bench.trees.forget()
    ann.catch_up()
    assert ann.set("desk", seconds="4").code is Code.MADE


@pytest.mark.parametrize("request_", [
    ExchangeRequest("patrol", "ann", state=b"\xf0\x96\x83\x11\xc8"),
    ExchangeRequest("patrol", "ann", state=b"\x00" * 2000),
    ExchangeRequest("patrol", "ann", 1, "{" * 300_000),
    ExchangeRequest("patrol", "ann", 1, "[" * 100_000),
    ExchangeRequest("../patrol", "ann"),
    ExchangeRequest("patrol", "", 1, "{}"),
    ExchangeRequest("patrol", "ann", 1, ""),
    ExchangeRequest("patrol", "ann", 1, '{"op": "dance"}'),
])  # fmt: skip
def test_garbage_is_refused_with_a_sentence(bench, request_):
    answer = bench.ask(request_).answer
    assert answer.code is Code.REFUSED
    assert answer.message


# -- a bad network ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_editors_over_a_bad_network_come_to_the_same_tree(tmp_path, seed):
    bench, network = EditingBench(tmp_path), Network(seed)
    bench.start()
    luck, editors = network.luck, [FarEditor(bench, network, name) for name in ("ann", "bob", "cy")]
    for step in range(200):
        editor = luck.choice(editors)
        nodes = [id for id, node in editor.peer.replica.nodes.items() if node["tag"] == "Drive"]
        if nodes and luck.random() < 0.1:
            editor.peer.propose(_some_edit(luck, editor.peer.replica, nodes, step))
        if luck.random() < 0.5:
            editor.ask()
        editor.listen()
        network.step()
        if bench.aside.pieces and luck.random() < 0.7:
            bench.aside.step()
        bench.tick()
        if step == 100:  # it is started again in the middle
            bench = EditingBench(tmp_path)
            for each in editors:
                each.bench, each.heard = bench, 0
            bench.start()
    network.mend()
    for _ in range(3000):
        for editor in editors:
            if editor.peer.wants:
                editor.ask()
            editor.listen()
        network.step()
        bench.aside.run()
        bench.tick()
        if not any(editor.peer.wants for editor in editors) and not network.under_way:
            break
    states = [editor.peer.replica.nodes for editor in editors]
    assert states[0] == states[1] == states[2] != {}
    for editor in editors:
        for answer in editor.peer.answers.values():
            assert answer.code is not Code.REFUSED or answer.message
    if bench.mission.is_final:
        bench.start()
    drives = [node for node in bench.run.tree.nodes() if node.registration_id() == "Drive"]
    shown = [each["attributes"] for each in states[0].values() if each["tag"] == "Drive"]
    assert {node.name: node.raw_port("seconds") for node in drives} == {
        each["name"]: each["seconds"] for each in shown
    }


def _some_edit(luck, replica, nodes, step):
    round_ = replica.find("round")
    kind = luck.randrange(4)
    if kind == 0:
        return {"op": "insert", "parent": round_, "xml": f'<Drive name="x{step}" seconds="1"/>'}
    if kind == 1:
        return {"op": "move", "node": luck.choice(nodes), "parent": round_}
    if kind == 2 and len(nodes) > 3:
        return {"op": "remove", "node": luck.choice(nodes)}
    return {"op": "set", "node": luck.choice(nodes), "attributes": {"seconds": str(step)}}
