# SPDX-License-Identifier: Apache-2.0
"""From IHMC's behaviour JSON to a tree file.

Lists, waits, gotos, checkpoints and constant conditions become nodes of this suite. Each motion
stays a leaf of its own kind, ``IhmcArm`` and so on, with its fields as ports: the file is drawn,
scheduled, edited and simulated, and runs on a robot when these are registered or replaced. What
cannot be said by ports stands in an attribute ``_ihmc``, so that `export_ihmc` gives the
same bytes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from behavior_tree.blackboard.ports import model_name_mistake
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.importing.ihmc_export import NOTHING, digest, ruled
from behavior_tree.importing.ihmc_fields import modern, to_text
from behavior_tree.importing.ihmc_json import (
    Number,
    Object,
    compact,
    read_behavior,
    write_behavior,
)
from behavior_tree.importing.ihmc_nodes import HARD_CODED, IhmcNode, read_nodes
from behavior_tree.importing.imported import Imported
from behavior_tree.stand_ins import make_factory

_PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MOST_FILES = 200
HINTS = {
    "Arm": "MoveArm",
    "ScrewPrimitive": "Screw",
    "EZGripper": "MoveGripper",
    "AbilityHand": "MoveGripper",
    "Walk": "MoveBase or NavigateToPose",
    "Scene": "the scene's nodes",
}


def import_ihmc(path: Path) -> Imported:
    """Read a behaviour and all files that it names.

    Args:
        path: of the root's JSON file

    Raises:
        BehaviorTreeError: a file is missing or no behaviour
        OSError: a file cannot be read
    """
    root, _ = read_behavior(path)
    name = str(root.get("name", ""))
    base = path.resolve().parent
    if (
        name.endswith(".json")
        and path.resolve().parts[-len(Path(name).parts) :] == Path(name).parts
    ):
        base = path.resolve().parents[len(Path(name).parts) - 1]
    reader = _Reader(base)
    reader.file(path.resolve().relative_to(base).as_posix())
    return reader.imported()


class _Reader:
    def __init__(self, base: Path) -> None:
        self._base = base
        self._trees: dict[str, ElementTree.Element | None] = {}
        """Tree of each file, None while it is read."""
        self._ids: dict[str, str] = {}
        self._types = make_factory(()).manifests()
        """Node types, by whose names no tree may be called."""
        self._ports: dict[str, dict[str, None]] = {}
        self._counts: dict[str, int] = {}
        """How many leaves there are of each kind that has no counterpart."""
        self._notes: list[str] = []

    def imported(self) -> Imported:
        root = ElementTree.Element("root", BTCPP_format="4")
        root.set("main_tree_to_execute", next(iter(self._ids.values())))
        root.extend([tree for tree in self._trees.values() if tree is not None])
        models = ElementTree.SubElement(root, "TreeNodesModel")
        for kind, ports in sorted(self._ports.items()):
            model = ElementTree.SubElement(models, "Action", ID=f"Ihmc{kind}")
            for port in ports:
                ElementTree.SubElement(model, "input_port", name=port)
        ElementTree.indent(root)
        for kind, count in sorted(self._counts.items()):
            leaves = f"{count} {'leaf' if count == 1 else 'leaves'} Ihmc{kind}"
            hint = f", or replace it by {HINTS[kind]}" if kind in HINTS else ""
            self._notes.append(f"{leaves}: no counterpart, register the type{hint}")
        text = ElementTree.tostring(root, encoding="unicode")
        return Imported(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', tuple(self._notes))

    # -- files ----------------------------------------------------------------------------------

    def file(self, name: str) -> str:
        """ID of the tree of a file."""
        if name in self._trees and self._trees[name] is None:
            raise BehaviorTreeError(f"{name} contains itself")
        if name in self._ids:
            return self._ids[name]
        path = (self._base / name).resolve()
        if not path.is_relative_to(self._base):
            raise BehaviorTreeError(f"{name} is not below {self._base}, where the behaviour is")
        if not path.is_file():
            raise BehaviorTreeError(f"{path}: no such file, which the behaviour names")
        if len(self._ids) >= MOST_FILES:
            raise BehaviorTreeError(f"more than {MOST_FILES} files")
        self._ids[name] = self._free_id(name)
        self._trees[name] = None
        json, text = read_behavior(path)
        if write_behavior(json) != text:
            self._notes.append(f"{name}: not in IHMC's layout, in which an export will write it")
        root = read_nodes(json, lambda note: self._notes.append(f"{name}: {note}"))
        for node in root.all():
            if node.kind == "Goto":
                _note_inside(node, str(node.json.get("nodeToGoto", "Next")))
        tree = ElementTree.Element("BehaviorTree", ID=self._ids[name])
        tree.append(self._list(root, name))
        self._trees[name] = tree
        return self._ids[name]

    def _free_id(self, name: str) -> str:
        plain = re.sub(r"\W+", "_", name.removesuffix(".json")).strip("_") or "Behavior"
        plain = f"file_{plain}" if plain.startswith("Ihmc") else plain  # as leaves are called
        number, free = 2, plain
        while free in self._ids.values() or free in self._types or model_name_mistake(free):
            free, number = f"{plain}_{number}", number + 1
        return free

    # -- nodes ----------------------------------------------------------------------------------

    def _list(self, node: IhmcNode, file: str) -> ElementTree.Element:
        tag = "Try" if node.catch is not None else "ConcurrentSequence"
        made = self._made(tag, node)
        if node.kind in HARD_CODED:
            self._notes.append(
                f"{file}: '{node.name}' is a {node.kind}: only its children are here"
            )
        made.extend([self._child(child, file) for child in node.children])
        if not node.children:  # a list here has one child at least
            ElementTree.SubElement(made, "AlwaysSuccess", _ihmc=NOTHING)
        if node.catch is not None:
            clause = ElementTree.SubElement(made, "Catch", name=_clean(node.catch.name))
            handled = ElementTree.SubElement(clause, "ConcurrentSequence")
            handled.extend([self._child(child, file) for child in node.catch.children])
        self._keep(made, node)
        return made

    def _child(self, node: IhmcNode, file: str) -> ElementTree.Element:
        made = self._list(node, file) if node.is_list else self._leaf(node, file)
        around = made
        if node.is_first or node.after:
            after = ";".join(node.after) or "beginning"
            around = ElementTree.Element("Step", execute_after=_clean(after))
            around.append(made)
            if node.is_list:  # which in the file says nothing of that
                around.set("_ihmc", NOTHING)
        if not node.is_list:
            self._keep(made, node, around)
        return around

    def _leaf(self, node: IhmcNode, file: str) -> ElementTree.Element:
        if node.kind == "File":
            made = ElementTree.Element("SubTree", ID=self.file(node.json["file"]))
            made.set("name", _clean(node.name))
            return made
        fields, notes = modern(node.json)
        self._notes += [f"{file}: '{node.name}': {note}" for note in notes]
        if node.kind == "Wait" and isinstance(fields.get("waitDuration"), Number):
            made = self._made("Sleep", node)
            made.set("msec", str(max(round(1000 * float(fields["waitDuration"])), 0)))
            return made
        if node.kind == "Checkpoint":
            return self._made("Checkpoint", node)
        if node.kind == "Goto":
            return self._goto(node, str(fields.get("nodeToGoto", "Next")), file)
        if node.kind == "Condition" and fields.get("conditionType") in (
            "ALWAYS_SUCCEED",
            "ALWAYS_FAIL",
        ):
            succeeds = fields["conditionType"] == "ALWAYS_SUCCEED"
            return self._made("AlwaysSuccess" if succeeds else "AlwaysFailure", node)
        return self._own(node, fields, file)

    def _own(self, node: IhmcNode, fields: Object, file: str) -> ElementTree.Element:
        """A leaf of its own kind, with its fields as ports."""
        kind = re.sub(r"\W", "_", node.kind)
        made = self._made(f"Ihmc{kind}", node)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        ports = self._ports.setdefault(kind, {})
        for name, value in fields.items():
            if not _PORT_NAME.fullmatch(name) or name in ("ID", "nominal_duration"):
                self._notes.append(f"{file}: '{node.name}': field '{name}' cannot be a port")
                continue
            made.set(name, _clean(to_text(value)))
            ports[name] = None
        if isinstance(fields.get("trajectoryDuration"), Number):
            made.set("nominal_duration", fields["trajectoryDuration"])
            ports["nominal_duration"] = None
        return made

    def _goto(self, node: IhmcNode, wanted: str, file: str) -> ElementTree.Element:
        to = None if wanted == "Next" else _target(node, wanted)
        if to is None:
            if wanted != "Next":
                self._notes.append(f"{file}: '{node.name}': no list around it has '{wanted}'")
            return self._made("Checkpoint", node)
        if to.said_name != wanted:
            self._notes.append(f"{file}: '{node.name}' goes to '{to.name}', where '{wanted}' is")
        made = self._made("Goto", node)
        made.set("to", _clean(to.name))
        return made

    def _made(self, tag: str, node: IhmcNode) -> ElementTree.Element:
        made = ElementTree.Element(tag, name=_clean(node.name))
        if isinstance(node.json.get("notes"), str) and node.json["notes"]:
            made.set("_description", _clean(node.json["notes"]))
        return made

    def _keep(
        self, made: ElementTree.Element, node: IhmcNode, around: ElementTree.Element | None = None
    ) -> None:
        """Note what the file has, where the rules of an export would not give it again, or where
        an export must know under which name it is called.
        """
        said = dict(node.json)
        if "children" in said:
            said["children"] = []
        rule = ruled(made, around if around is not made else None)
        if node.is_named or compact(said) != compact(rule):
            made.set("_ihmc", f"{digest(rule)} {compact(said)}")


def _target(node: IhmcNode, wanted: str) -> IhmcNode | None:
    """The child of a list around a Goto that has a name, or in which that is."""
    lists = node.above()
    for inside in (False, True):
        for each in lists:
            for child in each.children:
                names = {below.said_name for below in child.all()} if inside else {child.said_name}
                if child is not node and wanted in names:
                    return child
    root = lists[-1]
    return root.children[0] if root.said_name == wanted else None


def _note_inside(node: IhmcNode, wanted: str) -> None:
    """A Goto that goes to a list here calls a node in it by its name."""
    to = None if wanted == "Next" else _target(node, wanted)
    for each in [] if to is None or to.said_name == wanted else to.all():
        each.is_named = each.is_named or each.said_name == wanted


def _clean(text: Any) -> str:
    return _NO_XML.sub("?", str(text))
