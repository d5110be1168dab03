# SPDX-License-Identifier: Apache-2.0
"""Puts together what the verbs need, from what is installed and what runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from behavior_assistant.audit import Audit
from behavior_assistant.checked_trees import CheckedTree, TreeChecker
from behavior_assistant.episodes import Episode
from behavior_assistant.proposals import Proposals
from behavior_assistant.workbench import Workbench
from behavior_bringup.stacks.stack import TREE_NODES, Stack
from behavior_executor.missions.catalogue import EVERYTHING, MissionCatalogue, catalogue_of
from behavior_packages import packages
from behavior_packages.folders import proposals_folder
from behavior_tree import BehaviorTreeFactory
from behavior_tree.cli import make_factory


def audit_of(folder: Path) -> Audit:
    """The audit file of a folder of proposals."""
    return Audit(folder / "audit.jsonl")


def missions_folder(stack: str) -> Path | None:
    """The folder of missions of their own that a stack was given; None: none, or it is down."""
    state = Stack(stack).state()
    named = str(state.arguments.get("missions", "")) if state is not None else ""
    return Path(named) if named else None


def make_checker(stack: str) -> TreeChecker:
    """Checks trees against the node types of all packages here, and while a stack is up also those
    that only its executor has.
    """
    own = missions_folder(stack)
    folders = [folder for _, folder in packages().folders("trees")]
    return TreeChecker(lambda: _factory(stack), [*folders, *([own] if own else [])])


def make_catalogue(stack: str) -> MissionCatalogue:
    """The missions of all packages here, and of the stack's own folder."""
    own = missions_folder(stack)
    return catalogue_of([EVERYTHING, *([str(own)] if own else [])])


def make_workbench(stack: str, namespace: str, world: str, *, may_propose: bool) -> Workbench:
    """What the MCP server offers.

    Args:
        stack: whose scene is read, and of which copies are made; it need not be up yet.
        namespace: of the robot; empty: none.
        world: in which trees are simulated.
        may_propose: whether proposals are kept.
    """
    folder = proposals_folder()

    def scene() -> Mapping[str, Mapping[str, Any]]:
        from behavior_assistant.believed_objects import believed_objects

        return believed_objects(stack, namespace)

    def simulate(tree: CheckedTree, episodes: int) -> list[Episode]:
        from behavior_assistant.simulated_stack import simulated_stack

        with simulated_stack(world, speed=0.0) as simulated:
            return simulated.run(tree, episodes)

    def preview(name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        from behavior_bringup.preview.run import PreviewOptions, preview_mission

        options = PreviewOptions(namespace=namespace)
        return preview_mission(Stack(stack), name, parameters, options).row()

    return Workbench(
        checker=_newest_checker(stack),
        catalogue=lambda: make_catalogue(stack),
        scene=scene,
        simulate=simulate,
        preview=preview,
        proposals=Proposals(folder, audit_of(folder)),
        may_propose=may_propose,
    )


def _newest_checker(stack: str) -> Callable[[], TreeChecker]:
    """`make_checker`, again only when another stack is up: a factory takes its time."""
    made: dict[tuple[Path | None, Path | None], TreeChecker] = {}

    def newest() -> TreeChecker:
        key = (_nodes_file(stack), missions_folder(stack))
        if key not in made:
            made.clear()
            made[key] = make_checker(stack)
        return made[key]

    return newest


def _nodes_file(stack: str) -> Path | None:
    """The node types of a running stack's executor, as it has written them down."""
    state = Stack(stack).state()
    file = Path(state.log_dir) / TREE_NODES if state is not None else None
    return file if file is not None and file.is_file() else None


def _factory(stack: str) -> BehaviorTreeFactory:
    from behavior_bringup.tree_nodes import register_suite_nodes

    file = _nodes_file(stack)
    return make_factory([file] if file is not None else [], extend=register_suite_nodes)
