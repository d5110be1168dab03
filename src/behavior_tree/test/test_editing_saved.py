# SPDX-License-Identifier: Apache-2.0
"""Edits of a live tree go back into the files it was read from, and nothing else changes there."""

import codecs
import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_kit import Rig

from behavior_tree import InputPort, LoadError, LogicError, NodeStatus, write_tree_to_xml
from behavior_tree.editing import TreeEditor

MAIN = b"""<?xml version="1.0" encoding="UTF-8"?>
<!-- The mission. -->
<root BTCPP_format="4" main_tree_to_execute="Main">
  <include path="lib.xml"/>
  <BehaviorTree ID="Main">
    <!-- tries -->
    <Fallback name='top'>
      <A   name="a"/>  <!-- first -->
      <Control ID="Sequence" name="s">
        <B name="b" level="2"/>
        <SubTree ID="Lib" name="l1" p="{q}"/>
      </Control>
    </Fallback>
  </BehaviorTree>
</root>
"""
LIB = b"""<root BTCPP_format="4">
\t<BehaviorTree ID="Lib"><Inverter name="inv"><A name="la"/></Inverter></BehaviorTree>
</root>
"""


def opened(folder, main=MAIN, lib=LIB):
    (folder / "main.xml").write_bytes(main)
    (folder / "lib.xml").write_bytes(lib)
    rig = Rig(A="S", C="S")
    rig.factory.register_simple_action(
        "B",
        lambda node: NodeStatus.SUCCESS,
        [InputPort("level", int, 1), InputPort("free", str, None)],
    )
    tree = rig.factory.create_tree_from_file(folder / "main.xml")
    return rig, tree, TreeEditor(tree, rig.factory)


def difference(before, after):
    lines = difflib.ndiff(before.decode().splitlines(), after.decode().splitlines())
    return [line for line in lines if line[0] in "+-"]


def test_each_kind_of_change_is_saved(tmp_path):
    _, _, editor = opened(tmp_path)
    assert editor.save() == []
    editor.set_port("b", "level", "{deep}")
    editor.set_port("b", "free", "x")
    editor.insert("s", 1, '<Repeat num_cycles="2">\n  <C name="c"/>\n</Repeat>')
    editor.rename("l1", "lib")
    editor.move("a", "s", 0)
    editor.replace("lib/inv", '<ForceSuccess name="inv"><A name="la"/></ForceSuccess>')
    assert editor.save() == [tmp_path / "main.xml", tmp_path / "lib.xml"]
    assert difference(MAIN, (tmp_path / "main.xml").read_bytes()) == [
        '-       <A   name="a"/>  <!-- first -->',
        "+       <!-- first -->",
        '+         <A   name="a"/>',
        '-         <B name="b" level="2"/>',
        '+         <B name="b" level="{deep}" free="x"/>',
        '+         <Repeat num_cycles="2">',
        '+           <C name="c"/>',
        "+         </Repeat>",
        '-         <SubTree ID="Lib" name="l1" p="{q}"/>',
        '+         <SubTree ID="Lib" name="lib" p="{q}"/>',
    ]
    assert (
        b'"Lib"><ForceSuccess name="inv"><A name="la"/></Force'
        in (tmp_path / "lib.xml").read_bytes()
    )
    while editor.undo():
        pass
    assert len(editor.save()) == 2
    assert (tmp_path / "main.xml").read_bytes() == MAIN
    assert (tmp_path / "lib.xml").read_bytes() == LIB
    while editor.redo():
        pass
    assert len(editor.save()) == 2


def test_what_cannot_be_saved_is_refused(tmp_path):
    twice = MAIN.replace(b"</Control>", b'<SubTree ID="Lib" name="l2"/></Control>')
    _, _, editor = opened(tmp_path, twice)
    editor.rename("l1/la", "other")
    with pytest.raises(LogicError, match=r"'l1' and 'l2' are both tree 'Lib'"):
        editor.save()
    editor.rename("l2/la", "other")
    assert editor.save() == [tmp_path / "lib.xml"]
    rig = Rig(A="S")
    editor = TreeEditor(rig.tree('<A name="a"/>'), rig.factory)
    editor.rename("a", "z")
    assert b'<A name="z"/>' in editor.documents()["<text>"]
    with pytest.raises(LogicError, match=r"take documents\(\)"):
        editor.save()


def test_a_newer_file_is_merged_or_refused(tmp_path):
    _, _, editor = opened(tmp_path)
    assert editor.modified() == []
    editor.set_port("b", "level", "3")
    assert editor.modified() == [tmp_path / "main.xml"]
    newer = MAIN.replace(b"first", b"1st").replace(b"'top'", b"'tip'")
    (tmp_path / "main.xml").write_bytes(newer)
    assert editor.save() == [tmp_path / "main.xml"]
    assert (tmp_path / "main.xml").read_bytes() == newer.replace(b'"2"', b'"3"')
    assert editor.modified() == []
    editor.set_port("b", "level", "4")
    assert editor.save() == [tmp_path / "main.xml"]
    assert (tmp_path / "main.xml").read_bytes() == newer.replace(b'"2"', b'"4"')
    clash = newer.replace(b'"2"', b'"9"')
    (tmp_path / "main.xml").write_bytes(clash)
    editor.undo()
    with pytest.raises(LogicError, match=r"\[level\] of 'Main/top/s/b' is '3' here and '9' on"):
        editor.save()
    (tmp_path / "main.xml").write_bytes(MAIN.replace(b'"2"', b'"4"').replace(b"<A ", b"<No "))
    with pytest.raises(LoadError, match="No"):
        editor.save()


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_marks_and_line_ends_stay(tmp_path, mark, line_end):
    main = mark + MAIN.replace(b"\n", line_end)
    _, _, editor = opened(tmp_path, main)
    editor.rename("b", "\u00e4")
    editor.insert("s", 2, "<Sequence>\n  <A/>\n</Sequence>")
    editor.remove("a")
    editor.save()
    after = (tmp_path / "main.xml").read_bytes()
    assert after.startswith(mark + b"<?xml")
    assert after.count(b"\n") == after.count(line_end) == MAIN.count(b"\n") + 3
    assert '<B name="\u00e4" level="2"/>'.encode() in after
    while editor.undo():
        pass
    editor.save()
    assert (tmp_path / "main.xml").read_bytes() == main


def test_an_old_file_is_not_mixed_with_the_new_format(tmp_path):
    old = MAIN.replace(b'BTCPP_format="4"', b'BTCPP_format="3"')
    _, _, editor = opened(tmp_path, old)
    editor.rename("b", "z")
    with pytest.raises(LogicError, match="`behavior tree migrate`"):
        editor.save()


def plain(tree):
    return write_tree_to_xml(tree, metadata=False)


FRAGMENTS = (
    "<C/>",
    '<Sequence name="n">\n  <A/> <!-- x -->\n  <Inverter><C name="k"/></Inverter>\n</Sequence>',
    '<B level="4" _skipIf="1 &lt; 0"/>',
)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 9)), max_size=10))
def test_loaded_again_the_files_give_the_tree_that_was_edited(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("trees")
    _, tree, editor = opened(folder)
    for kind, first, second in steps:
        nodes = list(tree.nodes())
        one, other = nodes[first % len(nodes)], nodes[second % len(nodes)]
        try:
            if kind == 0:
                editor.insert(one, second, FRAGMENTS[first % 3])
            elif kind == 1:
                editor.remove(one)
            elif kind == 2:
                editor.move(one, other, first)
            elif kind == 3:
                editor.replace(one, FRAGMENTS[second % 3])
            elif kind == 4:
                editor.rename(one, f"n{first}{second}")
            elif kind == 5:
                editor.set_port(one, ("level", "free")[second % 2], str(first))
            else:
                editor.undo()
        except (LoadError, LogicError):
            continue
    editor.save()
    _, again, _ = opened(
        folder, (folder / "main.xml").read_bytes(), (folder / "lib.xml").read_bytes()
    )
    assert plain(again) == plain(tree)
    before = {name: (folder / name).read_bytes() for name in ("main.xml", "lib.xml")}
    assert before["main.xml"].startswith(MAIN[: MAIN.index(b"<include")])
    undone = 0
    while editor.undo():
        undone += 1
    editor.save()
    assert (folder / "main.xml").read_bytes() == MAIN
    assert (folder / "lib.xml").read_bytes() == LIB
    for _ in range(undone):
        editor.redo()
    editor.save()
    assert {name: (folder / name).read_bytes() for name in before} == before
