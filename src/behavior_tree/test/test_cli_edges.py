# SPDX-License-Identifier: Apache-2.0
"""The command with files, programs and places that are not as they should be."""

from __future__ import annotations

import json
import signal
import sys
import types

import pytest

from behavior_tree import NodeStatus
from behavior_tree.cli import main

HEAD = '<root BTCPP_format="4"'


@pytest.fixture
def write(tmp_path):
    def write(name, text, encoding="utf-8"):
        (tmp_path / name).write_bytes(text.encode(encoding))
        return str(tmp_path / name)

    return write


@pytest.fixture
def program(monkeypatch):
    """Module whose functions ``--register`` can name."""
    module = types.ModuleType("some_program")
    monkeypatch.setitem(sys.modules, "some_program", module)
    return module


def tree(body, more="", head=""):
    return f'{HEAD}{head}><BehaviorTree ID="Main">{body}</BehaviorTree>{more}</root>'


# -- ticks that never end


def time_is_up(node):
    """What the timer does, at a moment that no busy machine can shift."""
    signal.raise_signal(signal.SIGALRM)
    raise AssertionError("the tick goes on")


@pytest.mark.parametrize("verb", ["run", "profile"])
def test_a_tick_that_never_ends_is_stopped(verb, write, capsys):
    file = write("a.xml", tree('<Repeat num_cycles="-1"><AlwaysSuccess/></Repeat>'))
    before = signal.getsignal(signal.SIGALRM)
    assert main([verb, file, "--timeout", "0.05"]) == 1
    assert "still RUNNING after 0.05 s: " in capsys.readouterr().err
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_leaf_that_never_comes_back_is_stopped_and_named(write, program, capsys):
    program.register = lambda factory: factory.register_simple_action("Never", time_is_up)
    file = write("a.xml", tree('<Fallback><Never name="n"/><AlwaysSuccess/></Fallback>'))
    assert main(["run", file, "--register", "some_program:register"]) == 1
    assert capsys.readouterr().err == "still RUNNING after 60.0 s: n\n"


def test_leaves_are_halted_when_the_time_is_up_and_that_may_not_end_either(write, program, capsys):
    halted = []

    def halt(node):
        halted.append(node.name())
        time_is_up(node)

    program.register = lambda factory: factory.register_simple_stateful_action(
        "Work", lambda node: NodeStatus.RUNNING, time_is_up, halt
    )
    file = write("a.xml", tree('<Work name="w"/>'))
    assert main(["run", file, "--register", "some_program:register"]) == 1
    assert halted == ["w"]
    assert capsys.readouterr().err == "still RUNNING after 60.0 s: w\n"


def test_any_limit_may_be_given(write):
    file = write("a.xml", tree("<AlwaysSuccess/>"))
    assert main(["run", file, "--timeout", "1e300"]) == 0


# -- programs


def test_a_function_that_is_no_registration_gets_one_sentence(write, program, capsys):
    program.broken = lambda factory: 1 / 0
    for name, words in (
        ("json:loads", "TypeError: the JSON object must be"),
        ("json:", "AttributeError"),
        ("some_program:broken", "ZeroDivisionError"),
        ("json:decoder", "is not callable"),
        (":", "ValueError"),
    ):
        assert main(["models", "--register", name]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert error.startswith(f"--register {name}: ")
        assert words in error


# -- files


@pytest.mark.parametrize("verb", ["models", "xsd"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<root><BehaviorTree", "unclosed token"),
        ("<!DOCTYPE r><root/>", "document types"),
        ("<other/>", "must have a root node called <root>"),
        (f'{HEAD}><include path="none.xml"/></root>', "none.xml: No such file"),
    ],
)
def test_models_of_files_that_cannot_be_read(verb, text, words, write, tmp_path, capsys):
    good = write("good.xml", tree("<AlwaysSuccess/>"))
    target = tmp_path / "out"
    assert main([verb, good, write("a.xml", text), "-o", str(target)]) == 1
    assert words in capsys.readouterr().err
    assert not target.exists()
    with pytest.raises(SystemExit, match="2"):
        main([verb, str(tmp_path / "none.xml")])
    assert "none.xml: no such file" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_migrate_says_which_encoding_it_cannot_keep(encoding, write, capsys):
    text = f'<?xml version="1.0" encoding="{encoding}"?><root><BehaviorTree ID="ä"><SequenceStar/></BehaviorTree></root>'  # noqa: E501
    assert main(["migrate", write("a.xml", text, encoding)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"encoding {encoding} cannot be edited".casefold() in captured.err.casefold()


def test_check_finds_a_main_tree_that_does_not_exist(write, capsys):
    file = write("a.xml", tree("<AlwaysSuccess/>", head=' main_tree_to_execute="Nain"'))
    assert main(["check", file]) == 1
    assert "a.xml:1:24: Can't find a tree with name: Nain (known trees: Main)" in (
        capsys.readouterr().out
    )
    other = write("b.xml", f'{HEAD}><BehaviorTree ID="Nain"><AlwaysSuccess/></BehaviorTree></root>')
    assert main(["check", file, other]) == 0, "a program may register both"


def test_check_tells_of_everything_at_once(write, capsys):
    body = '<Sequence><SubTree ID="Gone"/><Nope/><Sleep/></Sequence>'
    assert main(["check", write("a.xml", tree(body, head=' main_tree_to_execute="Nain"'))]) == 1
    out = capsys.readouterr().out
    for words in ("name: Nain", "name: Gone", "recognized: Nope", "port [msec]"):
        assert words in out
    assert out.startswith("4 problems")


def test_models_of_one_file_serve_the_others(write, capsys):
    models = '<TreeNodesModel><Action ID="Grasp"><input_port name="target" type="int"/></Action></TreeNodesModel>'  # noqa: E501
    files = [
        write("models.xml", f"{HEAD}>{models}</root>"),
        write("a.xml", tree('<Grasp target="5"/>')),
        write("b.xml", tree("<Grasp/>")),
    ]
    assert main(["check", *files]) == 0
    assert main(["check", *reversed(files)]) == 0
    assert main(["check", files[1]]) == 1
    assert main(["run", files[1], "--models", files[0]]) == 0
    assert main(["run", files[1]]) == 1
    capsys.readouterr()
    own = models.replace('"int"', '"std::string"')
    assert main(["check", files[0], write("c.xml", tree('<Grasp target="it"/>', own))]) == 0
    assert main(["check", files[0], write("c.xml", tree('<Grasp target="it"/>'))]) == 1
    assert 'value "it" can not be converted to int' in capsys.readouterr().out


def test_blanks_in_names_are_warned_of_unless_strict(write, capsys):
    file = write(
        "a.xml",
        f'{HEAD} main_tree_to_execute="My Tree"><BehaviorTree ID="My Tree"><SubTree ID="My.Other"/>'
        '</BehaviorTree><BehaviorTree ID="My.Other"><Action ID="Do it"/></BehaviorTree>'
        '<TreeNodesModel><Action ID="Do it"/></TreeNodesModel></root>',
    )
    assert main(["check", file]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 warnings:")
    assert "'My Tree' contains forbidden character ' '" in out
    assert "'My.Other' contains forbidden character '.'" in out
    assert main(["check", file, "--strict"]) == 1
    assert main(["run", file]) == 0


def test_compat_is_there_at_the_command_line(write, capsys):
    file = write("a.xml", tree('<ScriptCondition code="10-3-2 == 9"/>'))
    assert main(["run", file]) == 1
    assert main(["run", file, "--compat", "4.8"]) == 0
    nameless = write("b.xml", tree('<Sleep name=""/>'))
    assert main(["check", nameless]) == 1
    assert main(["check", nameless, "--compat", "4.8"]) == 0, "4.8 finds it when it is ticked"
    with pytest.raises(SystemExit, match="2"):
        main(["run", file, "--compat", "3"])
    assert "'4.8'" in capsys.readouterr().err


@pytest.mark.slow
def test_very_many_problems_are_put_together(write, capsys):
    body = "<Sequence>" + "".join(f"\n<N{i % 3}/>" for i in range(5000)) + "</Sequence>"
    file = write("a.xml", tree(body))
    assert main(["check", file]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "5000 problems in behavior tree:"
    assert len(lines) == 4
    assert "recognized: N0" in lines[1]
    assert lines[1].endswith("-- the same 1666 more times, up to line 5000")
    assert main(["check", file, "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)) == 5000
    different = "<Sequence>" + "".join(f"\n<N{i}/>" for i in range(5000)) + "</Sequence>"
    assert main(["check", write("b.xml", tree(different))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (102, "and 4900 more problems")
    files = [write(f"{i}.xml", tree(body)) for i in range(3)]
    assert main(["check", *files]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("-- the same 5000 more times, in 3 files")


def test_names_of_files_that_are_written_first_are_not_told(write, tmp_path, capsys):
    file = write("a.xml", tree("<AlwaysSuccess/>"))
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "none" / "p", tmp_path / "folder"):
        for arguments in (["show", file, "--svg"], ["models", file, "-o"], ["xsd", "-o"]):
            assert main([*arguments, str(target)]) == 1
            assert capsys.readouterr().err.startswith(f"{target}: ")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
