# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from behavior_bringup.tree_view import TreeLine, tree_html, tree_lines

XML = """<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main">
    <!-- a comment -->
    <Sequence name="all &lt;steps&gt;" _uid="1">
      <Action ID="Pick" _uid="2"/>
      <SubTree ID="inner" _uid="3"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="inner"><AlwaysSuccess _uid="4"/></BehaviorTree>
</root>"""


def test_lines_follow_the_tree_and_its_subtrees() -> None:
    assert tree_lines(XML) == [
        TreeLine(0, 'Sequence "all <steps>"', 1),
        TreeLine(1, "Pick", 2),
        TreeLine(1, "SubTree inner", 3),
        TreeLine(2, "AlwaysSuccess", 4),
    ]


def test_a_subtree_that_holds_itself_ends() -> None:
    xml = '<root><BehaviorTree ID="a"><SubTree ID="a"/></BehaviorTree></root>'
    assert len(tree_lines(xml)) == 1


def test_texts_that_are_no_tree_give_no_lines() -> None:
    for text in ("", "<root", "<root/>", '<root main_tree_to_execute="x"/>'):
        assert tree_lines(text) == []
    assert "no tree runs" in tree_html([], {})


def test_statuses_colour_the_nodes_and_names_are_escaped() -> None:
    page = tree_html(tree_lines(XML), {1: 1, 2: 2, 4: 3})
    assert "▶ Sequence &quot;all &lt;steps&gt;&quot;" in page
    assert "✔ Pick" in page
    assert "○ SubTree inner" in page
    assert "✘ AlwaysSuccess" in page


ANSWERS = """<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence _uid="1">
  <Fallback _uid="2"><IsHeld _uid="3"/><Pick _uid="4"/></Fallback><Place _uid="5"/>
</Sequence></BehaviorTree></root>"""


def colour(page: str, node: str) -> str:
    (row,) = (row for row in page.split("<div") if node in row)
    return row.partition("color:")[2].partition(";")[0]


def test_a_condition_that_does_not_hold_is_no_alarm() -> None:
    lines = tree_lines(ANSWERS)
    normal = tree_html(lines, {1: 1, 2: 2, 3: 3, 4: 2, 5: 1})
    failed = tree_html(lines, {1: 3, 2: 2, 3: 3, 4: 2, 5: 3})
    assert colour(normal, "IsHeld") == colour(failed, "IsHeld")
    alarm = colour(failed, "Place")
    assert colour(failed, "Sequence") == alarm != colour(failed, "IsHeld")
    assert "✘ IsHeld" in normal


def test_a_tree_that_was_ended_runs_no_more() -> None:
    page = tree_html(tree_lines(ANSWERS), {1: 1, 2: 2, 5: 1}, halted=True)
    assert "▶" not in page
    assert "■ Place" in page
    assert "✔ Fallback" in page
