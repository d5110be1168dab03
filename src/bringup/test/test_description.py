# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.description import argument_values, load_stack, resolve, stack_file
from behavior_bringup.stacks.stack import host_command, write_parameters

GOOD = """
description: a test
arguments:
  speed: {default: 1.0}
  seed: {default: 3}
  console: {default: false}
processes:
  one:
    nodes:
      first: {node: "a.b:C", parameters: {speed: "${speed}", text: "s${seed}", list: ["${seed}"]}}
      second: {node: "a.b:D", only_if: distribution}
  two:
    when: console
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
        names = [p.name for p in resolve(stack, environment="pip", arguments={"console": True})]
        assert ("simulation" in names) == (file.stem != "nav2")
        assert ("console" in names) == ("console" in stack.processes)
        assert "rviz" not in names


@pytest.mark.parametrize("world", ["block_stacking", "bin_stacking", "navigation"])
def test_on_a_distribution_rviz_opens_a_layout_that_is_installed(world: str) -> None:
    processes = resolve(load_stack(stack_file(world)), environment="distribution")
    (rviz,) = (process.program for process in processes if process.name == "rviz")
    assert rviz is not None
    assert Path(rviz.arguments[1]).is_file()


@pytest.mark.parametrize("cameras", [False, True])
def test_cameras_and_true_poses_exclude_each_other(cameras: bool) -> None:
    stack = load_stack(stack_file("block_stacking"))
    processes = resolve(stack, environment="pip", arguments={"cameras": cameras})
    nodes = {node.name: node.parameters for process in processes for node in process.nodes}
    assert nodes["simulation"]["detections_by_cameras"] is cameras
    assert ({"cameras", "detector"} <= set(nodes)) is cameras


def test_arguments_keep_their_types(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, GOOD))
    (one,) = resolve(stack, environment="pip", arguments={"speed": "2.5"})
    assert one.nodes[0].parameters == {"speed": 2.5, "text": "s3", "list": [3]}
    assert one.parameter_document() == {"/first": {"ros__parameters": one.nodes[0].parameters}}


MANAGED = """
description: managers
arguments: {deadman: {default: 0.5}}
processes:
  executor:
    nodes:
      behavior_executor:
        node: "behavior_executor.node.executor_node:BehaviorExecutor"
        parameters: {managers: [planner]}
        node_parameters:
          autonomy_level: {deadman_switch_timeout_s: "${deadman}"}
          planner: {path_planner_health.max_timeout: .inf}
"""


def test_nodes_that_a_node_makes_have_parameters_of_their_own(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, MANAGED))
    (process,) = resolve(stack, environment="pip", arguments={"deadman": "0.2"})
    assert process.parameter_document() == {
        "/behavior_executor": {"ros__parameters": {"managers": ["planner"]}},
        "/autonomy_level": {"ros__parameters": {"deadman_switch_timeout_s": 0.2}},
        "/planner": {"ros__parameters": {"path_planner_health.max_timeout": float("inf")}},
    }


def test_an_extending_stack_may_change_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(MANAGED)
    file = tmp_path / "own.yaml"
    own = "{autonomy_level: {deadman_switch_timeout_s: 1.0}}"
    nodes = "{behavior_executor: {node_parameters: " + own + "}}"
    file.write_text("extends: base\nprocesses: {executor: {nodes: " + nodes + "}}\n")
    (process,) = resolve(load_stack(file), environment="pip")
    document = process.parameter_document()
    assert document["/autonomy_level"]["ros__parameters"] == {"deadman_switch_timeout_s": 1.0}
    assert "/planner" in document


def test_such_parameters_reach_the_node(tmp_path: Path) -> None:
    """A manager refuses its value: the process ends and names it. The infinite one is taken."""
    managers = "behavior_navigation.managers"
    names = (
        f"{managers}.planner:PlannerManager",
        f"{managers}.autonomy_level:AutonomyLevelManager",
    )
    text = MANAGED.replace("managers: [planner]", f"managers: {list(names)}, nodes_file: ''")
    stack = load_stack(written(tmp_path, text))
    (process,) = resolve(stack, environment="pip", arguments={"deadman": 61.5})
    command = host_command(process, write_parameters(process, tmp_path))
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100.0, check=False)
    assert ended.returncode == 1
    assert "/autonomy_level: parameter deadman_switch_timeout_s is 61.5" in ended.stderr
    assert "max_timeout" not in ended.stderr


def test_conditions_choose_processes_and_nodes(tmp_path: Path) -> None:
    stack = load_stack(written(tmp_path, GOOD))
    processes = resolve(stack, environment="distribution", arguments={"console": "true"})
    assert [process.name for process in processes] == ["one", "two", "three"]
    assert [node.name for node in processes[0].nodes] == ["first", "second"]
    assert processes[2].program is not None
    assert processes[2].program.arguments == ["-n", "3x"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("processes: [", ["not YAML"]),
        ("- a", ["write a mapping"]),
        ("description: x", ["processes", "required"]),
        (GOOD.replace('"a.b:C"', '"a.b.C"'), ["processes.one.nodes.first.node"]),
        (GOOD.replace("${speed}", "${spede}"), ["processes.one.nodes.first.parameters", "spede"]),
        (GOOD.replace("when: console", "when: consol"), ["consol", "known: speed, seed, console"]),
        (
            GOOD.replace("only_if: distribution\n    program", "only_if: moon\n    program"),
            ["only_if"],
        ),
        (GOOD.replace("    when: console\n", "    colour: red\n"), ["processes.two.colour"]),
        (MANAGED.replace("planner: {p", "behavior_executor: {p"), ["given in two places"]),
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
    with pytest.raises(UsageError, match="'console' must be of type bool"):
        argument_values(stack, {"console": "perhaps"})


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
    with pytest.raises(BringupError, match="extends this file in turn"):
        load_stack(file)
    file.write_text("extends: nothing\n")
    with pytest.raises(BringupError, match=r"nothing\.yaml: cannot be read"):
        load_stack(file)
