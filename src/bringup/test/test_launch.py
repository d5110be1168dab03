# SPDX-License-Identifier: Apache-2.0
"""The launch file, against stand-ins for launch and launch_ros where these are not installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from behavior_bringup.description import load_stack, resolve, stack_file
from behavior_bringup.paths import journal_file

ROOT = Path(__file__).parents[3]


class Action:
    """Remembers what it was made with."""

    def __init__(self, *positional: Any, **keywords: Any) -> None:
        self.positional = positional
        self.keywords = keywords


class DeclareLaunchArgument(Action):
    pass


class ExecuteProcess(Action):
    pass


class Shutdown(Action):
    pass


class OpaqueFunction(Action):
    pass


class Node(Action):
    pass


class LaunchDescription(Action):
    pass


class LaunchConfiguration:
    def __init__(self, name: str, default: str | None = None) -> None:
        self.name = name
        self.default = default

    def perform(self, context: dict[str, str]) -> str:
        value = context.get(self.name, self.default)
        assert value is not None
        return value


@pytest.fixture
def launch_file(monkeypatch: pytest.MonkeyPatch) -> Any:
    stand_ins = {
        "launch": {"LaunchDescription": LaunchDescription},
        "launch.actions": {
            "DeclareLaunchArgument": DeclareLaunchArgument,
            "ExecuteProcess": ExecuteProcess,
            "OpaqueFunction": OpaqueFunction,
            "Shutdown": Shutdown,
        },
        "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
    }
    for name, content in stand_ins.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "behavior_bringup.launching", raising=False)
    file = ROOT / "launch" / "bringup.launch.py"
    spec = importlib.util.spec_from_file_location("bringup_launch", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("behavior_bringup.launching", None)


def actions_of(launch_file: Any, **context: str) -> dict[str, Action]:
    *_, opaque = launch_file.generate_launch_description().positional[0]
    values = {"world": "block_stacking", **context}
    return {action.keywords["name"]: action for action in opaque.keywords["function"](values)}


def test_every_argument_of_the_stack_is_a_launch_argument(launch_file: Any) -> None:
    *arguments, _ = launch_file.generate_launch_description().positional[0]
    stack = load_stack(stack_file("block_stacking"))
    assert [argument.positional[0] for argument in arguments] == list(stack.arguments)
    assert all(isinstance(x.keywords["default_value"], str) for x in arguments)


def test_the_same_processes_with_the_same_parameters(launch_file: Any) -> None:
    actions = actions_of(launch_file, speed="2.0", headless="true")
    expected = resolve(
        load_stack(stack_file("block_stacking")),
        environment="distribution",
        arguments={
            "speed": 2.0,
            "headless": True,
            "journal": str(journal_file("launch", "block_stacking")),
        },
    )
    assert list(actions) == [process.name for process in expected]
    for process in expected:
        action = actions[process.name]
        if process.program is not None:
            assert isinstance(action, Node)
            assert action.keywords["parameters"] == [process.program.parameters]
            continue
        command = action.keywords["cmd"]
        assert [node.target in " ".join(command) for node in process.nodes]
        with open(command[-1], encoding="utf-8") as file:
            assert yaml.safe_load(file) == process.parameter_document()


def test_the_distributions_programs_replace_ours(launch_file: Any) -> None:
    actions = actions_of(launch_file)
    assert isinstance(actions["robot_state_publisher"], Node)
    assert isinstance(actions["rviz"], Node)
    assert "robot_state_publisher" not in " ".join(actions["skills"].keywords["cmd"])
    (description,) = actions["robot_state_publisher"].keywords["parameters"]
    assert 'link name="tool"' in description["robot_description"]
