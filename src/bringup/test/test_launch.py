# SPDX-License-Identifier: Apache-2.0
"""The launch file, against stand-ins for launch and launch_ros."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from behavior_bringup.stacks.description import load_stack, resolve, stack_file
from behavior_bringup.stacks.launch_plan import Request, answer
from behavior_bringup.stacks.paths import journal_file

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


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The marks of the installed packages whose programs a distribution brings."""
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package in ("robot_state_publisher", "rviz2"):
        (index / package).touch()
    prefixes = [str(tmp_path), *filter(None, [os.environ.get("AMENT_PREFIX_PATH")])]
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(prefixes))
    return index


@pytest.fixture
def launch_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: Path) -> Any:
    stand_ins = {
        "launch": {"LaunchDescription": LaunchDescription},
        "launch.actions": {
            "DeclareLaunchArgument": DeclareLaunchArgument,
            "ExecuteProcess": ExecuteProcess,
            "OpaqueFunction": OpaqueFunction,
            "Shutdown": Shutdown,
        },
        "launch.logging": {"launch_config": types.SimpleNamespace(log_dir=str(tmp_path))},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
    }
    for name, content in stand_ins.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "behavior_bringup.stacks.launching", raising=False)
    file = ROOT / "launch" / "bringup.launch.py"
    spec = importlib.util.spec_from_file_location("bringup_launch", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("behavior_bringup.stacks.launching", None)


def actions_of(launch_file: Any, **context: Any) -> dict[str, Action]:
    *_, opaque = launch_file.generate_launch_description().positional[0]
    given = types.SimpleNamespace(launch_configurations=context)
    return {action.keywords["name"]: action for action in opaque.keywords["function"](given)}


@pytest.fixture
def at_once(launch_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of this process: another one takes a second for each."""

    def answered(**request: Any) -> Any:
        return json.loads(json.dumps(answer(Request(**request))))

    monkeypatch.setattr("behavior_bringup.stacks.launching._answer", answered)


def declared(launch_file: Any) -> dict[str, dict[str, Any]]:
    *arguments, _ = launch_file.generate_launch_description().positional[0]
    return {argument.positional[0]: argument.keywords for argument in arguments}


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("world", ["block_stacking", "navigation"])
def test_every_argument_of_the_world_is_a_launch_argument(
    launch_file: Any, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["ros2", "launch", "behavior_bringup", "bringup.launch.py", f"world:={world}"]
    monkeypatch.setattr(sys, "argv", words)
    arguments = declared(launch_file)
    assert list(arguments) == [*load_stack(stack_file(world)).arguments, "respawn"]
    assert arguments["world"]["default_value"] == world
    assert all(isinstance(each["default_value"], str) for each in arguments.values())


def test_included_in_another_launch_file_it_leaves_the_stacks_defaults_to_the_stack(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ros2", "launch", "mine.launch.py", "world:=of_mine"])
    assert list(declared(launch_file)) == ["world", "respawn"]


def test_a_wrong_request_is_one_sentence(launch_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ros2", "launch", "x", "bringup.launch.py", "world:=dor"])
    assert list(declared(launch_file)) == ["world", "respawn"]
    with pytest.raises(RuntimeError, match=r"^There is no world 'dor': did you mean 'door'"):
        actions_of(launch_file, world="dor")


def test_the_same_processes_with_the_same_parameters(launch_file: Any) -> None:
    actions = actions_of(launch_file, world="block_stacking", speed="2.0", headless="true")
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


@pytest.mark.usefixtures("at_once")
def test_the_distributions_programs_replace_ours(launch_file: Any) -> None:
    actions = actions_of(launch_file, world="")
    assert isinstance(actions["robot_state_publisher"], Node)
    assert isinstance(actions["rviz"], Node)
    assert "robot_state_publisher" not in " ".join(actions["skills"].keywords["cmd"])
    (description,) = actions["robot_state_publisher"].keywords["parameters"]
    assert 'link name="tool"' in description["robot_description"]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("respawn", [0, 2])
def test_a_process_is_started_again_as_often_as_asked(launch_file: Any, respawn: int) -> None:
    """launch itself starts it again; what ends all of them is told at every end."""
    skills = actions_of(launch_file, world="", respawn=str(respawn))["skills"].keywords
    assert skills["respawn"] is (respawn > 0)
    assert skills["respawn_max_retries"] == respawn
    ends = [skills["on_exit"](None, None) for _ in range(respawn + 1)]
    assert ends[:-1] == [[]] * respawn
    (shutdown,) = ends[-1]
    assert shutdown.keywords["reason"] == "the process 'skills' ended"


def test_a_wrong_number_of_starts_is_one_sentence(launch_file: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^respawn:=often: write how often, like respawn:=3$"):
        actions_of(launch_file, world="", respawn="often")


@pytest.mark.usefixtures("at_once")
def test_nothing_starts_where_a_program_is_missing(launch_file: Any, programs: Path) -> None:
    (programs / "rviz2").unlink()
    with pytest.raises(RuntimeError, match=r"'sudo apt install ros-\w+-rviz2' brings it, headless"):
        actions_of(launch_file, world="")
    assert "skills" in actions_of(launch_file, world="", headless="true")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("pushed", ["left", "/fleet/left"])
def test_what_the_group_around_it_sets_reaches_our_processes(
    launch_file: Any, pushed: str, tmp_path: Path
) -> None:
    """As PushRosNamespace, SetRemap, SetParameter and SetParametersFromFile leave it."""
    file = tmp_path / "site.yaml"
    executor = actions_of(
        launch_file,
        world="block_stacking",
        headless="true",
        ros_namespace=pushed,
        ros_remaps=[("/tf", "tf"), ("/clock", "clock")],
        global_params=[("tick_rate", 5.0), str(file)],
    )["executor"]
    namespace = "/" + pushed.strip("/")
    command = executor.keywords["cmd"]
    told = command[command.index("--ros-args") + 1 : command.index(command[-1])]
    expected = ["-r", f"__ns:={namespace}", "-p", "tick_rate:=5.0", "--params-file", str(file)]
    assert told == [*expected, "-r", "/tf:=tf", "-r", "/clock:=clock", "--params-file"]
    with open(command[-1], encoding="utf-8") as parameters:
        values = yaml.safe_load(parameters)
    assert set(values) == {f"{namespace}/behavior_executor", f"{namespace}/scene"}
    journal = values[f"{namespace}/behavior_executor"]["ros__parameters"]["journal_file"]
    assert journal == str(journal_file(f"launch{namespace}", "block_stacking"))


class Configure(Action):
    """Changes launch configurations, as actions of launch_ros do when they are executed."""

    def execute(self, configurations: dict[str, Any]) -> None:
        raise NotImplementedError


class PushRosNamespace(Configure):
    def execute(self, configurations: dict[str, Any]) -> None:
        configurations["ros_namespace"] = self.positional[0]


class SetRemap(Configure):
    def execute(self, configurations: dict[str, Any]) -> None:
        configurations.setdefault("ros_remaps", []).append(self.positional)


@pytest.mark.usefixtures("at_once")
def test_the_launch_file_of_the_page_brings_up_two_robots(
    launch_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    (source,) = [part for part in page.split("```python\n")[1:] if "PushRosNamespace" in part]
    launch_actions, ros_actions = sys.modules["launch.actions"], sys.modules["launch_ros.actions"]
    for name in ("GroupAction", "IncludeLaunchDescription"):
        monkeypatch.setattr(launch_actions, name, type(name, (Action,), {}), raising=False)
    for made in (PushRosNamespace, SetRemap):
        monkeypatch.setattr(ros_actions, made.__name__, made, raising=False)
    for module, name in (
        ("launch.substitutions", "PathJoinSubstitution"),
        ("launch_ros.substitutions", "FindPackageShare"),
    ):
        stand_in = types.ModuleType(module)
        setattr(stand_in, name, Action)
        monkeypatch.setitem(sys.modules, module, stand_in)
    contents: dict[str, Any] = {}
    exec(source.partition("```")[0], contents)
    for name, group in zip(
        ("left", "right"), contents["generate_launch_description"]().positional[0], strict=True
    ):
        *settings, included = group.positional[0]
        (path,) = included.positional
        assert path.positional[0][1:] == ["launch", "bringup.launch.py"]
        configurations: dict[str, Any] = {}
        for setting in settings:
            setting.execute(configurations)
        arguments = dict(included.keywords["launch_arguments"])
        for action in actions_of(launch_file, **configurations, **arguments).values():
            if isinstance(action, Node):
                continue  # launch_ros sees to it
            command = action.keywords["cmd"]
            assert f"__ns:=/{name}" in command
            assert {"/tf:=tf", "/tf_static:=tf_static", "/clock:=clock"} <= set(command)


ONLY_THE_DISTRIBUTIONS = """
import sys, types

class Finder:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        ours = ("behavior_packages", "behavior_bringup", "yaml", "_yaml", "ament_index_python")
        if root not in sys.stdlib_module_names and root not in ours:
            raise ImportError(f"{name} is not the distribution's")

sys.meta_path.insert(0, Finder())
for part in ("launch", "launch_ros", "ros2cli"):
    for name in (part, f"{part}.actions", f"{part}.logging", f"{part}.command"):
        module = sys.modules[name] = types.ModuleType(name)
        module.__getattr__ = lambda name: object
import behavior_bringup.stacks.launching, behavior_bringup.commands.ros2cli_command
"""


def test_what_runs_inside_ros2_needs_nothing_beyond_the_distribution() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONLY_THE_DISTRIBUTIONS], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
