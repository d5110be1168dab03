# SPDX-License-Identifier: Apache-2.0
"""Edits of an XML text: what is meant changes, every other byte stays."""

import codecs
import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import LoadError, LogicError
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.edit import XmlEditor

FILE = b"""<?xml version="1.0"?>
<!-- head -->
<root BTCPP_format="4">
   <BehaviorTree ID='M'>
      <Sequence  name = 'a>b'
                 _skipIf="1"> <!-- why -->
         <!-- speaks of A -->
         <A/>  <!-- speaks of A too -->
         <B x="1"
            y='2'/>
         <Inv/>
         <One> <C/> <D/></One>
      </Sequence>
   </BehaviorTree>
</root>
"""
S = (0, 0)


def edited(change, data=FILE):
    """Lines taken out and put in by a change, which is undone and redone besides."""
    editor = XmlEditor(data)
    change(editor)
    after = editor.data
    assert editor.undo()
    assert editor.data == data
    assert not editor.undo()
    assert editor.redo()
    assert not editor.redo()
    assert editor.data == after
    lines = difflib.ndiff(
        data.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True)
    )
    return [line.rstrip("\n") for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda e: e.insert(S, 0, "<X/>"), ["+          <X/>"]),
        (
            lambda e: e.insert(S, 1, "<X>\n  <Y/>\n</X>"),
            ["+          <X>", "+            <Y/>", "+          </X>"],
        ),
        (lambda e: e.insert(S, 4, "<X/>"), ["+          <X/>"]),
        (
            lambda e: e.insert((0, 0, 2), 0, "<X/>"),
            ["-          <Inv/>", "+          <Inv>", "+             <X/>", "+          </Inv>"],
        ),
        (
            lambda e: e.insert((0, 0, 3), 1, "<X/>"),
            ["-          <One> <C/> <D/></One>", "+          <One> <C/> <X/> <D/></One>"],
        ),
        (
            lambda e: e.insert((0, 0, 3), 2, "<X/>"),
            ["-          <One> <C/> <D/></One>", "+          <One> <C/> <D/> <X/></One>"],
        ),
        (lambda e: e.remove((0, 0, 1)), ['-          <B x="1"', "-             y='2'/>"]),
        (
            lambda e: e.remove((0, 0, 0)),
            ["-          <A/>  <!-- speaks of A too -->", "+          <!-- speaks of A too -->"],
        ),
        (
            lambda e: e.remove((0, 0, 3, 1)),
            ["-          <One> <C/> <D/></One>", "+          <One> <C/></One>"],
        ),
        (lambda e: e.move((0, 0, 2), S, 0), ["+          <Inv/>", "-          <Inv/>"]),
        (
            lambda e: e.replace((0, 0, 2), "<Inv>\n<X/>\n</Inv>"),
            ["-          <Inv/>", "+          <Inv>", "+          <X/>", "+          </Inv>"],
        ),
        (
            lambda e: e.set_attribute((0, 0, 1), "y", "a\"b'<&"),
            ["-             y='2'/>", "+             y='a\"b&apos;&lt;&amp;'/>"],
        ),
        (
            lambda e: e.set_attribute((0, 0, 1), "z", "3"),
            ["-             y='2'/>", "+             y='2'", "+             z='3'/>"],
        ),
        (
            lambda e: e.set_attribute((0, 0, 2), "z", "3\n"),
            ["-          <Inv/>", '+          <Inv z="3&#10;"/>'],
        ),
        (
            lambda e: e.remove_attribute((0, 0, 1), "y"),
            ['-          <B x="1"', '+          <B x="1"/>', "-             y='2'/>"],
        ),
        (
            lambda e: e.rename((0, 0, 3), "Two"),
            ["-          <One> <C/> <D/></One>", "+          <Two> <C/> <D/></Two>"],
        ),
    ],
)
def test_one_change(change, difference):
    assert edited(change) == difference


def test_a_comment_above_stays_with_its_node():
    editor = XmlEditor(FILE)
    editor.insert(S, 0, "<X/>")
    assert b"<X/>\n         <!-- speaks of A -->\n         <A/>" in editor.data
    stacked = XmlEditor(
        FILE.replace(b"<!-- speaks of A -->", b"<!-- one -->\n         <!-- two -->")
    )
    stacked.insert(S, 0, "<X/>")
    assert b"<X/>\n         <!-- one -->\n         <!-- two -->\n         <A/>" in stacked.data
    editor.insert(S, 2, "<Z/>")
    assert b"<!-- speaks of A too -->\n         <Z/>\n" in editor.data


def test_line_ends_marks_and_one_line_files():
    dos = codecs.BOM_UTF8 + FILE.replace(b"\n", b"\r\n")
    editor = XmlEditor(dos)
    editor.insert(S, 0, "<X>\n  <Y/>\n</X>")
    assert editor.data.startswith(codecs.BOM_UTF8)
    assert editor.data.count(b"\n") == editor.data.count(b"\r\n") == FILE.count(b"\n") + 3
    editor = XmlEditor(b"<a><b/></a>")
    editor.insert((0,), 0, "<c/>")
    editor.insert((), 1, "<d/>")
    assert editor.data == b"<a><b><c/></b><d/></a>"


def test_what_stays_of_a_value_keeps_its_spelling():
    editor = XmlEditor(b"""<a x='b &gt; 1;\r\n\tc := &quot;d&quot;; b&#10;&#x41;'/>""")
    editor.set_attribute((), "x", editor.root.attributes["x"].replace("b", "<n>"))
    assert editor.data == (
        b"""<a x='&lt;n> &gt; 1;\r\n\tc := &quot;d&quot;; &lt;n>&#10;&#x41;'/>"""
    )
    editor.set_attribute((), "x", "it's")
    assert editor.root.attributes["x"] == "it's"


def test_a_processing_instruction_is_moved_whole():
    note = b"<?note it's for\n   another program?>"
    editor = XmlEditor(b"<r>\n  <A>\n    <B>" + note + b"</B>\n  </A>\n  <C/>\n</r>")
    editor.move((0,), (), 1)
    assert editor.data == b"<r>\n  <C/>\n  <A>\n    <B>" + note + b"</B>\n  </A>\n</r>"


def test_what_is_refused_changes_nothing():
    editor = XmlEditor(FILE)
    for change in (
        lambda: editor.insert(S, 9, "<X/>"),
        lambda: editor.insert(S, 0, "<X>"),
        lambda: editor.insert(S, 0, "<X/><Y/>"),
        lambda: editor.insert((7,), 0, "<X/>"),
        lambda: editor.remove(()),
        lambda: editor.move(S, (0, 0, 2), 0),
        lambda: editor.set_attribute(S, "a b", "1"),
        lambda: editor.set_attribute(S, "a", "\0"),
        lambda: editor.rename((0, 0, 0), "<"),
    ):
        with pytest.raises((LogicError, LoadError)):
            change()
    assert editor.data == FILE
    assert not editor.undo()
    with pytest.raises(LoadError, match="save the file as UTF-8"):
        XmlEditor(b'<?xml version="1.0" encoding="ISO-8859-1"?><a/>')


def shape(element):
    return element.tag, dict(element.attributes), [shape(child) for child in element.children]


def at(tree, address):
    for index in address:
        tree = tree[2][index]
    return tree


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_text_and_model_go_together_and_undo_gives_the_same_bytes(data):
    editor = XmlEditor(
        data.draw(st.sampled_from([FILE, FILE.replace(b"\n", b"\r\n"), b"<a><b c='1'/> <d/></a>"]))
    )
    start, states = editor.data, [editor.data]
    for _ in range(data.draw(st.integers(1, 6))):
        model = shape(editor.root)
        addresses = [()]
        for address in addresses:
            addresses += [(*address, i) for i in range(len(at(model, address)[2]))]
        where = data.draw(st.sampled_from(addresses))
        node = at(model, where)
        kind = data.draw(
            st.sampled_from(["insert", "remove", "move", "set", "unset", "rename", "replace"])
        )
        value = data.draw(
            st.text(
                st.characters(
                    codec="utf-8",
                    exclude_categories=("Cc", "Cs"),
                    exclude_characters="\ufffe\uffff",
                ),
                max_size=4,
            )
        )
        try:
            if kind == "insert":
                index = data.draw(st.integers(0, len(node[2])))
                node[2].insert(index, ("new", {"v": "1 2"}, [("in", {}, [])]))
                editor.insert(where, index, "<new v='1 2'>\n  <!-- c --> <in/>\n</new>")
            elif kind == "remove" and where:
                at(model, where[:-1])[2].pop(where[-1])
                editor.remove(where)
            elif kind == "move" and where:
                target = data.draw(
                    st.sampled_from([a for a in addresses if a[: len(where)] != where])
                )
                parent = at(model, target)
                at(model, where[:-1])[2].pop(where[-1])
                index = data.draw(st.integers(0, len(parent[2])))
                parent[2].insert(index, node)
                editor.move(where, target, index)
            elif kind == "set":
                name = data.draw(st.sampled_from(["c", "name", "q"]))
                node[1][name] = value
                editor.set_attribute(where, name, value)
            elif kind == "unset":
                name = data.draw(st.sampled_from(sorted(node[1]) or ["q"]))
                node[1].pop(name, None)
                editor.remove_attribute(where, name)
            elif kind == "rename":
                editor.rename(where, "other")
                model = None
            elif where:
                at(model, where[:-1])[2][where[-1]] = ("r", {}, [])
                editor.replace(where, "<r/>")
        finally:
            assert parse_xml(editor.data, "f")
        if model is not None:
            assert shape(editor.root) == model
        if editor.data != states[-1]:
            states.append(editor.data)
    for state in reversed(states[:-1]):
        assert editor.undo()
        assert editor.data == state
    assert editor.data == start
