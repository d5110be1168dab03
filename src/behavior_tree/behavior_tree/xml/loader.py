# SPDX-License-Identifier: Apache-2.0
"""From files to a set of tree definitions: includes, models, names; nothing is built here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from behavior_tree.errors import LoadError, XmlProblem
from behavior_tree.ports import model_name_mistake, port_name_mistake
from behavior_tree.xml.document import Element, parse_xml

__all__ = ["DocumentSet", "Loader", "SubTreePort", "TreeDefinition", "package_share"]

TEXT = "<text>"
"""Name of documents that are no file."""


@dataclass(frozen=True)
class TreeDefinition:
    """One ``<BehaviorTree>``."""

    id: str
    element: Element


@dataclass(frozen=True)
class SubTreePort:
    """One port of a SubTree in a ``<TreeNodesModel>``."""

    name: str
    direction: str
    default: str | None
    description: str


@dataclass
class DocumentSet:
    """What a file with its includes defines."""

    trees: dict[str, TreeDefinition] = field(default_factory=dict)
    models: dict[str, dict[str, SubTreePort]] = field(default_factory=dict)
    """Ports by SubTree ID."""
    own_trees: list[str] = field(default_factory=list)
    """IDs defined in the first document itself, not in includes."""
    main_tree: str | None = None
    """``main_tree_to_execute`` of the first document."""
    problems: list[XmlProblem] = field(default_factory=list)
    includes: bool = False
    """True if the first document includes others."""


def package_share(package: str) -> Path:
    """Share directory of a ROS package, by the ament index; raises LookupError."""
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        if (Path(prefix) / "share/ament_index/resource_index/packages" / package).exists():
            return Path(prefix) / "share" / package
    raise LookupError(f"ROS package '{package}' is not in AMENT_PREFIX_PATH")


class Loader:
    """Reads one document and everything it includes into a `DocumentSet`."""

    def __init__(self, auto_id: Callable[[], str], *, check_format: bool = True) -> None:
        self._auto_id = auto_id
        self._check_format = check_format
        self._set = DocumentSet()
        self._stack: list[Path] = []

    def load_file(self, path: Path) -> DocumentSet:
        """Read a file; raises nothing, problems are in the result."""
        self._file(path, None)
        return self._set

    def load_text(self, text: str, directory: Path) -> DocumentSet:
        """Read a string; relative includes are looked up in ``directory``."""
        try:
            root = parse_xml(_without_declaration(text).encode("utf-8", "replace"), TEXT)
        except LoadError as error:
            self._set.problems.extend(error.problems)
        else:
            self._document(root, directory, first=True)
        return self._set

    def _file(self, path: Path, include: Element | None) -> None:
        path = Path(os.path.normpath(path.absolute()))
        if path in self._stack and include is not None:
            chain = " -> ".join(p.name for p in [*self._stack, path])
            self._add(include, f"include cycle: {chain}", "remove one of these includes", "path")
            return
        try:
            data = path.read_bytes()
        except OSError as error:
            self._unreadable(path, include, error)
            return
        self._stack.append(path)
        try:
            self._document(parse_xml(data, str(path)), path.parent, first=include is None)
        except LoadError as error:
            self._set.problems.extend(error.problems)
        finally:
            self._stack.pop()

    def _unreadable(self, path: Path, include: Element | None, error: OSError) -> None:
        message = f"cannot read {path}: {error.strerror or error}"
        if include is None:
            self._set.problems.append(XmlProblem(str(path), 0, 0, "", message, "check the path"))
        else:
            self._add(include, message, "paths are relative to the including file", "path")

    def _document(self, root: Element, directory: Path, *, first: bool) -> None:
        if root.tag != "root":
            self._add(
                root, f"The XML must have a root node called <root>, not <{root.tag}>", "rename it"
            )
            return
        self._format(root)
        if first:
            self._set.main_tree = root.get("main_tree_to_execute")
        for child in root.children:
            if child.tag == "include":
                self._set.includes |= first
                self._include(child, directory)
        models = [child for child in root.children if child.tag == "TreeNodesModel"]
        for model in models[:1]:
            self._models(model)
        for extra in models[1:]:
            self._add(
                extra, "Only a single node <TreeNodesModel> is supported", "merge them into one"
            )
        for child in root.children:
            if child.tag == "BehaviorTree":
                self._tree(child, only_child=len(root.children) == 1, first=first)

    def _format(self, root: Element) -> None:
        version = root.get("BTCPP_format")
        if self._check_format and version is not None and version != "4":
            self._add(
                root,
                f'BTCPP_format="{version}" is not supported',
                'convert the file to version 4 and write BTCPP_format="4"',
                "BTCPP_format",
            )

    def _include(self, element: Element, directory: Path) -> None:
        path = element.get("path")
        if not path:
            self._add(
                element, "Invalid <include> tag: missing 'path' attribute", 'write path="file.xml"'
            )
            return
        target = Path(path)
        package = element.get("ros_pkg")
        if package and not target.is_absolute():
            try:
                target = package_share(package) / target
            except LookupError as error:
                self._add(element, str(error), "source the workspace that contains it", "ros_pkg")
                return
        self._file(directory / target, element)

    def _tree(self, element: Element, *, only_child: bool, first: bool) -> None:
        tree_id = element.get("ID")
        if tree_id is None:
            if not only_child:
                self._add(
                    element,
                    "The tag <BehaviorTree> must have the attribute [ID]",
                    'write <BehaviorTree ID="...">; only a document with one tree and nothing '
                    "else may omit it",
                )
                return
            tree_id = self._auto_id()
        mistake = model_name_mistake(tree_id)
        if mistake:
            self._add(element, mistake, "rename the tree", "ID")
            return
        self._set.trees[tree_id] = TreeDefinition(tree_id, element)
        if first:
            self._set.own_trees.append(tree_id)

    def _models(self, element: Element) -> None:
        for child in element.children:
            if child.tag != "SubTree":
                continue  # the others describe code, they are for editors
            tree_id = child.get("ID")
            if not tree_id:
                self._add(
                    child,
                    "Missing attribute 'ID' in SubTree element within TreeNodesModel",
                    'write ID="name of the tree"',
                )
                continue
            self._set.models[tree_id] = {
                port.name: port
                for port in map(self._model_port, child.children)
                if port is not None
            }

    def _model_port(self, element: Element) -> SubTreePort | None:
        if element.tag not in ("input_port", "output_port", "inout_port"):
            return None
        name = element.get("name")
        mistake = (
            "Missing attribute [name] in port (SubTree model)"
            if name is None
            else port_name_mistake(name)
        )
        if mistake or name is None:
            self._add(element, mistake or "", "name the port", "name")
            return None
        description = element.get("description") or element.text.strip()
        return SubTreePort(
            name, element.tag.removesuffix("_port"), element.get("default"), description
        )

    def _add(
        self, element: Element, message: str, remedy: str, attribute: str | None = None
    ) -> None:
        self._set.problems.append(element.problem(message, remedy, attribute=attribute))


def _without_declaration(text: str) -> str:
    """Blank out ``<?xml ...?>``: its encoding no longer holds, and it may stand behind white
    space.
    """
    start = len(text) - len(text.lstrip())
    if not text.startswith("<?xml", start):
        return text
    end = text.find("?>", start) + 2
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
