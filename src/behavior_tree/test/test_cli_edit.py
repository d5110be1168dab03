# SPDX-License-Identifier: Apache-2.0
"""`behavior tree edit FILE ...`."""

import pytest

from behavior_tree.cli import main

TEXT = """<root BTCPP_format="4">
  <BehaviorTree ID="Main"> <!-- all -->
    <Sequence name="top">
      <Grasp  name="left hand" target='{t}'/>
      <Sleep name="wait" msec="5"/>
    </Sequence>
  </BehaviorTree>
  <TreeNodesModel>
    <Action ID="Grasp"><input_port name="target"/></Action>
  </TreeNodesModel>
</root>
"""
SUCCESS = "      <AlwaysSuccess/>\n"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "main.xml").write_text(TEXT)
    return tmp_path / "main.xml"


def run(file, capsys, *arguments):
    code = main(["edit", str(file), *arguments])
    return (code, *capsys.readouterr())


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        ("set wait msec=7", 'msec="5"', 'msec="7"'),
        ("set wait _skipIf=t==1 name=nap", '"wait" msec="5"', '"nap" msec="5" _skipIf="t==1"'),
        ("unset wait name", ' name="wait"', ""),
        ("insert top <AlwaysSuccess/> --before wait", "      <Sleep", SUCCESS + "      <Sleep"),
        ("remove wait", '      <Sleep name="wait" msec="5"/>\n', ""),
        ("replace wait <AlwaysSuccess/>", '<Sleep name="wait" msec="5"/>', "<AlwaysSuccess/>"),
        ("rename wait nap", '"wait"', '"nap"'),
        ("rename Main Job", 'ID="Main"', 'ID="Job"'),
        ("rename-entry Main t goal", "{t}", "{goal}"),
        ("mirror Main", "left hand", "right hand"),
    ],
)
def test_each_operation_changes_what_it_means(file, capsys, arguments, old, new):
    code, out, err = run(file, capsys, *arguments.split(maxsplit=4))
    assert (code, err) == (0, "")
    assert out == f"{file} written\n"
    assert file.read_text() == TEXT.replace(old, new)
    assert main(["check", str(file)]) == 0


def test_moves_copies_and_trees(file, capsys):
    assert run(file, capsys, "move", "wait", "top", "--before", "left hand")[0] == 0
    assert file.read_text().index("wait") < file.read_text().index("left hand")
    assert run(file, capsys, "duplicate", "wait")[0] == 0
    assert 'name="wait 2"' in file.read_text()
    assert run(file, capsys, "duplicate", "wait", "nap")[0] == 0
    before = file.read_text()
    assert run(file, capsys, "extract", "nap", "Nap")[0] == 0
    assert '<BehaviorTree ID="Nap">' in file.read_text()
    assert run(file, capsys, "inline", "Main/top/nap")[0] == 0
    assert file.read_text().count("<Sleep") == before.count("<Sleep") + 1


def test_the_difference_is_shown_and_nothing_is_written(file, capsys):
    code, out, _ = run(file, capsys, "set", "wait", "msec=7", "--diff")
    assert code == 0
    assert '-      <Sleep name="wait" msec="5"/>\n+      <Sleep name="wait" msec="7"/>' in out
    assert file.read_text() == TEXT


def test_what_a_mirror_leaves_is_noted(file, capsys):
    text = TEXT.replace("<Sleep", '<SubTree ID="Sub"/><Sleep')
    sub = '<BehaviorTree ID="Sub"><Sleep msec="1"/></BehaviorTree></root>'
    text = text.replace("</root>", sub).replace("<root ", '<root main_tree_to_execute="Main" ')
    file.write_text(text)
    _, out, _ = run(file, capsys, "mirror", "Main", "--normal", "0", "1", "0", "--distance", "1")
    assert "note: 'Main/top/Sub' uses tree 'Sub', which is not mirrored" in out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("set", "wait", "msec"), "NAME=TEXT"),
        (("set", "wait"), "takes NODE NAME=TEXT"),
        (("remove", "wait", "top"), "takes NODE"),
        (("duplicate", "wait", "a", "b"), "takes NODE [NAME]"),
        (("remove", "nobody"), "there is no node 'nobody'"),
        (("set", "wait", "msec=soon"), "soon"),
        (("insert", "top", "<Nap/>"), "Nap"),
        (("insert", "top", "<Sleep"), "XML"),
        (("extract", "Main", "Sub"), "is a tree"),
    ],
)
def test_what_cannot_be_made_is_told_and_changes_nothing(file, capsys, arguments, why):
    code, _, err = run(file, capsys, *arguments)
    assert code == 1
    assert why in err
    assert file.read_text() == TEXT


def test_an_unknown_operation_is_wrong_use(file, capsys):
    with pytest.raises(SystemExit) as wrong:
        run(file, capsys, "fly")
    assert wrong.value.code == 2
