# SPDX-License-Identifier: Apache-2.0
"""Files that are edited: what is saved, what is noticed on disk, what is refused."""

import difflib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import BehaviorTreeFactory, LoadError, LogicError
from behavior_tree.editing import TreeFiles, rename_tree
from behavior_tree.stand_ins import make_factory

TREES = Path(__file__).resolve().parents[4] / "trees"
MAIN = b"""<?xml version="1.0"?>
<root BTCPP_format="4" main_tree_to_execute="Main">\r
  <include path='lib.xml'/>\r
  <!-- what it does -->\r
  <BehaviorTree ID="Main">\r
    <Sequence   name='s'>\r
      <Sleep msec="5" name="nap"/> <!-- short -->\r
      <SubTree ID="Lib"/>\r
    </Sequence>\r
  </BehaviorTree>\r
</root>\r
"""
LIB = b"""<root BTCPP_format="4">
\t<BehaviorTree ID="Lib"><AlwaysSuccess/></BehaviorTree>
</root>"""


def opened(folder):
    (folder / "main.xml").write_bytes(MAIN)
    (folder / "lib.xml").write_bytes(LIB)
    return TreeFiles(folder / "main.xml", BehaviorTreeFactory())


def nap(files, msec):
    files.change(lambda e: e[files.path].set_attribute((1, 0, 0), "msec", msec))


def changed_lines(before, after):
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return sum(line[0] in "+-" for line in lines)


def test_modified_marks_follow_edits_undo_and_saving(tmp_path):
    files = opened(tmp_path)
    main, lib = tmp_path / "main.xml", tmp_path / "lib.xml"
    assert (files.modified, files.save(), files.undo(), files.redo()) == ([], [], False, False)
    nap(files, "7")
    assert files.modified == [main]
    files.change(lambda e: e[lib].replace((0, 0), "<AlwaysFailure/>"))
    assert files.modified == [lib, main]
    assert files.undo()
    assert files.modified == [main]
    assert files.redo()
    assert files.save() == [lib, main]
    assert files.modified == []
    assert main.read_bytes() == MAIN.replace(b'"5"', b'"7"')
    assert lib.read_bytes() == LIB.replace(b"Success", b"Failure")
    assert files.undo()
    assert files.undo()
    assert files.modified == [lib, main]
    files.save()
    assert (main.read_bytes(), lib.read_bytes()) == (MAIN, LIB)


def test_an_edit_that_would_not_load_is_refused(tmp_path):
    files = opened(tmp_path)
    for edit in (
        lambda e: e[tmp_path / "lib.xml"].set_attribute((0,), "ID", "Other"),
        lambda e: e[files.path].insert((1, 0), 0, "<Nonsense/>"),
        lambda e: e[files.path].set_attribute((1, 0, 0), "msec", "soon"),
    ):
        with pytest.raises(LoadError):
            files.change(edit)
        assert files.modified == []
        assert not files.undo()
    (tmp_path / "lib.xml").write_bytes(LIB.replace(b"AlwaysSuccess", b"Nonsense"))
    with pytest.raises(LoadError, match="Nonsense"):
        TreeFiles(files.path, BehaviorTreeFactory())


def test_a_newer_file_is_noticed_and_merged(tmp_path):
    files = opened(tmp_path)
    newer = MAIN.replace(b"short", b"very short").replace(b"'s'", b"'t'")
    nap(files, "7")
    files.path.write_bytes(newer)
    assert files.changed_on_disk() == [files.path]
    assert files.refresh() == [files.path]
    assert files.modified == [files.path]
    assert files.changed_on_disk() == []
    assert not files.undo(), "it would take back the others' edit, too"
    assert files.save() == [files.path]
    assert files.path.read_bytes() == newer.replace(b'"5"', b'"7"')


def test_a_newer_file_that_does_not_fit_stays(tmp_path):
    files = opened(tmp_path)
    nap(files, "7")
    newer = MAIN.replace(b'"5"', b'"9"')
    files.path.write_bytes(newer)
    with pytest.raises(LogicError, match=r"\[msec\] of 'Main/s/nap' is '7' here and '9' on disk"):
        files.save()
    assert files.path.read_bytes() == newer
    # Each side loads, both together do not.
    broken = LIB.replace(b'"Lib"', b'"Lob"')
    files.path.write_bytes(MAIN.replace(b'"Lib"', b'"Lob"'))
    (tmp_path / "lib.xml").write_bytes(broken)
    nap(files, "5")
    files.change(lambda e: e[files.path].insert((1, 0), 0, '<SubTree ID="Lib"/>'))
    with pytest.raises(LoadError, match="Lib"):
        files.save()
    assert (tmp_path / "lib.xml").read_bytes() == broken
    (tmp_path / "lib.xml").unlink()
    with pytest.raises(LogicError, match=r"lib\.xml .* can be read no more"):
        files.save()


def test_files_that_others_have_made_it_include_belong_to_it(tmp_path):
    files = opened(tmp_path)
    nap(files, "7")
    more = tmp_path / "more.xml"
    more.write_bytes(LIB.replace(b"Lib", b"More"))
    changed = MAIN.replace(b"lib.xml'/>", b"lib.xml'/><include path='more.xml'/>")
    (tmp_path / "main.xml").write_bytes(changed)
    assert files.refresh() == [tmp_path / "main.xml"]
    assert files.modified == [tmp_path / "main.xml"]
    rename_tree(files, "More", "Most")
    files.save()
    assert 'ID="Most"' in more.read_text()
    (tmp_path / "main.xml").write_bytes(MAIN)
    files.refresh()
    assert [file.name for file in files.data] == ["lib.xml", "main.xml"]
    assert files.modified == []


def test_a_file_that_an_edit_includes_belongs_to_them_until_that_is_undone(tmp_path):
    files = opened(tmp_path)
    more = tmp_path / "more.xml"
    more.write_bytes(LIB.replace(b"Lib", b"More"))
    files.change(lambda e: e[files.path].insert((), 0, '<include path="more.xml"/>'))
    assert files.modified == [files.path]
    rename_tree(files, "More", "Most")
    assert files.modified == [files.path, more]
    assert files.undo()
    assert files.undo()
    assert more not in files.data
    assert files.modified == []
    assert files.redo()
    assert files.redo()
    files.save()
    assert 'ID="Most"' in more.read_text()
    assert files.undo()
    assert files.undo()  # what was saved is still to be saved
    files.save()
    assert 'ID="More"' in more.read_text()


def test_an_edited_file_that_others_include_no_more_is_named(tmp_path):
    files = opened(tmp_path)
    files.change(lambda e: e[tmp_path / "lib.xml"].replace((0, 0), "<AlwaysFailure/>"))
    without = MAIN.replace(b"  <include path='lib.xml'/>\r\n", b"")
    (tmp_path / "main.xml").write_bytes(without.replace(b'      <SubTree ID="Lib"/>\r\n', b""))
    with pytest.raises(LogicError, match=r"lib\.xml has been edited, and on disk nothing includes"):
        files.save()
    assert (tmp_path / "lib.xml").read_bytes() == LIB
    assert [file.name for file in files.modified] == ["lib.xml"]


def test_saving_is_whole_or_not_at_all(tmp_path, monkeypatch):
    files = opened(tmp_path)
    nap(files, "7")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.save()
    assert files.path.read_bytes() == MAIN
    assert files.modified == [files.path]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lib.xml", "main.xml"]
    monkeypatch.undo()
    assert files.save() == [files.path]


@pytest.mark.slow
@pytest.mark.skipif(not TREES.exists(), reason="the package is tested alone")
def test_shipped_trees_keep_all_but_the_edit(tmp_path):
    shutil.copytree(TREES, tmp_path / "trees")
    before = {file: file.read_bytes() for file in (tmp_path / "trees").rglob("*.xml")}
    opened = 0
    for path in sorted(before):
        try:
            files = TreeFiles(path, make_factory([path]))
        except LoadError:
            continue  # needs node types that are code, or trees of the file that includes it
        opened += 1
        assert files.save() == []
        root = files.change(lambda e, f=path: e[f].set_attribute((), "project_name", "a&b"))
        assert root == files.save() == [path]
        assert changed_lines(before[path].decode(), path.read_text()) == 2
        again = TreeFiles(path, make_factory([path]))
        assert again.data[path] == path.read_bytes()
        assert again.save() == []
        again.change(lambda e, f=path: e[f].remove_attribute((), "project_name"))
        again.save()
        assert path.read_bytes() == before[path]
    assert opened >= 5


_SPACE = st.sampled_from([" ", "  ", "\n   ", "\t", "\r\n "])
_BETWEEN = st.sampled_from(["", "\n", "\r\n    ", "<!-- a > b -->", "\n<!-- x\ny -->\n", "\t"])


@st.composite
def documents(draw):
    """Documents of odd formatting."""

    def tag(name, attributes, inside=None):
        text = f"<{name}"
        for key, value in draw(st.permutations(attributes)):
            quote = draw(st.sampled_from("'\""))
            equals = draw(st.sampled_from(["=", " = "]))
            text += f"{draw(_SPACE)}{key}{equals}{quote}{value}{quote}"
        text += draw(st.sampled_from(["", " "]))
        return f"{text}/>" if inside is None else f"{text}>{inside}</{name}>"

    leaves = draw(_BETWEEN)
    for index in range(draw(st.integers(1, 4))):
        leaves += tag("Sleep", [("name", f"n{index}&amp;"), ("msec", index)]) + draw(_BETWEEN)
    sequence = tag("Sequence", [("name", "all")], leaves)
    body = draw(_BETWEEN) + tag("BehaviorTree", [("ID", "Main")], sequence) + draw(_BETWEEN)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + tag("root", [("BTCPP_format", 4)], body) + draw(_BETWEEN)


@settings(max_examples=60, deadline=None)
@given(documents(), st.integers(0, 3), st.text(st.characters(codec="ascii", categories="LNPS")))
def test_load_save_and_save_load_save_are_byte_equal(tmp_path_factory, text, index, name):
    path = tmp_path_factory.mktemp("trees") / "main.xml"
    path.write_bytes(text.encode())
    files = TreeFiles(path, BehaviorTreeFactory())
    assert files.save() == []
    assert path.read_bytes() == text.encode()
    count = text.count("<Sleep")
    files.change(lambda e: e[path].set_attribute((0, 0, index % count), "name", name + "_"))
    assert files.save() == [path]
    saved = path.read_bytes()
    again = TreeFiles(path, BehaviorTreeFactory())
    assert again.save() == []
    assert again.data[path] == path.read_bytes() == saved
    old = f"n{index % count}&amp;"
    again.change(
        lambda e: e[path].set_attribute((0, 0, index % count), "name", old.replace("&amp;", "&"))
    )
    again.save()
    assert path.read_bytes() == text.encode()
