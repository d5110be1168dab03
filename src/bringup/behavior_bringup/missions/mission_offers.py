# SPDX-License-Identifier: Apache-2.0
"""Which missions a stack can run, and why not the others: read from its files, without ROS.

A mission can run where its tree loads with the nodes that the stack's executor has (it writes them
down when it starts), and in the worlds that its file names, if it names any::

    <TreeNodesModel>
      <SubTree ID="open_door">
        <MetadataFields><Metadata world="door"/></MetadataFields>
      </SubTree>
    </TreeNodesModel>
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_bringup.stacks.description import Node, load_stack, resolve, stack_file
from behavior_bringup.stacks.environment import machine_kind
from behavior_bringup.stacks.stack import TREE_NODES
from behavior_bringup.stacks.state import StackState
from behavior_executor.missions.catalogue import EVERYTHING, MissionEntry, catalogue_of
from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, LoadError
from behavior_tree.cli import make_factory

_EXECUTOR = "behavior_executor.node.executor_node:BehaviorExecutor"
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_UNKNOWN = re.compile(r"Node not recognized: (\S+)")
_TYPES = {"std::string": "text", "": "text"}


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A mission, as somebody sees it who wants to run it."""

    name: str
    about: str
    """What its file says of it."""
    file: str = ""
    parameters: tuple[dict[str, Any], ...] = ()
    """Each with name, type, default (None: must be given) and description."""
    worlds: tuple[str, ...] = field(default=())
    """It is made for these; empty: for any."""
    why_not: str = ""
    """Why this stack cannot run it; empty: it can."""

    @property
    def description(self) -> str:
        """One line."""
        return self.about.splitlines()[0] if self.about else ""

    def parameter_texts(self) -> list[str]:
        """A line for each parameter: name, type and default."""
        return [
            f"{each['name']}: {each['type']}"
            + ("" if each["default"] is None else f" = {each['default']}")
            for each in self.parameters
        ]

    def row(self) -> dict[str, Any]:
        """The offer in plain values, for programs."""
        return {
            "name": self.name,
            "description": self.description,
            "file": self.file,
            "parameters": list(self.parameters),
            "worlds": list(self.worlds),
            "runs_here": not self.why_not,
            "why_not": self.why_not,
        }


def offers_of(state: StackState) -> list[Offer]:
    """The missions in the folders of a running stack's executor, by name.

    Raises:
        BringupError: the stack's description cannot be read any more.
    """
    executor = _executor(state)
    if executor is None:
        return []
    given = executor.parameters
    catalogue = catalogue_of(
        given.get("tree_directories", [EVERYTHING]), given.get("behavior_tree_file", "")
    )
    nodes = Path(state.log_dir) / TREE_NODES
    return [_offer(entry, state.world, nodes) for entry in catalogue.entries()]


def _executor(state: StackState) -> Node | None:
    description = load_stack(stack_file(state.world))
    processes = resolve(description, environment=machine_kind(), arguments=state.arguments)
    nodes = (node for process in processes for node in process.nodes)
    return next((node for node in nodes if node.target == _EXECUTOR), None)


def _offer(entry: MissionEntry, world: str, nodes: Path) -> Offer:
    return Offer(
        name=entry.name,
        about=_description(entry),
        file=str(entry.path),
        parameters=tuple(
            {
                "name": each.name,
                "type": _TYPES.get(each.type, each.type),
                "default": each.default,
                "description": each.description,
            }
            for each in entry.parameters
        ),
        worlds=entry.worlds,
        why_not=_why_not(entry, world, nodes),
    )


def _description(entry: MissionEntry) -> str:
    """The comment that opens the file."""
    try:
        text = entry.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return entry.description
    comment = _COMMENT.search(text, 0, max(text.find("<root"), 0))
    about = "\n".join(map(str.strip, comment.group(1).strip().splitlines())) if comment else ""
    # A file that cannot be read says so in its description alone.
    return about if about.startswith(entry.description) else entry.description


def _why_not(entry: MissionEntry, world: str, nodes: Path) -> str:
    if entry.worlds and world not in entry.worlds:
        return f"it is made for the world {' or '.join(entry.worlds)}"
    factory = _factory(nodes)
    try:
        factory.register_behavior_tree_from_file(entry.path)
        if entry.main_tree:
            factory.create_tree(entry.main_tree)
    except LoadError as error:
        return _in_short(error)
    except (BehaviorTreeError, OSError, UnicodeDecodeError) as error:
        return " ".join(str(error).split())
    return ""


def _factory(nodes: Path) -> BehaviorTreeFactory:
    """Stand-ins for the nodes of the executor; without its file, for the suite's own."""
    if nodes.is_file():
        return make_factory([nodes])
    from behavior_bringup.tree_nodes import register_suite_nodes

    return make_factory([], extend=register_suite_nodes)


def _in_short(error: LoadError) -> str:
    """The nodes that are missing, else the first problem."""
    messages = [problem.message for problem in error.problems]
    missing = sorted({match.group(1) for text in messages if (match := _UNKNOWN.search(text))})
    if not missing:
        return str(error.problems[0])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return f"the stack's executor has no node {', '.join(missing[:3])}{more}"
