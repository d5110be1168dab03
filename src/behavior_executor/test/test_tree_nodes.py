# SPDX-License-Identifier: Apache-2.0
"""Tree nodes that packages bring: all of them are there, whatever one of them does wrong."""

from pathlib import Path

import pytest

from behavior_executor.node.tree_nodes import (
    NodeContext,
    package_node_models,
    register_package_nodes,
)
from behavior_tree import BehaviorTreeFactory

CODE = """
def register(factory, context):
    factory.register_simple_action("{0}", lambda node: NodeStatus.SUCCESS)
    {1}
"""


def package(prefix: Path, name: str, manifest: str, **files: str) -> None:
    share = prefix / "share" / name
    share.mkdir(parents=True)
    (share / "behavior.yaml").write_text(manifest)
    for file, text in files.items():
        (share / f"{file}.yaml").write_text(text)
    index = prefix / "share/ament_index/resource_index/behavior_packages"
    index.mkdir(parents=True, exist_ok=True)
    (index / name).write_text("")


def code(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(f"from behavior_tree import NodeStatus\n{text}")


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("behavior_packages.entry_points", lambda group: [])  # the suite's own
    return tmp_path


def registered(prefix: Path) -> tuple[set[str], list[str]]:
    factory, problems = BehaviorTreeFactory(), []
    own = set(factory.manifests())
    register_package_nodes(factory, NodeContext(node=None, scene=None), problems.append)
    return set(factory.manifests()) - own, problems


def test_a_package_that_fails_is_told_with_its_line_and_stops_no_other(prefix: Path) -> None:
    for name, extra in (("a_fault", "raise KeyError('x')"), ("b_good", ""), ("d_good", "")):
        code(prefix, f"nodes_of_{name}", CODE.format(f"{name}_wave", extra))
        package(prefix, name, f"tree_nodes: ['nodes_of_{name}:register']")
    package(prefix, "c_absent", "tree_nodes: ['nodes_of_nobody:register']")
    names, problems = registered(prefix)
    assert {"b_good_wave", "d_good_wave"} <= names
    fault, absent = problems
    assert "a_fault/behavior.yaml:1" in fault
    assert "nodes_of_a_fault.py:5: KeyError" in fault
    assert "No module named 'nodes_of_nobody'" in absent


def test_two_packages_with_one_node_are_named_both(prefix: Path) -> None:
    for name in ("first", "second"):
        code(prefix, f"waving_of_{name}", CODE.format("Wave", ""))
        package(prefix, name, f"tree_nodes: ['waving_of_{name}:register']")
    names, (problem,) = registered(prefix)
    assert "Wave" in names
    assert "'Wave' is offered by first (" in problem
    assert "and second (" in problem


def test_models_of_packages_are_read_file_by_file(prefix: Path) -> None:
    say = "nodes: [{node: Say, publisher: /say, type: std_msgs/msg/String}]"
    for name, text in (("a", say), ("b", "nodes: [{node: Bad}]"), ("c", say)):
        package(prefix, name, "nodes: [models.yaml]", models=text)
    problems: list[str] = []
    files = package_node_models([], problems.append)
    assert [model.node for models in files for model in models] == ["Say"]
    assert "node Bad" in problems[0]
    assert "a (" in problems[1]
    assert "c (" in problems[1]
    told: list[str] = []
    assert not any(package_node_models(["Say"], told.append))
    assert "there is a tree node Say already" in told[0]
