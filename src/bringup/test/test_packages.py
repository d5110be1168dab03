# SPDX-License-Identifier: Apache-2.0
"""`behavior packages`, and stacks that packages offer."""

import json
import os
import re
from pathlib import Path

import pytest

from behavior_bringup.cli import main
from behavior_bringup.errors import UsageError
from behavior_bringup.stacks.description import load_stack, resolve, stack_file

STACK = """
description: A kitchen.
extends: block_stacking
arguments: {world: {default: kitchen}}
processes:
  executor: {nodes: {scene: {parameters: {library: "${share}/kitchen.yaml"}}}}
"""


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in an overlay of the suite's."""
    share = tmp_path / "share" / "kitchen_jobs"
    share.mkdir(parents=True)
    (share / "behavior.yaml").write_text("stacks: [stacks]\n")
    (share / "stacks").mkdir()
    (share / "stacks" / "kitchen.yaml").write_text(STACK)
    index = tmp_path / "share/ament_index/resource_index/behavior_packages"
    index.mkdir(parents=True)
    (index / "kitchen_jobs").write_text("")
    prefixes = os.environ["AMENT_PREFIX_PATH"]
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}{os.pathsep}{prefixes}")
    return share


@pytest.mark.slow
def test_the_suites_packages_are_listed_and_nothing_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["packages", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    offers = {package["name"]: package["offers"] for package in told["packages"]}
    assert told["problems"] == []
    assert "stack_blocks" in offers["behavior_jobs"]["trees"]
    assert "planner" in offers["behavior_navigation"]["managers"]
    assert main(["packages", "behavior_jobs"]) == 0
    (judges,) = re.findall(r"judges: (.*)", capsys.readouterr().out)
    assert {"decider_stack_blocks", "insert_shelf"} <= set(judges.split(", "))


def test_a_broken_package_is_told_with_file_and_line(
    share: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (share / "behavior.yaml").write_text(
        "stacks: [stacks]\njudges: {job: 'nowhere:JOB'}\nwrlds: []"
    )
    assert main(["packages", "kitchen_jobs"]) == 1
    told = capsys.readouterr()
    assert "stacks: kitchen" in told.out
    assert f"{share}/behavior.yaml:3: 'wrlds' is nothing to offer" in told.err.replace("\n", "")
    assert f"{share}/behavior.yaml:2: nowhere:JOB" in told.err.replace("\n", "")
    assert main(["packages", "kitchn_jobs"]) == 2  # as every name that nobody knows
    told = capsys.readouterr().err
    assert "No package 'kitchn_jobs'" in told
    assert "did you mean 'kitchen_jobs'?" in told


def test_a_stack_extends_one_of_another_package_and_has_its_own_files(share: Path) -> None:
    stack = load_stack(stack_file("kitchen"))
    (executor,) = (
        process
        for process in resolve(stack, environment="pip", arguments={"world": "door"})
        if process.name == "executor"
    )
    scene = next(node for node in executor.nodes if node.name == "scene")
    assert scene.parameters["library"] == str(share / "kitchen.yaml")
    assert stack_file("kitchen_jobs/kitchen") == share / "stacks" / "kitchen.yaml"


def test_stacks_of_one_name_are_told_apart(share: Path) -> None:
    (share / "stacks" / "door.yaml").write_text(STACK)
    with pytest.raises(
        UsageError, match=r"'door'.*behavior_jobs \(.*and kitchen_jobs \(.*say which"
    ):
        stack_file("door")
    assert stack_file("behavior_jobs/door").parent.name == "stacks"
