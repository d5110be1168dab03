# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from behavior_bringup.description import argument_values, load_stack, resolve, stack_file
from behavior_bringup.errors import BringupError, UsageError

GOOD = """
description: a test
arguments:
  speed: {default: 1.0}
  seed: {default: 3}
  viewer: {default: false}
processes:
  one:
    nodes:
      first: {node: "a.b:C", parameters: {speed: "${speed}", text: "s${seed}", list: ["${seed}"]}}
      second: {node: "a.b:D", only_if: distribution}
  two:
    when: viewer
    nodes:
      third: {node: "a.b:E"}
  three:
    only_if: distribution
    program: {package: p, executable: e, arguments: ["-n", "${seed}x"]}
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "stack.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_shipped_stacks_are_valid() -> None:
    folder = stack_file("block_stacking").parent
    for file in folder.glob("*.yaml"):
        stack = load_stack(file)
        names = [p.name for p in resolve(stack, environment="pip", arguments={"viewer": True})]
        assert "simulation" in names
        assert "viewer" in names
        assert "rviz" not in names


def test_arguments_keep_their_types(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, GOOD))
    (one,) = resolve(stack, environment="pip", arguments={"speed": "2.5"})
    assert one.nodes[0].parameters == {"speed": 2.5, "text": "s3", "list": [3]}
    assert one.parameter_document() == {"/first": {"ros__parameters": one.nodes[0].parameters}}


def test_conditions_choose_processes_and_nodes(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, GOOD))
    processes = resolve(stack, environment="distribution", arguments={"viewer": "true"})
    assert [process.name for process in processes] == ["one", "two", "three"]
    assert [node.name for node in processes[0].nodes] == ["first", "second"]
    assert processes[2].program is not None
    assert processes[2].program.arguments == ["-n", "3x"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("processes: [", ["not YAML"]),
        ("- a", ["must hold keys"]),
        ("description: x", ["processes", "required"]),
        (GOOD.replace('"a.b:C"', '"a.b.C"'), ["processes.one.nodes.first.node"]),
        (GOOD.replace("${speed}", "${spede}"), ["processes.one.nodes.first.parameters", "spede"]),
        (GOOD.replace("when: viewer", "when: viewr"), ["viewr", "known: speed, seed, viewer"]),
        (
            GOOD.replace("only_if: distribution\n    program", "only_if: moon\n    program"),
            ["only_if"],
        ),
        (GOOD.replace("    when: viewer\n", "    colour: red\n"), ["processes.two.colour"]),
        (GOOD + "  four: {}\n", ["processes.four", "either nodes or a program"]),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, words: list[str]) -> None:
    file = written(tmp_path, text)
    with pytest.raises(BringupError) as caught:
        load_stack(file)
    for word in [str(file), *words]:
        assert word in str(caught.value)


def test_unknown_arguments_and_wrong_types_are_refused(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, GOOD))
    with pytest.raises(UsageError, match="no argument 'sped'"):
        argument_values(stack, {"sped": 1.0})
    with pytest.raises(UsageError, match="'seed' must be of type int"):
        argument_values(stack, {"seed": "x"})
    with pytest.raises(UsageError, match="'viewer' must be of type bool"):
        argument_values(stack, {"viewer": "perhaps"})


@pytest.mark.parametrize("world", ["nowhere", "../robots/panda"])
def test_unknown_worlds_are_refused_with_the_known_ones(world: str) -> None:
    with pytest.raises(UsageError, match="block_stacking"):
        stack_file(world)


def test_a_stack_takes_over_what_it_extends(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        "description: base\narguments: {speed: {default: 1.0, help: x}, seed: {default: 0}}\n"
        "processes: {a: {nodes: {n: {node: 'm:C', parameters: {speed: '${speed}'}}}}}\n"
    )
    file = tmp_path / "own.yaml"
    file.write_text("extends: base\ndescription: own\narguments: {speed: {default: 2.0}}\n")
    stack = load_stack(file)
    assert (stack.description, set(stack.arguments)) == ("own", {"speed", "seed"})
    (process,) = resolve(stack, environment="pip")
    assert process.nodes[0].parameters == {"speed": 2.0}
    file.write_text("extends: own\n")
    with pytest.raises(BringupError, match="extends this stack in turn"):
        load_stack(file)
    file.write_text("extends: nothing\n")
    with pytest.raises(BringupError, match=r"nothing\.yaml: cannot be read"):
        load_stack(file)
