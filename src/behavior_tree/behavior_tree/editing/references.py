# SPDX-License-Identifier: Apache-2.0
"""Who names whom in tree files: nodes by name, trees by ID, entries of blackboards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from behavior_tree.blackboard.frames import frame_keys, with_frames
from behavior_tree.blackboard.ports import is_pointer, is_port_attribute, pointer_key
from behavior_tree.editing.tree_files import Editors
from behavior_tree.errors import LogicError
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.authoring.order import BEGINNING, CALLED, PREVIOUS, listed
from behavior_tree.script.lexer import tokenize
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import Address, TagRewrite
from behavior_tree.xml.elements import IS_CONDITION, autoremaps, below, resolve_type
from behavior_tree.xml.jumps import JumpChecks
from behavior_tree.xml.list_elements import LISTS, ListElements, names_of
from behavior_tree.xml.loader import TreeDefinition

NodeName = str | tuple[Path, Address]
"""How a node is called: its path, as much of its end as is unique, or where it stands."""

Manifests = Mapping[str, TreeNodeManifest]

LITERAL_KEYS = frozenset(
    {
        *(
            ("SetBlackboard", "output_key"),
            ("UnsetBlackboard", "key"),
            ("WasEntryUpdated", "entry"),
        ),
        *(("SkipUnlessUpdated", "entry"), ("WaitValueUpdate", "entry"), ("WriteContext", "key")),
    }
)
"""Ports in which an entry is named without braces."""


@dataclass(frozen=True)
class Place:
    """An element of the files, and where it stands."""

    file: Path
    address: Address
    path: str
    """Tree ID and names of the nodes down to it, joined by ``/``."""
    element: Element
    tree: Element
    """The ``<BehaviorTree>`` around it, or itself."""
    parent: Element | None
    """None for a ``<BehaviorTree>``."""


@dataclass(frozen=True)
class Link:
    """A name in an attribute, and the nodes that it means."""

    element: Element
    attribute: str
    name: str
    targets: frozenset[Element]


@dataclass(frozen=True)
class Use:
    """An attribute that names entries of the blackboard."""

    attribute: str
    text: str
    keys: tuple[str, ...]
    script: bool
    given: bool
    """False for the default of a port that is not written."""
    framed: bool = False
    """The entries name frames of the poses that stand there as text."""


def label_of(element: Element) -> str:
    """What a node is called in paths; a tree by its ID."""
    if element.tag == "BehaviorTree":
        return element.get("ID") or element.tag
    return element.get("name") or resolve_type(element) or element.tag


class References:
    """The names in the documents as they are now."""

    def __init__(self, editors: Editors, manifests: Manifests) -> None:
        self.manifests = manifests
        self.lists = ListElements(manifests)
        self.places = {
            place.element: place
            for file, editor in editors.items()
            for place in _places(file, editor.root)
        }
        self.trees = {label_of(each): each for each in self.places if each.tag == "BehaviorTree"}
        self.models: dict[str, list[Element]] = {}
        """Models of trees by their IDs: editors write them into each file that uses a tree."""
        for editor in editors.values():
            for each in below(editor.root):
                if each.tag == "SubTree" and each not in self.places:
                    self.models.setdefault(each.get("ID") or "", []).append(each)
        self._shared: dict[str, list[str]] = {}

    def find(self, reference: NodeName) -> Place:
        """The node that is called so; raises LogicError."""
        if not isinstance(reference, str):
            for place in self.places.values():
                if (place.file, place.address) == reference:
                    return place
            raise LogicError("only trees and their nodes can be changed so")
        found = [place for place in self.places.values() if place.path == reference] or [
            place
            for place in self.places.values()
            if place.parent is not None and place.path.endswith(f"/{reference}")
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise LogicError(f"there is no node '{reference}': write a path such as Tree/node")
        paths = ", ".join(f"'{place.path}'" for place in found[:5])
        raise LogicError(f"'{reference}' may be any of {paths}: write more of the path")

    def tree(self, tree_id: str) -> Element:
        """A tree by its ID; raises LogicError."""
        if tree_id not in self.trees:
            raise LogicError(f"there is no tree '{tree_id}', but {', '.join(sorted(self.trees))}")
        return self.trees[tree_id]

    def users(self, tree_id: str) -> list[Element]:
        """The SubTree nodes that use a tree."""
        return [each for each in self.places if each.tag == "SubTree" and each.get("ID") == tree_id]

    # -- nodes ----------------------------------------------------------------------------------

    def links(self) -> list[Link]:
        """All names of nodes in attributes of other nodes."""
        found: list[Link] = []
        jumps = JumpChecks(self.manifests)
        for tree_id, tree in self.trees.items():
            for leaf, child in jumps.targets(TreeDefinition(tree_id, tree)).items():
                found.append(Link(leaf, "to", leaf.get("to") or "", frozenset({child})))
            for element in below(tree):
                if self.lists.role(element) in LISTS:
                    found += self._order(element)
                if self.lists.role(element) == "Try":
                    found += self._clauses(element)
        return found

    def _order(self, around: Element) -> Iterator[Link]:
        for child in around.children:
            after = child.get("execute_after") or ""
            if self.lists.role(child) == "Step" and after not in (PREVIOUS, BEGINNING, CALLED):
                for name in listed(after):
                    named = frozenset(self.lists.called(around, name))
                    yield Link(child, "execute_after", name, named)

    def _clauses(self, around: Element) -> Iterator[Link]:
        tried = self.lists.tried(around)
        inside: dict[str, set[Element]] = {}
        for each in self._inside(tried, set()):
            for name in names_of(each):
                inside.setdefault(name, set()).add(each)
        for clause in around.children[len(tried) :]:
            for name in listed(clause.get("of") or ""):
                yield Link(clause, "of", name, frozenset(inside.get(name, ())))

    def _inside(self, elements: list[Element], seen: set[str]) -> Iterator[Element]:
        for element in elements:
            for each in (element, *below(element)):
                yield each
                tree_id = each.get("ID") or ""
                if each.tag == "SubTree" and tree_id in self.trees and tree_id not in seen:
                    seen.add(tree_id)
                    yield from self._inside(list(self.trees[tree_id].children), seen)

    def meanings(self) -> dict[tuple[Path, Address, str], frozenset[tuple[Path, Address]]]:
        """What each attribute that names nodes means, by places: the same if only names change."""
        found: dict[tuple[Path, Address, str], frozenset[tuple[Path, Address]]] = {}
        for link in self.links():
            here = self.places[link.element]
            key = here.file, here.address, link.attribute
            there = {(self.places[t].file, self.places[t].address) for t in link.targets}
            found[key] = found.get(key, frozenset()) | there
        return found

    # -- entries --------------------------------------------------------------------------------

    def uses(self, element: Element) -> Iterator[Use]:
        """Attributes of a node that name entries, defaults of ports included."""
        manifest = None
        defaults: dict[str, str] = {}
        if element.tag == "SubTree":
            tree_id = element.get("ID") or ""
            if autoremaps(element):
                defaults = {key: f"{{{key}}}" for key in self._autoremapped(tree_id)}
            else:
                for port in self.ports_of_model(tree_id):
                    defaults[port.get("name") or ""] = port.get("default") or ""
        else:
            manifest = self.manifests.get(resolve_type(element) or "")
            defaults = {} if manifest is None else manifest.default_texts
        for name, text in {**defaults, **element.attributes}.items():
            given = name in element.attributes
            script = name in IS_CONDITION or (
                manifest is not None and name in manifest.script_ports and not is_pointer(text)
            )
            if script:
                yield Use(name, text, tuple(_names(text)), True, given)
            elif name not in ("ID", "name") and not name.startswith("_"):
                literal = element.tag == "SubTree" and text == "="
                key = None if literal else pointer_key(text, name)
                if (resolve_type(element), name) in LITERAL_KEYS and key is None:
                    yield Use(name, text, (text,), False, given)
                elif key is not None:
                    yield Use(name, text, (key,), False, given)
                elif frames := frame_keys(text):
                    yield Use(name, text, frames, False, given, framed=True)

    def _autoremapped(self, tree_id: str) -> list[str]:
        """Entries of a tree that ``_autoremap`` connects with those around it."""
        if tree_id not in self._shared:
            self._shared[tree_id] = []  # of a tree in itself, which no file that loads has
            tree = self.trees.get(tree_id)
            keys = [] if tree is None else self.entries(below(tree))
            self._shared[tree_id] = [
                key for key in keys if key[:1] not in ("@", "_") and is_port_attribute(key)
            ]
        return self._shared[tree_id]

    def ports_of_model(self, tree_id: str) -> list[Element]:
        """Ports that models of a tree describe."""
        return [port for model in self.models.get(tree_id, ()) for port in model.children]

    def entries(self, elements: Iterator[Element]) -> list[str]:
        """Keys that nodes use, in the order of the document."""
        uses = (use for each in elements for use in self.uses(each))
        return list(dict.fromkeys(key for use in uses for key in use.keys))

    def root_entries(self) -> set[str]:
        """Entries of the root that nodes of any tree call ``@entry``."""
        keys = (key for tree in self.trees.values() for key in self.entries(below(tree)))
        return {key[1:] for key in keys if key.startswith("@")}


def _places(file: Path, root: Element) -> Iterator[Place]:
    for index, tree in enumerate(root.children):
        if tree.tag == "BehaviorTree":
            stack = [Place(file, (index,), label_of(tree), tree, tree, None)]
            while stack:
                place = stack.pop()
                yield place
                for i, child in reversed(list(enumerate(place.element.children))):
                    path = f"{place.path}/{label_of(child)}"
                    at = (*place.address, i)
                    stack.append(Place(file, at, path, child, tree, place.element))


def _names(script: str) -> Iterator[str]:
    for token in tokenize(script, grammar_4_8=False):
        if token.kind == "name":
            yield str(token.value)


def renamed_text(use: Use, names: Mapping[str, str]) -> str:
    """The text of an attribute when entries have other names."""
    if use.framed:
        return with_frames(use.text, lambda key: f"{{{names.get(key, key)}}}")
    if not use.script:
        new = names.get(use.keys[0], use.keys[0])
        return new if use.text == use.keys[0] else f"{{{new}}}"
    text = use.text
    for token in reversed(tokenize(text, grammar_4_8=False)):
        if token.kind == "name" and token.value in names:
            old = str(token.value)
            end = token.position + len(old)
            text = text[: token.position] + names[old] + text[end:]
    return text


@dataclass
class Rewrites:
    """Attributes to be changed, of many elements in one step."""

    changed: dict[Element, dict[str, tuple[str, str] | None]] = field(default_factory=dict)

    def set(self, element: Element, attribute: str, text: str, name: str | None = None) -> None:
        """Give an attribute another text, and perhaps another name."""
        self.changed.setdefault(element, {})[attribute] = (name or attribute, text)

    def remove(self, element: Element, attribute: str) -> None:
        """Take an attribute out."""
        self.changed.setdefault(element, {})[attribute] = None

    def rename_entries(
        self, references: References, elements: Iterator[Element], names: Mapping[str, str]
    ) -> None:
        """Let nodes use other entries."""
        for element in elements:
            for use in references.uses(element):
                if any(key in names for key in use.keys):
                    self.set(element, use.attribute, renamed_text(use, names))

    def apply(self, editors: Editors) -> None:
        """Write them into the documents that they were collected from."""
        for editor in editors.values():
            ours = {editor.root, *below(editor.root)}
            editor.rewrite_tags(
                TagRewrite(
                    element,
                    None,
                    {name: new for name, new in changes.items() if name in element.attributes},
                    {
                        new[0]: new[1]
                        for name, new in changes.items()
                        if new is not None and name not in element.attributes
                    },
                )
                for element, changes in self.changed.items()
                if element in ours
            )
