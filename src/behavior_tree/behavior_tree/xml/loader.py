# SPDX-License-Identifier: Apache-2.0
"""From files to a set of tree definitions: includes, models, names; nothing is built here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from behavior_tree.blackboard.ports import model_name_mistake, model_name_works, port_name_mistake
from behavior_tree.errors import LoadError, XmlProblem
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import MAX_ELEMENTS, Element, parse_xml
from behavior_tree.xml.encoding import encoding_of
from behavior_tree.xml.files import read_document
from behavior_tree.xml.version3 import convert_elements, is_version_3

NO_SUCH_TREE = "Can't find a tree with name: "
"""How all problems begin that say so."""
TEXT = "<text>"
"""Name of documents that are no file."""
MAX_INCLUDE_DEPTH = 50
"""Deepest nesting of includes."""
MAX_INCLUDES = 1000
"""Most ``<include>`` elements in a document set."""

PackageShare = Callable[[str], Path]
"""From the name of a ROS package to its share directory; raises LookupError."""


@dataclass(frozen=True)
class TreeDefinition:
    """One ``<BehaviorTree>``."""

    id: str
    """As the document says, or made up for the only tree of a document."""
    element: Element

    @property
    def label(self) -> str:
        """What messages call it: nobody knows an ID that was made up."""
        return self.element.get("ID") or self.element.tag


@dataclass(frozen=True)
class SubTreePort:
    """One port of a SubTree in a ``<TreeNodesModel>``."""

    name: str
    direction: str
    default: str | None
    description: str
    type: str = ""
    """Name of the type, as the document writes it; empty: not told."""


@dataclass
class _Definitions:
    """What one document and its includes define; later ones replace earlier ones."""

    trees: dict[str, TreeDefinition] = field(default_factory=dict)
    models: dict[str, dict[str, SubTreePort]] = field(default_factory=dict)
    """Ports by SubTree ID."""
    node_models: dict[str, Element] = field(default_factory=dict)
    """Descriptions of node types that are code, by ID."""

    def update(self, other: _Definitions) -> None:
        self.trees.update(other.trees)
        self.models.update(other.models)
        self.node_models.update(other.node_models)


@dataclass
class DocumentSet(_Definitions):
    """What a file with its includes defines."""

    own_trees: list[str] = field(default_factory=list)
    """IDs defined in the first document itself, not in includes."""
    root: Element | None = None
    """Root element of the first document; None if it cannot be read."""
    problems: list[XmlProblem] = field(default_factory=list)
    """Errors."""
    warnings: list[XmlProblem] = field(default_factory=list)
    replaced: list[TreeDefinition] = field(default_factory=list)
    """Trees that another one of the same ID in the same file replaces."""
    files: set[str] = field(default_factory=set)
    """Names of the documents that have been read."""
    incomplete: bool = False
    """True if a file could not be read at all, so that trees may be missing for this reason."""

    @property
    def main_tree(self) -> str | None:
        """``main_tree_to_execute`` of the first document."""
        return None if self.root is None else self.root.get("main_tree_to_execute")

    def missing_main_tree(self, trees: Collection[str]) -> list[XmlProblem]:
        """The problem that the main tree is not among these."""
        wanted = self.main_tree
        if self.root is None or not wanted or wanted in trees:
            return []
        if any(child.get("ID") == wanted for child in self.root.children):
            return []  # it is there, and something else is wrong with it
        message, remedy = f"{NO_SUCH_TREE}{shorten(wanted)}", f"known trees: {some_names(trees)}"
        return [self.root.problem(message, remedy, attribute="main_tree_to_execute")]


def some_names(trees: Iterable[str]) -> str:
    """IDs of trees as a remedy lists them; of many the first ones."""
    known = sorted(trees)
    more = [f"and {len(known) - 20} more"] if len(known) > 20 else []
    return ", ".join([*map(shorten, known[:20]), *more]) or "none"


def package_share(package: str) -> Path:
    """Share directory of a ROS package, by the ament index; raises LookupError."""
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        if (Path(prefix) / "share/ament_index/resource_index/packages" / package).exists():
            return Path(prefix) / "share" / package
    raise LookupError(f"ROS package '{package}' is not in AMENT_PREFIX_PATH")


def included_file(include: Element, folder: Path, share: PackageShare = package_share) -> Path:
    """The file that an ``<include>`` of a file in `folder` means.

    Args:
        include: the element; it has a path.
        folder: of the file that it stands in.
        share: tells the share directory of a ROS package; raises LookupError.

    Raises:
        LookupError: there is no such package.
    """
    target, package = Path(include.get("path") or ""), include.get("ros_pkg")
    if package and not target.is_absolute():
        target = share(package) / target
    return folder / target


class Loader:
    """Reads one document and everything it includes into a `DocumentSet`.

    Each file is read once, however often it is included.

    Args:
        auto_id: makes up the ID of the only tree of a document
        check_format: whether the format must be known
        check_names: whether names must be good ones
        share: where ROS packages have their files
        read: content of a file
        roots: root elements of files, as an editor has read them; those that differ from what the
            files hold do not count
    """

    def __init__(
        self,
        auto_id: Callable[[], str],
        *,
        check_format: bool = True,
        check_names: bool = True,
        share: PackageShare = package_share,
        read: Callable[[Path], bytes] = read_document,
        roots: Mapping[str, Element] | None = None,
    ) -> None:
        self._auto_id = auto_id
        self._roots = roots or {}
        self._read_document = read
        self._check_format = check_format
        self._check_names = check_names
        self._share = share
        self._set = DocumentSet()
        self._stack: list[Path] = []
        self._read: dict[Path, _Definitions] = {}
        self._includes = 0
        self._elements = 0

    def load_file(self, path: Path) -> DocumentSet:
        """Read a file; raises nothing, problems are in the result."""
        self._set.update(self._file(path, None))
        return self._set

    def load_text(self, text: str, directory: Path) -> DocumentSet:
        """Read a string; relative includes are looked up in ``directory``."""
        data = _without_leading_space(text).encode("utf-8", "replace")
        try:
            root = parse_xml(data, TEXT, "utf-8")
        except LoadError as error:
            self._refuse(error)
        else:
            self._set.update(self._document(root, directory, first=True))
        return self._set

    def _file(self, path: Path, include: Element | None) -> _Definitions:
        identity = Path(os.path.realpath(path))
        known = self._read.get(identity)
        if known is not None:
            return known
        if include is not None and not self._may_include(identity, include):
            return _Definitions()
        try:
            data = self._read_document(path)
        except (OSError, ValueError) as error:
            self._unreadable(path, include, error)
            return _Definitions()
        path = Path(os.path.normpath(path.absolute()))
        self._stack.append(identity)
        try:
            root = self._parsed(data, path)
            self._elements += root.source.elements
            found = self._document(root, path.parent, first=include is None)
        except LoadError as error:
            self._refuse(error)
            found = _Definitions()
        finally:
            self._stack.pop()
        self._read[identity] = found
        return found

    def _parsed(self, data: bytes, path: Path) -> Element:
        known, most = self._roots.get(str(path)), MAX_ELEMENTS - self._elements
        if (
            known is None
            or known.source.data != data
            or known.source.elements > most
            or encoding_of(data).lower() != "utf-8"
            or is_version_3(known)  # which is going to be converted
        ):
            return parse_xml(data, str(path), most=most)
        return known

    def _may_include(self, identity: Path, include: Element) -> bool:
        if identity in self._stack:
            chain = " -> ".join(p.name for p in [*self._stack, identity])
            self._add(include, f"include cycle: {chain}", "remove one of these includes", "path")
            return False
        if len(self._stack) >= MAX_INCLUDE_DEPTH:
            self._add(
                include,
                f"includes are nested deeper than {MAX_INCLUDE_DEPTH}",
                "include the files from the first one",
                "path",
            )
            return False
        return True

    def _refuse(self, error: LoadError) -> None:
        self._set.problems.extend(error.problems)
        self._set.incomplete = True

    def _unreadable(self, path: Path, include: Element | None, error: Exception) -> None:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        message = f"cannot read {shorten(str(path))}: {reason}"
        self._set.incomplete = True
        if include is None:
            self._set.problems.append(XmlProblem(str(path), 0, 0, "", message, "check the path"))
        else:
            self._add(include, message, "paths are relative to the including file", "path")

    def _document(self, root: Element, directory: Path, *, first: bool) -> _Definitions:
        found = _Definitions()
        self._set.files.add(root.source.file)
        if root.tag != "root":
            self._add(
                root, f"The XML must have a root node called <root>, not <{root.tag}>", "rename it"
            )
            return found
        if self._check_format:
            self._format(root)
        if first:
            self._set.root = root
        for child in root.children:
            if child.tag == "include":
                found.update(self._include(child, directory))
        models = [child for child in root.children if child.tag == "TreeNodesModel"]
        for model in models[:1]:
            self._models(model, found)
        for extra in models[1:]:
            self._add(
                extra, "Only a single node <TreeNodesModel> is supported", "merge them into one"
            )
        own: dict[str, Element] = {}
        for child in root.children:
            if child.tag == "BehaviorTree":
                self._tree(child, len(root.children) == 1, own)
        found.trees.update({key: TreeDefinition(key, tree) for key, tree in own.items()})
        if first:
            self._set.own_trees.extend(own)
        return found

    def _format(self, root: Element) -> None:
        version = root.get("BTCPP_format")
        if is_version_3(root):
            notes = convert_elements(root)
            self._warn(
                root,
                "this is a file of BehaviorTree.CPP version 3; it is read as if converted",
                "convert it for good with `behavior tree migrate`",
            )
            for note in notes:
                kind = self._set.problems if note.severity == "error" else self._set.warnings
                kind.append(note)
        elif version is None:
            self._warn(root, "BTCPP_format is missing", 'write <root BTCPP_format="4">')
        elif version != "4":
            self._add(
                root,
                f'BTCPP_format="{shorten(version)}" is not supported',
                'write BTCPP_format="4", or "3" for a file of BehaviorTree.CPP 3',
                "BTCPP_format",
            )

    def _include(self, element: Element, directory: Path) -> _Definitions:
        self._includes += 1
        path = element.get("path")
        if not path:
            self._add(
                element, "Invalid <include> tag: missing 'path' attribute", 'write path="file.xml"'
            )
            return _Definitions()
        if self._includes > MAX_INCLUDES:
            if self._includes == MAX_INCLUDES + 1:
                self._add(element, f"more than {MAX_INCLUDES} includes", "merge some files")
            return _Definitions()
        if element.get("ros_pkg") and Path(path).is_absolute():
            self._warn(element, "ros_pkg is ignored: the path is absolute", "remove it", "ros_pkg")
        try:
            target = included_file(element, directory, self._share)
        except LookupError as error:
            text = shorten(str(error.args[0] if error.args else error))
            self._set.incomplete = True
            self._add(element, text, "source the workspace that contains it", "ros_pkg")
            return _Definitions()
        return self._file(target, element)

    def _tree(self, element: Element, only_child: bool, own: dict[str, Element]) -> None:
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
        mistake = model_name_mistake(tree_id) if self._check_names else None
        if mistake and model_name_works(tree_id):
            mistake = f"{mistake}: BehaviorTree.CPP 4.9 and later refuse it"
            self._warn(element, mistake, "rename the tree", "ID")
        elif mistake:
            self._add(element, mistake, "rename the tree", "ID")
            return
        if tree_id in own:
            self._set.replaced.append(TreeDefinition(tree_id, own[tree_id]))
            self._warn(
                element,
                f"tree '{shorten(tree_id)}' replaces the one of the same ID in line "
                f"{own[tree_id].line}",
                "rename one of them",
                "ID",
            )
        own[tree_id] = element

    def _models(self, element: Element, found: _Definitions) -> None:
        for child in element.children:
            model_id = child.get("ID")
            if child.tag != "SubTree":  # the others describe code, they are for editors
                if model_id:
                    found.node_models[model_id] = child
                continue
            if not model_id:
                self._add(
                    child,
                    "Missing attribute 'ID' in SubTree element within TreeNodesModel",
                    'write ID="name of the tree"',
                )
                continue
            found.models[model_id] = {
                port.name: port
                for port in map(self._model_port, child.children)
                if port is not None
            }

    def _model_port(self, element: Element) -> SubTreePort | None:
        if element.tag not in ("input_port", "output_port", "inout_port"):
            return None
        name = element.get("name")
        if self._check_names and name is not None and name.startswith("_"):
            message = f"[{shorten(name)}] is no port: what begins with '_' is not for the SubTree"
            self._warn(element, message, "remove it from the model", "name")
            return None
        mistake = (
            "Missing attribute [name] in port (SubTree model)"
            if name is None
            else port_name_mistake(name)
            if self._check_names
            else None
        )
        if mistake or name is None:
            self._add(element, mistake or "", "name the port", "name")
            return None
        description = element.get("description") or element.text.strip()
        return SubTreePort(
            name,
            element.tag.removesuffix("_port"),
            element.get("default"),
            description,
            element.get("type") or "",
        )

    def _add(
        self, element: Element, message: str, remedy: str, attribute: str | None = None
    ) -> None:
        self._set.problems.append(element.problem(message, remedy, attribute=attribute))

    def _warn(
        self, element: Element, message: str, remedy: str, attribute: str | None = None
    ) -> None:
        self._set.warnings.append(
            element.problem(message, remedy, attribute=attribute, severity="warning")
        )


def _without_leading_space(text: str) -> str:
    """Blank out an ``<?xml ...?>`` that stands behind white space, where XML forbids it."""
    start = len(text) - len(text.lstrip())
    if start == 0 or not text.startswith("<?xml", start):
        return text
    end = text.find("?>", start) + 2
    if end < 2:
        return text
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
