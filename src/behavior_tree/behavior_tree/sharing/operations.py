# SPDX-License-Identifier: Apache-2.0
"""What each operation makes of shared tree files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from behavior_tree.editing.extract import duplicate, extract, inline
from behavior_tree.editing.mirror import XZ_PLANE, MirrorPlane, mirror
from behavior_tree.editing.references import NodeName, label_of
from behavior_tree.editing.rename import rename_entry, rename_node, rename_tree
from behavior_tree.editing.tree_files import Editors, TreeFiles
from behavior_tree.errors import LogicError
from behavior_tree.sharing.carried import carried
from behavior_tree.sharing.edits import STEPS, Operation
from behavior_tree.sharing.identified import Draft, State, set_attributes

Outcome = tuple[State, tuple[str, ...], str]
"""The files after an operation, identifiers of new nodes, and what to look at."""


def changed(state: State, operation: Operation) -> Outcome:
    """Files after an operation, but not ``undo``, ``redo`` and ``save``.

    Raises:
        LogicError: it cannot be done
        LoadError: the files would not load
    """
    op = operation["op"]
    if op in STEPS:
        return _stepped(state, [operation])
    if op == "several":
        return _stepped(state, operation["steps"])
    files = state.files.fork()
    notes = ""
    if op == "refresh":
        files.refresh()
    elif op == "revert":
        files = files.as_on_disk()
    else:
        notes = _REFACTORINGS[op](state, files, operation)
    if op in ("rename", "rename_entry", "mirror"):  # no element comes, goes or moves
        return State(files, state.numbers, state.next_number), (), notes
    after = carried(state, files)
    return after, tuple(id for id in after.spots if id not in state.spots), notes


def retagged(operation: Operation) -> tuple[str, ...] | None:
    """Identifiers of the nodes whose attributes alone an operation changes; None: it does more."""
    steps = operation["steps"] if operation["op"] == "several" else [operation]
    if all(step["op"] == "set" for step in steps):
        return tuple(dict.fromkeys(step["node"] for step in steps))
    return None


def _stepped(state: State, steps: list[Operation]) -> Outcome:
    if all(step["op"] == "set" for step in steps):
        return _set(state, steps), (), ""
    files, drafts = state.files.fork(), []

    def edit(editors: Editors) -> None:
        drafts.append(Draft(state, editors))
        for step in steps:
            _STEPS[step["op"]](drafts[0], step)

    files.change(edit)
    draft = drafts[0]
    return State(files, draft.numbers, draft.next_number), tuple(draft.made), ""


def _set(state: State, steps: list[Operation]) -> State:
    """No element comes, goes or moves, so all keep their identifiers."""
    files = state.files.fork()

    def edit(editors: Editors) -> None:
        for step in steps:
            file, address = state.address(step["node"])
            set_attributes(editors[file], address, step["attributes"])

    files.change(edit)
    return State(files, state.numbers, state.next_number)


_STEPS: Mapping[str, Callable[[Draft, Operation], object]] = {
    "insert": lambda draft, it: draft.insert(it["parent"], it.get("before", ""), it["xml"]),
    "remove": lambda draft, it: draft.remove(it["node"]),
    "move": lambda draft, it: draft.move(it["node"], it["parent"], it.get("before", "")),
    "replace": lambda draft, it: draft.replace(it["node"], it["xml"]),
    "set": lambda draft, it: draft.set(it["node"], it["attributes"]),
}


def _rename(state: State, files: TreeFiles, it: Operation) -> str:
    spot = state.spot(it["node"])
    if spot.element.tag == "BehaviorTree":
        rename_tree(files, label_of(spot.element), it["name"])
    else:
        rename_node(files, state.address(it["node"]), it["name"])
    return ""


def _rename_entry(state: State, files: TreeFiles, it: Operation) -> str:
    spot = state.spot(it["tree"])
    if spot.element.tag != "BehaviorTree":
        raise LogicError(f"[tree] is a <BehaviorTree>, not a <{spot.element.tag}>")
    rename_entry(files, label_of(spot.element), it["entry"], it["name"])
    return ""


def _mirror(state: State, files: TreeFiles, it: Operation) -> str:
    x, y, z = it.get("normal", XZ_PLANE.normal)
    plane = MirrorPlane((x, y, z), it.get("distance", 0.0))
    return "; ".join(mirror(files, state.address(it["node"]), plane))


def _simple(
    change: Callable[..., Any], *names: str
) -> Callable[[State, TreeFiles, Operation], str]:
    def run(state: State, files: TreeFiles, it: Operation) -> str:
        node: NodeName = state.address(it["node"])
        change(files, node, *(it[name] for name in names if name in it))
        return ""

    return run


_REFACTORINGS: Mapping[str, Callable[[State, TreeFiles, Operation], str]] = {
    "rename": _rename,
    "rename_entry": _rename_entry,
    "duplicate": _simple(duplicate, "name"),
    "extract": _simple(extract, "name"),
    "inline": _simple(inline),
    "mirror": _mirror,
}
