# SPDX-License-Identifier: Apache-2.0
"""The schedule of a tree is what its run turns out to be, and never worse than one by one."""

import json
from xml.etree import ElementTree

import pytest
from authoring_kit import SUCCESS, Rig, act, concurrent
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_kit import xml

from behavior_tree.cli import main
from behavior_tree.schedule import (
    Duration,
    DurationLog,
    Outlook,
    make_schedule,
    timeline_svg,
    timeline_text,
)


def planned(rig, tree):
    """A schedule by the times that the leaves will take."""
    return make_schedule(tree, lambda node: node.get_input_double("seconds") or 0.0)


def bars(schedule):
    return {str(bar.node.name): (bar.begin, bar.end) for bar in schedule.bars}


# -- the course ------------------------------------------------------------------------------------

COURSES = {
    "sequence": (f"<Sequence>{act('a', 1)}{act('b', 2)}</Sequence>", 3, "a b"),
    "layered": (
        concurrent(act("a", 1), act("b", 5, after="beginning"), act("c", 1, after="a;b"), act("d")),
        7,
        "b c d",
    ),
    "parallel": (f"<ParallelAll>{act('a', 1)}{act('b', 2)}</ParallelAll>", 2, "b"),
    "one is enough": (
        f'<Parallel success_count="1">{act("a", 3)}<Sequence>{act("b", 2)}{act("c", 2)}</Sequence>'
        "</Parallel>",
        3,
        "a",
    ),
    "fallback": (f"<Fallback><AlwaysFailure/>{act('a', 1)}{act('b', 9)}</Fallback>", 1, "a"),
    "repeat": (f'<Repeat num_cycles="3" name="r">{act("a", 2)}</Repeat>', 6, "r"),
    "delay": (f'<Delay name="d" delay_msec="500">{act("a", 1)}</Delay>', 1.5, "d a"),
    "retry": (f'<RetryUntilSuccessful num_attempts="3">{act("a")}</RetryUntilSuccessful>', 1, "a"),
    "catch": (f"<TryCatch>{act('a', 1)}{act('b', 1)}{act('c', 9)}</TryCatch>", 2, "a b"),
    "if": (
        f'<IfThenElse><ScriptCondition code="true"/>{act("a", 1)}{act("b", 2)}</IfThenElse>',
        *(1, "a"),
    ),
    "choice": (
        f'<Switch2 variable="1" case_1="1" case_2="2">{act("a", 4)}{act("b", 2)}{act("c", 3)}'
        "</Switch2>",
        *(4, "a"),
    ),
}


@pytest.mark.parametrize("what", COURSES)
def test_the_course_and_its_critical_path(what):
    body, end, critical = COURSES[what]
    rig = Rig()
    tree = rig.tree(body)
    schedule = planned(rig, tree)
    assert schedule.end == end
    assert " ".join(str(bar.node.name) for bar in schedule.critical) == critical
    assert all(bar.end <= end for bar in schedule.bars)
    assert rig.result(body) == ("SUCCESS", end)


def test_subtrees_are_gone_into():
    rig = Rig()
    more = f'<BehaviorTree ID="Sub">{act("in", 2)}</BehaviorTree>'
    tree = rig.tree(concurrent('<SubTree ID="Sub"/>', act("out", 1)), more)
    assert bars(planned(rig, tree)) == {"in": (0, 2), "out": (2, 3)}


def test_a_published_behaviour_of_a_humanoid():
    """A step, two hands and a chest, as IHMC has published it for its Valkyrie."""
    body = concurrent(
        act("step forward", 7),
        act("right hand", 2),
        act("wait", 1, after="step forward"),
        act("left hand", 2),
        act("chest forward", 4, after="wait"),
        act("chest home", 4),
        act("left home", 4, after="chest forward"),
        act("right home", 4, after="chest forward"),
    )
    rig = Rig()
    schedule = planned(rig, rig.tree(body))
    assert bars(schedule) == {
        "step forward": (0, 7),
        "right hand": (7, 9),
        "wait": (7, 8),
        "left hand": (8, 10),
        "chest forward": (8, 12),
        "chest home": (12, 16),
        "left home": (12, 16),
        "right home": (12, 16),
    }
    assert (schedule.end, schedule.sequential) == (16, 28)
    assert rig.result(body) == ("SUCCESS", 16)


@st.composite
def trees(draw, depth=2):
    """Trees whose leaves all succeed, with any concurrency."""
    counter = iter(range(1000))

    def branch(levels):
        kind = draw(
            st.sampled_from(["act", "list", "sequence", "all", "try"] if levels else ["act"])
        )
        if kind == "act":
            return act(f"n{next(counter)}", draw(st.integers(0, 5)))
        children = [branch(levels - 1) for _ in range(draw(st.integers(1, 4)))]
        if kind == "list":
            for index in range(len(children)):
                after = draw(st.sampled_from(["previous", "beginning", "other"]))
                others = [f"s{place}" for place in range(index)]
                if after == "other" and others:
                    after = ";".join(
                        draw(st.lists(st.sampled_from(others), min_size=1, unique=True))
                    )
                after = "previous" if after == "other" else after
                child = f'<Step name="s{index}" execute_after="{after}">{children[index]}</Step>'
                children[index] = child
        tag = {
            "list": "ConcurrentSequence",
            "sequence": "Sequence",
            "all": "ParallelAll",
            "try": "Fallback",
        }[kind]
        return f"<{tag}>{''.join(children)}</{tag}>"

    return branch(depth)


@settings(max_examples=250, deadline=None)
@given(trees())
def test_a_run_takes_what_was_scheduled_and_never_more_than_one_by_one(body):
    rig = Rig()
    tree = rig.tree(body)
    schedule = planned(rig, tree)
    assert rig.run(tree) is SUCCESS
    if "<Fallback>" in body:  # of which a run takes the first child, even if it takes no time
        assert rig.clock.now - 100 <= schedule.end
        return
    assert rig.clock.now - 100 == schedule.end
    assert rig.times("+") == {name: begin for name, (begin, _) in bars(schedule).items()}
    assert rig.times("-") == {name: end for name, (_, end) in bars(schedule).items()}
    assert schedule.end <= schedule.sequential
    assert sum(bar.end - bar.begin for bar in schedule.critical) == schedule.end
    for before, after in zip(schedule.critical, schedule.critical[1:], strict=False):
        assert before.end == after.begin


# -- durations -------------------------------------------------------------------------------------


def test_what_a_duration_is():
    assert Duration(1.0).median is None
    known = Duration(None, tuple(range(1, 101)))
    assert (known.median, known.most, known.last) == (50.5, 95, 100)
    assert Duration(2.0, (3.0,)).most == 3.0


def test_leaves_tell_their_nominal_duration():
    rig = Rig()
    body = (
        '<Sequence><Sleep name="s" msec="1500"/><AlwaysSuccess name="i"/><Act name="a"/>'
        '<Act name="b"/><ScriptCondition name="c" code="true"/><Sleep name="key" msec="{k}"/>'
        "</Sequence>"
    )
    tree = rig.tree(body)
    tree.node_by_path("b").nominal_duration = lambda: 4
    outlook = Outlook(tree)
    told = {str(bar.node.name): outlook.duration(bar.node).nominal for bar in outlook.nominal.bars}
    assert told == {"s": 1.5, "i": 0, "a": None, "b": 4, "c": 0, "key": None}
    assert {str(bar.node.name) for bar in outlook.nominal.unknown} == {"a", "key"}
    told = Outlook(tree, assumed={"Act": 2.0, "b": 3.0})
    assert told.predicted.end == 1.5 + 2 + 3


def test_what_was_measured_predicts():
    rig = Rig()
    body = concurrent('<Act name="a" seconds="{a}"/>', act("b", 2, after="beginning"))
    tree = rig.tree(body)
    with DurationLog(tree) as log:
        for seconds in (1.0, 3.0, 5.0):
            tree.root_blackboard().set("a", seconds)
            assert rig.run(tree) is SUCCESS
        tree.tick_exactly_once()
        rig.clock.now += 0.5
        tree.halt_tree()  # does not count
    rig.run(tree)
    assert log.durations["a"] == [1.0, 3.0, 5.0]
    outlook = Outlook(tree, log.durations, {"a": 1.5})
    assert (outlook.nominal.end, outlook.predicted.end) == (1.5, 3.0)
    assert (outlook.pessimistic.end, outlook.measured) == (5.0, 5.0)
    text = "\n".join(timeline_text(outlook))
    assert "with every leaf at its 95 %: 5.000 s" in text
    assert "measured the last time 5.000 s" in text


# -- pictures --------------------------------------------------------------------------------------

DEMO = (
    '<ConcurrentSequence><Act name="walk"/><Step execute_after="beginning">'
    '<Sleep name="wait" msec="2500"/></Step><Act name="arm"/><Act name="odd &lt;"/>'
    "</ConcurrentSequence>"
)
MODEL = '<TreeNodesModel><Action ID="Act"/></TreeNodesModel>'
TEXT = """\
                       begin     end nominal
walk                   0.000   7.600   7.600  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
wait                   0.000   2.500   2.500  ───────────
arm                    2.500   4.600   2.100             ────────
odd <                  4.600   4.600       -                     ?

predicted 7.600 s, one after the other 12.200 s (-38%)
the end waits for: walk
nobody knows how long these take, they count as nothing: odd <
"""


def test_the_command_draws_a_timeline(tmp_path, capsys):
    file, picture = tmp_path / "demo.xml", tmp_path / "demo.svg"
    file.write_text(xml(DEMO, MODEL))
    arguments = ["schedule", str(file), "--nominal", "walk=7.6", "--nominal", "arm=2.1"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == TEXT
    assert main([*arguments, "--svg", str(picture)]) == 0
    drawn = ElementTree.parse(picture).getroot()
    tips = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert tips[0] == "walk: 0.000 s to 7.600 s"
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["predicted"], told["critical"]) == (7.6, ["walk"])
    assert [leaf["path"] for leaf in told["leaves"] if not leaf["known"]] == ["odd <"]


def test_the_command_learns_from_logs(tmp_path, capsys):
    file, log = tmp_path / "demo.xml", tmp_path / "run.btlog"
    file.write_text(xml('<Sequence name="all"><Sleep name="s" msec="30"/></Sequence>'))
    assert main(["run", str(file), "--btlog", str(log)]) == 0
    capsys.readouterr()
    assert main(["schedule", str(file), "--history", str(log), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (leaf,) = told["leaves"]
    assert leaf["nominal"] == 0.03
    assert leaf["last"] == leaf["median"] == leaf["percentile_95"] >= 0.03
    assert told["measured"] >= leaf["last"]


@pytest.mark.parametrize("wrong", ["walk", "walk=", "=3", "walk=-1", "walk=inf"])
def test_wrong_durations_are_refused(wrong, tmp_path, capsys):
    file = tmp_path / "demo.xml"
    file.write_text(xml(DEMO, MODEL))
    with pytest.raises(SystemExit):
        main(["schedule", str(file), "--nominal", wrong])
    assert "argument --nominal: must" in capsys.readouterr().err


def test_a_tree_that_takes_no_time_has_a_picture():
    rig = Rig()
    outlook = Outlook(rig.tree("<AlwaysSuccess/>"))
    assert timeline_text(outlook)[-1] == "predicted 0.000 s, one after the other 0.000 s"
    assert timeline_svg(outlook, "nothing").startswith("<?xml")
