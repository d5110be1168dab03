# SPDX-License-Identifier: Apache-2.0
"""Whether a tree that a language model has written may be looked at further. No ROS.

The engine's parser takes no entities and no document types, its scripts are a language of their
own, and nothing is evaluated as Python. Beside what any tree file must be, a tree from outside

- is small,
- includes only files that packages offer, by paths like ``subtrees/blocks.xml``,
- has none of the nodes and attributes that switch a protection off.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from behavior_tree import BehaviorTreeFactory, LoadError, TreeNodeManifest
from behavior_tree.shown_text import listed, visible
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.edit import XmlEditor

MOST_BYTES = 64 * 1024
MOST_ELEMENTS = 2000
MOST_PROBLEMS = 20

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""What a mission may be called."""

UNSAFE_NODES: Mapping[str, str] = {
    "SuppressCollisions": "lets the arm touch things",
    "ConfigureDetector": "changes what the robot sees",
    "ConfigureTracker": "changes what the robot sees",
    "ClearScene": "makes obstacles unknown",
    "DeleteObject": "makes obstacles unknown",
}
"""Nodes that only a person puts into a tree, and what they do."""
UNSAFE_ATTRIBUTES: Mapping[str, str] = {"avoid_collisions": "true"}
"""Attributes that a tree may not set to anything but this."""

_FILE = Path("/nowhere/proposed.xml")
"""A name for what is no file."""


@dataclass(frozen=True)
class CheckedTree:
    """A text, and what is wrong with it."""

    problems: tuple[str, ...] = ()
    """In words, with line and column; none: it may be simulated and proposed."""
    xml: str = ""
    """The text, with whole paths of what it includes."""
    main_tree: str = ""
    """ID of the tree that runs."""
    nodes: frozenset[str] = field(default_factory=frozenset)
    """Names of the node types in the text itself."""

    @property
    def digest(self) -> str:
        """Of the text, to notice a change."""
        return digest(self.xml)


def digest(text: str) -> str:
    """SHA-256 of a text, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class TreeChecker:
    """Checks trees against the node types and files that there are."""

    def __init__(self, factory: Callable[[], BehaviorTreeFactory], folders: Sequence[Path]) -> None:
        """Check nothing yet.

        Args:
            factory: makes one with all node types, asked once; placeholders will do.
            folders: trees of packages, from which may be included.
        """
        self._make = factory
        self._factory: BehaviorTreeFactory | None = None
        self._folders = [folder.resolve() for folder in folders]

    @property
    def factory(self) -> BehaviorTreeFactory:
        """With all node types; it holds no trees."""
        if self._factory is None:
            self._factory = self._make()
        return self._factory

    def manifests(self) -> dict[str, TreeNodeManifest]:
        """The node types that a tree from outside may use, by name."""
        known = self.factory.manifests()
        return {name: each for name, each in sorted(known.items()) if name not in UNSAFE_NODES}

    def check(self, text: str) -> CheckedTree:
        """Look at a text; raises nothing."""
        size = len(text.encode("utf-8", "replace"))
        if size > MOST_BYTES:
            return CheckedTree((f"the tree has {size} bytes, {MOST_BYTES} are the most",))
        try:
            data = text.strip().encode("utf-8")
            root = parse_xml(data, str(_FILE), "utf-8")
            problems = [*_unsafe(root)]
            data = self._with_whole_paths(data, root, problems)
        except UnicodeEncodeError:
            return CheckedTree(("the tree is not Unicode text",))
        except LoadError as error:
            return CheckedTree(_words(map(str, error.problems)))
        if root.source.elements > MOST_ELEMENTS:
            problems = [
                f"the tree has {root.source.elements} elements, {MOST_ELEMENTS} are the most"
            ]
        if problems:
            return CheckedTree(_words(problems))
        documents, found = self.factory.check_documents(_FILE, {_FILE: data})
        main = documents.main_tree or (documents.own_trees[0] if documents.own_trees else "")
        wrong = [str(each) for each in found]
        if not wrong and len(documents.own_trees) > 1 and not documents.main_tree:
            wrong = ["several trees: say which runs, by main_tree_to_execute of <root>"]
        if not wrong and not main:
            wrong = ["there is no <BehaviorTree>"]
        tags = frozenset(each.get("ID") or each.tag for each in _all(root))
        return CheckedTree(_words(wrong), data.decode(), main, tags)

    def _with_whole_paths(self, data: bytes, root: Element, problems: list[str]) -> bytes:
        """The text with whole paths of what it includes; appends what may not be included."""
        editor = XmlEditor(data, str(_FILE))
        for index, child in enumerate(root.children):
            if child.tag != "include":
                continue
            path = self._offered(child)
            if path is None:
                problems.append(
                    f"{child.line}:{child.column}: <include> takes only the path of a file that a"
                    " package offers, such as subtrees/NAME.xml"
                )
            else:
                editor.set_attribute((index,), "path", str(path))
        return editor.data

    def _offered(self, include: Element) -> Path | None:
        """The file that an include means, if a package offers it."""
        if set(include.attributes) != {"path"}:
            return None
        named = PurePosixPath(include.attributes["path"])
        if "\0" in str(named) or named.suffix != ".xml":
            return None
        for folder in self._folders:
            file = (folder / named).resolve()  # a whole path stays as it is
            if file.is_relative_to(folder) and file.is_file():
                return file
        return None


def _unsafe(root: Element) -> Iterable[str]:
    trees = (child for child in root.children if child.tag == "BehaviorTree")
    for element in (each for tree in trees for each in _all(tree)):
        place = f"{element.line}:{element.column}"
        for name in {element.tag, element.get("ID") or ""} & UNSAFE_NODES.keys():
            yield f"{place}: {name} {UNSAFE_NODES[name]}: only a person may put it into a tree"
        for name in element.attributes.keys() & UNSAFE_ATTRIBUTES.keys():
            if element.attributes[name].strip().lower() != UNSAFE_ATTRIBUTES[name]:
                yield f"{place}: {name} must stay {UNSAFE_ATTRIBUTES[name]}"


def _all(root: Element) -> Iterable[Element]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting.extend(element.children)


def _words(problems: Iterable[str]) -> tuple[str, ...]:
    """Problems without the name of what is no file, some of many."""
    found = [visible(each.removeprefix(f"{_FILE}:"), 500) for each in problems]
    more = [f"and {len(found) - MOST_PROBLEMS} more"] if len(found) > MOST_PROBLEMS else []
    return (*found[:MOST_PROBLEMS], *more)


def name_mistake(name: str, taken: Iterable[str] = ()) -> str:
    """What is wrong with the name of a new mission; empty: nothing."""
    if not NAME.fullmatch(name):
        return "a mission's name has up to 64 lower-case letters, digits and _, a letter first"
    if name in set(taken):
        return f"there is a mission '{name}' already: propose an edit of it, or another name"
    return ""


def in_one_line(problems: Sequence[str]) -> str:
    """Problems as one sentence."""
    return listed(list(problems))
