# SPDX-License-Identifier: Apache-2.0
"""`RecordedTree`: the tree of a recording as a document: its nodes, and XML to build it from."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from behavior_tree.basic_types import NodeType
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.nodes.builtin_nodes import BUILTIN_NODES
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.elements import CONDITION_ATTRIBUTES, EXPLICIT_TAGS, resolve_type
from behavior_tree.xml.escape import escape

_QUOTES = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_OURS = ("_uid", "_fullpath")
_KINDS = {each.tag: each.name.lower() for each in NodeType}


@dataclass(frozen=True)
class RecordedNode:
    """One node of a recorded tree."""

    uid: int
    type_id: str
    """Name of the node type; of a SubTree the ID of its tree."""
    name: str
    path: str
    """From the root down, as the engine writes it."""
    parent: int
    """Uid; 0: it is the root."""
    depth: int
    """Of the root 0."""
    category: str
    """action, condition, control, decorator, subtree, or unknown."""
    ports: tuple[tuple[str, str], ...]
    """Texts of ports and conditions, by name."""

    @property
    def label(self) -> str:
        """Type and name, as people call it."""
        kind = f"SubTree {self.type_id}" if self.category == "subtree" else self.type_id
        return f"{kind} '{self.name}'" if self.name not in ("", self.type_id) else kind

    @property
    def conditioned(self) -> bool:
        """Whether something else than the node itself may decide its result."""
        return any(key in CONDITION_ATTRIBUTES for key, _ in self.ports)


def instance_name(attributes: Mapping[str, str], known: Container[str]) -> str:
    """How the paths below a SubTree begin: that of one which was given the name of its tree is
    without the uid.

    Args:
        attributes: of the SubTree's element
        known: ``_fullpath`` of the trees of the document
    """
    path = attributes.get("_fullpath", "")
    given = attributes.get("name") == attributes.get("ID")
    return path.removesuffix(f"::{attributes.get('_uid')}") if given or path not in known else path


class RecordedTree:
    """A tree document with uids.

    Args:
        xml: as in `RecordedRun.xml`
        source: where it comes from, for messages

    Raises:
        LoadError: it cannot be read
        BehaviorTreeError: it contains no tree, or nodes without uid
    """

    def __init__(self, xml: str, source: str) -> None:
        self._root = parse_xml(xml.encode(), source, "utf-8")
        self._source = source
        trees = [each for each in self._root.children if each.tag == "BehaviorTree"]
        if not trees or not trees[0].children:
            raise BehaviorTreeError(f"{source}: the recording contains no tree: record it again")
        self._instances: dict[str, Element] = {}
        for tree in trees:
            self._instances.setdefault(tree.get("_fullpath") or "", tree)
        self._main = trees[0]
        self._categories = dict(self._models())
        self.nodes: dict[int, RecordedNode] = {}
        """By uid, in the order of the tree, SubTrees entered."""
        for node in self._walk(self._main, 0, 0, (self._main.get("_fullpath") or "",)):
            if node.uid in self.nodes:
                raise BehaviorTreeError(f"{source}: two nodes have the uid {node.uid}")
            self.nodes[node.uid] = node

    def path(self, uid: int) -> str:
        """Path of a node, also of one that is not in the tree."""
        return self.nodes[uid].path if uid in self.nodes else f"node {uid}"

    def children(self, uid: int) -> list[RecordedNode]:
        """Nodes right below one."""
        return [each for each in self.nodes.values() if each.parent == uid]

    def _models(self) -> Iterator[tuple[str, str]]:
        for type_id, node_class in BUILTIN_NODES.items():
            yield type_id, node_class.node_type.name.lower()
        for child in self._root.children:
            for model in child.children if child.tag == "TreeNodesModel" else ():
                if model.tag in _KINDS:
                    yield model.get("ID") or "", _KINDS[model.tag]

    def _walk(
        self, parent: Element, parent_uid: int, depth: int, chain: tuple[str, ...]
    ) -> Iterator[RecordedNode]:
        for element in parent.children:
            node = self._node(element, parent_uid, depth, chain)
            yield node
            below, inside = element, chain
            if element.tag == "SubTree":
                place = self._place_of(element)
                instance = instance_name(element.attributes, self._instances)
                if instance in chain:
                    raise BehaviorTreeError(
                        f"{self._source}: {node.path}: the tree contains itself"
                    )
                below = self._instances.get(place, element)
                inside = (*chain, instance)
            yield from self._walk(below, node.uid, depth + 1, inside)

    def _place_of(self, element: Element) -> str:
        """Under which path the tree of a SubTree is written down."""
        path = element.get("_fullpath") or ""
        return path if path in self._instances else instance_name(element.attributes, ())

    def _node(
        self, element: Element, parent: int, depth: int, chain: tuple[str, ...]
    ) -> RecordedNode:
        uid = element.get("_uid") or ""
        type_id = resolve_type(element) or element.tag
        if not uid.isdecimal() or len(uid) > 9:
            raise BehaviorTreeError(
                f"{self._source}: the node {type_id} in line {element.line} has no number (_uid): "
                f"it cannot be found in the record"
            )
        name = element.get("name") or type_id
        label = f"{name}::{uid}" if name == type_id else name
        path = element.get("_fullpath") or (f"{chain[-1]}/{label}" if chain[-1] else label)
        kind = _KINDS.get(element.tag, self._categories.get(type_id, "unknown"))
        if kind == "unknown" and element.tag in EXPLICIT_TAGS:
            kind = element.tag.lower()
        ports = tuple(
            (key, text)
            for key, text in element.attributes.items()
            if key not in ("ID", "name", *_OURS)
        )
        return RecordedNode(int(uid), type_id, name, path, parent, depth, kind, ports)

    # -- building it again ----------------------------------------------------------------------

    def loadable_xml(self) -> str:
        """The tree as a document that a factory takes: each instance is a tree of its own."""
        ids: dict[str, str] = {}
        taken: set[str] = set()
        for path, tree in self._instances.items():
            given = tree.get("ID") or "Main"
            numbered = (f"{given}-{number}" for number in range(2, len(self._instances) + 2))
            ids[path] = given if given not in taken else next(n for n in numbered if n not in taken)
            taken.add(ids[path])
        first = next(path for path, tree in self._instances.items() if tree is self._main)
        lines = [f'<root BTCPP_format="4" main_tree_to_execute="{_escaped(ids[first])}">']
        for path, tree in self._instances.items():
            lines.append(f'<BehaviorTree ID="{_escaped(ids[path])}">')
            lines += [line for child in tree.children for line in self._written(child, ids)]
            lines.append("</BehaviorTree>")
        for model in self._root.children:
            if model.tag == "TreeNodesModel":
                lines += self._written(model, ids)
        return "\n".join([*lines, "</root>"])

    def _written(self, element: Element, ids: dict[str, str]) -> Iterator[str]:
        attributes = {k: v for k, v in element.attributes.items() if k not in _OURS}
        if element.tag == "SubTree":
            attributes["ID"] = ids.get(self._place_of(element), attributes.get("ID", ""))
        text = "".join(f' {key}="{_escaped(value)}"' for key, value in attributes.items())
        yield f"<{element.tag}{text}>{escape(element.text)}"
        for child in element.children:
            yield from self._written(child, ids)
        yield f"</{element.tag}>"


def _escaped(text: str) -> str:
    return escape(text, _QUOTES)
