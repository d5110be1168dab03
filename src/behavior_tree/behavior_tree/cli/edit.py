# SPDX-License-Identifier: Apache-2.0
"""`behavior tree edit`: one change of a tree file and what it includes."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from behavior_tree.editing.references import References
from behavior_tree.editing.tree_files import TreeFiles
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.sharing.identified import State, first_state
from behavior_tree.sharing.operations import changed
from behavior_tree.xml.edit import XmlEditor

OPERATIONS = {
    "set": "NODE NAME=TEXT ...",
    "unset": "NODE NAME ...",
    "insert": "PARENT XML",
    "remove": "NODE",
    "replace": "NODE XML",
    "move": "NODE PARENT",
    "rename": "NODE NAME",
    "rename-entry": "TREE ENTRY NAME",
    "duplicate": "NODE [NAME]",
    "extract": "NODE TREE_ID",
    "inline": "NODE",
    "mirror": "NODE",
}
"""What may be done, and the arguments of each."""


def add_edit(add: Callable[..., argparse.Action]) -> None:
    """Add the arguments of the command, but for those of the factory."""
    add_operation(add, OPERATIONS)
    add("--diff", action="store_true", help="show what would change, and write nothing")


def add_operation(add: Callable[..., argparse.Action], operations: Mapping[str, str]) -> None:
    """Add the arguments that say what to change.

    Args:
        add: adds one
        operations: what may be done, and the arguments of each
    """
    shapes = "; ".join(f"{name} {shape}".strip() for name, shape in operations.items())
    add("operation", choices=list(operations), metavar="OPERATION", help=shapes)
    add("arguments", nargs="*", metavar="ARGUMENT", help="NODE: as much of its path as is unique")
    add("--before", metavar="NODE", help="insert, move: stand before this child, else behind all")
    add("--normal", nargs=3, type=float, metavar=("X", "Y", "Z"), help="mirror: of the plane")
    add("--distance", type=float, metavar="M", help="mirror: of the plane from the origin [m]")


def edit_file(file: Path, factory: BehaviorTreeFactory, options: argparse.Namespace) -> list[str]:
    """Make the change; returns lines to print: the files that were written, or the difference.

    Raises:
        BehaviorTreeError: it cannot be made; nothing has changed
        OSError: a file cannot be written
    """
    state = first_state(TreeFiles(file, factory))
    operation = operation_from(options, lambda name: _identifier(state, name))
    after, _, notes = changed(state, operation)
    files = after.files
    lines = [f"note: {note}" for note in notes.split("; ") if note]
    if options.diff:
        before = state.files.data
        return lines + [
            line
            for each in files.modified
            for line in difflib.unified_diff(
                before[each].decode().splitlines(),
                files.data[each].decode().splitlines(),
                str(each),
                str(each),
                lineterm="",
            )
        ]
    return lines + ([f"{each} written" for each in files.save()] or ["nothing has changed"])


def operation_from(options: argparse.Namespace, find: Callable[[str], str]) -> dict[str, Any]:
    """The operation on a shared tree that somebody has described.

    Args:
        options: of `add_operation`; one of `OPERATIONS`
        find: the identifier of the node that is called so

    Raises:
        BehaviorTreeError: an argument is missing, or no node or several are called so
    """
    op, arguments = options.operation, options.arguments
    _check_count(op, arguments)
    node = find(arguments[0])
    before = "" if options.before is None else find(options.before)
    if op in ("set", "unset"):
        pairs = [_pair(each) if op == "set" else (each, None) for each in arguments[1:]]
        return {"op": "set", "node": node, "attributes": dict(pairs)}
    if op == "insert":
        return {"op": op, "parent": node, "xml": arguments[1], "before": before}
    if op == "replace":
        return {"op": op, "node": node, "xml": arguments[1]}
    if op == "move":
        parent = find(arguments[1])
        return {"op": op, "node": node, "parent": parent, "before": before}
    if op == "rename-entry":
        return {"op": "rename_entry", "tree": node, "entry": arguments[1], "name": arguments[2]}
    found: dict[str, Any] = {"op": op, "node": node}
    if len(arguments) > 1:
        found["name"] = arguments[1]
    if op == "mirror":
        plane = {"normal": options.normal, "distance": options.distance}
        found |= {name: value for name, value in plane.items() if value is not None}
    return found


def _check_count(op: str, arguments: Sequence[str]) -> None:
    words = OPERATIONS[op].split()
    needed = [word for word in words if word != "..." and not word.startswith("[")]
    most = len(needed) + 1 if OPERATIONS[op].endswith("]") else len(needed)
    if len(arguments) < len(needed) or (len(arguments) > most and words[-1] != "..."):
        raise BehaviorTreeError(f"'{op}' takes {OPERATIONS[op]}")


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BehaviorTreeError(f"must look like NAME=TEXT, not '{text}'")
    return name, value


def _identifier(state: State, name: str) -> str:
    """Of the node that is called so in the files."""
    editors = {file: XmlEditor(data, str(file)) for file, data in state.files.data.items()}
    place = References(editors, state.files.factory.manifests()).find(name)
    for identifier in state.spots:
        if state.address(identifier) == (place.file, place.address):
            return identifier
    raise AssertionError("each element has an identifier")
