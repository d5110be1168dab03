# SPDX-License-Identifier: Apache-2.0
"""`TreeEditor`: insert, remove, move, replace, set a port, rename; with undo and redo."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from behavior_tree.basic_types import NodeType
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.editing.child_state import exchange_children
from behavior_tree.editing.description import describe, element
from behavior_tree.editing.tree_files import merged_files
from behavior_tree.editing.write_back import edited_documents
from behavior_tree.errors import LoadError, LogicError, XmlProblem
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import IDLE, NodeName, TreeNode
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.subtree import Subtree
from behavior_tree.kernel.tree import Tree
from behavior_tree.xml.builder import MAX_DEPTH
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.files import replace_file
from behavior_tree.xml.key_types import type_conflict, types_agree

NodeReference = TreeNode | str | int
"""A node of the tree, its full path, or its uid."""


@dataclass(eq=False)
class _Change:
    """One step of the history: what to do, and how to take it back.

    Both get what to tell the subscribers of the tree.
    """

    announced: StructureChange
    redo: Callable[[StructureChange], None]
    undo: Callable[[StructureChange], None]


@dataclass(frozen=True)
class ManyChanges:
    """What becomes of a tree in one step."""

    children: dict[TreeNode | None, list[TreeNode | Element]] = field(default_factory=dict)
    """Children that nodes get; None: the root. An element stands for a node to be built."""
    ports: list[tuple[TreeNode, str, str | None]] = field(default_factory=list)
    """Texts that ports get; None: as if nothing were written."""
    names: dict[TreeNode, str] = field(default_factory=dict)
    others: list[TreeNode] = field(default_factory=list)
    """Nodes of which something else changes."""

    def __bool__(self) -> bool:
        """Whether anything changes."""
        return bool(self.children or self.ports or self.names or self.others)


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _between_ticks(
    change: Callable[Concatenate[TreeEditor, Arguments], Result],
) -> Callable[Concatenate[TreeEditor, Arguments], Result]:
    """Method that is called from any thread, but not from inside a tick."""

    @functools.wraps(change)
    def guarded(self: TreeEditor, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with self._tree.runtime.between_ticks():
            return change(self, *args, **kwargs)

    return guarded


class TreeEditor:
    """Changes a tree between its ticks, from any thread: a change waits for the end of the tick
    that is under way. From inside a tick it is refused with a `LogicError`.

    Branches that a change does not touch keep their status and state. Branches that leave their
    place are halted. Each change is checked like a file at load and raises `LoadError` with all
    problems, before anything has changed. A node that comes back by `undo` is the same object with
    the same uid, IDLE.

    Args:
        tree: the tree to edit
        factory: knows the node types and trees that XML fragments may use
    """

    def __init__(self, tree: Tree, factory: BehaviorTreeFactory) -> None:
        self._tree = tree
        self._factory = factory
        self._undo: list[_Change] = []
        self._redo: list[_Change] = []
        self._saved: dict[str, bytes] = {}
        self._instances = {id(each.blackboard): each for each in tree.subtrees}
        self._last_uid = max(node.uid() for node in tree.nodes())

    # -- changes --------------------------------------------------------------------------------

    @_between_ticks
    def insert(self, parent: NodeReference, index: int, xml: str) -> TreeNode:
        """Make the node of an XML fragment child number ``index`` of ``parent``.

        Children before the running one wait for the parent's next run.

        Returns:
            the new node
        """
        place = self._node(parent)
        children = self._children(place)
        fragment = _parse(xml)
        at = _position(index, len(children))
        self._check(place, {place: [*children[:at], fragment, *children[at:]]})
        node = self._build(fragment, place, [place, *_ancestors(place)])
        self._change(StructureChange("insert"), {place: [*children[:at], node, *children[at:]]})
        return node

    @_between_ticks
    def remove(self, node: NodeReference) -> None:
        """Take out a node and all below it."""
        gone = self._node(node)
        parent = self._parent(gone)
        rest = [child for child in parent.children if child is not gone]
        self._check(parent, {parent: list(rest)})
        self._change(StructureChange("remove"), {parent: rest})

    @_between_ticks
    def move(self, node: NodeReference, parent: NodeReference, index: int) -> None:
        """Make a node child number ``index`` (counted without it) of a node of the same tree.

        A node that gets another parent is halted; one that changes place below the same keeps
        running.
        """
        moved, target = self._node(node), self._node(parent)
        if target is moved or moved in _ancestors(target):
            raise _refused(moved, "cannot be moved below itself", "choose another parent")
        if moved.config().blackboard is not target.config().blackboard:
            raise _refused(
                moved,
                f"belongs to another SubTree than '{target.full_path()}'",
                "remove it there and insert it here: it will see another blackboard",
            )
        source, children = self._parent(moved), self._children(target)
        rest = [child for child in source.children if child is not moved]
        others = [child for child in children if child is not moved]
        at = _position(index, len(others))
        lists = {source: rest, target: [*others[:at], moved, *others[at:]]}
        self._check(target, {key: list(value) for key, value in lists.items()})
        if len(_ancestors(target)) + 1 + _height(moved) > MAX_DEPTH:
            raise _refused(moved, f"would be nested deeper than {MAX_DEPTH}", "flatten the tree")
        self._change(StructureChange("move", changed=(moved,)), dict(lists.items()))

    @_between_ticks
    def replace(self, node: NodeReference, xml: str) -> TreeNode:
        """Put the node of an XML fragment in the place of another; returns the new one."""
        old = self._node(node)
        fragment = _parse(xml)
        parent = old._up
        if parent is not None and parent.type() is not NodeType.SUBTREE:
            mixed: list[TreeNode | Element] = [
                fragment if child is old else child for child in parent.children
            ]
            self._check(parent, {parent: mixed})
        else:
            self._check_element(fragment, self._instance(old))
        new = self._build(fragment, old, _ancestors(old))
        announced = StructureChange("replace")
        if parent is None:
            self._change(announced, {None: [new]})
        else:
            children = [new if child is old else child for child in parent.children]
            self._change(announced, {parent: children})
        return new

    @_between_ticks
    def set_port(self, node: NodeReference, port: str, text: str) -> None:
        """Give a port another text, a literal or ``{key}``, from the node's next reading on."""
        target = self._node(node)
        if target.type() is NodeType.SUBTREE:
            raise _refused(
                target, f"is a SubTree, whose port [{port}] is wired", "replace() the SubTree node"
            )
        self._check(target, {}, {target: {port: text}})
        before = target.raw_port(port)

        def redo(announced: StructureChange) -> None:
            self._open_entry(target, port, text)
            target.set_port(port, text)
            self._tree.announce_change(announced)

        def undo(announced: StructureChange) -> None:
            _restore_port(target, port, before)
            self._tree.announce_change(announced)

        self._do(_Change(StructureChange("set_port", changed=(target,)), redo, undo))

    def _open_entry(self, node: TreeNode, port: str, text: str) -> None:
        """Make the entry that a port's new text names, as the builder does."""
        key = pointer_key(text, port)
        if key is None:
            return
        board, info = node.config().blackboard, node.config().ports[port]
        entry = board.entry(key)
        if entry is None:
            board.create_entry(key, info.type)
        elif not types_agree(entry.type, info):
            raise _refused(node, *type_conflict(key, entry.type, info.type))

    @_between_ticks
    def rename(self, node: NodeReference, name: str) -> None:
        """Give a node another name; its path, and for a SubTree the paths below, follow."""
        target = self._node(node)
        name = name or target.registration_id()  # as in a file
        self._check(target, {}, {target: {"name": name}})
        before = target.name()
        if target.type() is NodeType.SUBTREE:
            path = _path(target, name)
            if any(each.instance_name == path for each in self._tree.subtrees):
                raise _refused(target, f"cannot become '{path}', which exists", "use another name")
        self._do(
            _Change(
                StructureChange("rename"),
                lambda announced: self._rename(target, name, announced),
                lambda announced: self._rename(target, before, announced),
            )
        )

    @_between_ticks
    def change_many(
        self, changes: ManyChanges, complete: Callable[[], None] = lambda: None
    ) -> None:
        """Make many changes in one step, after which the tree is as files say that were checked.

        Nothing is checked here but what only building finds. It is no step of the history, and
        ends it: the changes before it cannot be taken back any more.

        Args:
            changes: what becomes of the tree
            complete: changes what else is to be changed, before the tree's subscribers are told

        Raises:
            LoadError: a new node cannot be built; nothing has changed
        """
        with _entries_kept([each.blackboard for each in self._tree.subtrees]):
            for node, port, text in changes.ports:
                self._open_entry(node, port, text or "")
            taken = self._names_besides(self._leaving(changes)) if changes.children else set()
            lists = {
                parent: [
                    self._build_below(parent, each, taken) if isinstance(each, Element) else each
                    for each in children
                ]
                for parent, children in changes.children.items()
            }
        self._halt_leaving(lists)  # which may raise: nothing has changed yet
        for node, port, text in changes.ports:
            _restore_port(node, port, text)
        changed = [*(node for node, _, _ in changes.ports), *changes.names, *changes.others]
        announced = StructureChange("several", changed=tuple(dict.fromkeys(changed)))
        self._undo.clear()
        self._redo.clear()

        def finish() -> None:
            for node, name in changes.names.items():
                self._name(node, name)
            complete()

        if not lists:
            finish()
            self._tree.announce_change(announced)
            return
        self._rearrange(lists)
        root = self._root_of(lists)
        self._tree.change_structure(root, self._present_instances, announced, finish)
        # Nothing brings back those that are gone.
        self._instances = {id(each.blackboard): each for each in self._tree.subtrees}

    def _leaving(self, changes: ManyChanges) -> set[TreeNode]:
        """Nodes that will not be in the tree."""
        root = self._tree.root_node()
        stay = [root] if None not in changes.children else []
        stay += [each for each in changes.children.get(None, ()) if isinstance(each, TreeNode)]
        leaving = set(self._tree.nodes())
        while stay:
            node = stay.pop()
            leaving.discard(node)
            inside = [] if isinstance(node, LeafNode) else node.children
            children = changes.children.get(node, inside)
            stay += [each for each in children if isinstance(each, TreeNode)]
        return leaving

    def _names_besides(self, leaving: set[TreeNode]) -> set[str]:
        """Instances of trees but those in nodes that leave."""
        return {each.instance_name for each in self._tree.subtrees if each.nodes[0] not in leaving}

    def _build_below(self, parent: TreeNode | None, fragment: Element, taken: set[str]) -> TreeNode:
        if parent is None:
            return self._build(fragment, self._tree.root_node(), [], taken)
        inside = parent.type() is NodeType.SUBTREE
        place = parent.children[0] if inside else parent
        return self._build(fragment, place, [parent, *_ancestors(parent)], taken)

    # -- files ----------------------------------------------------------------------------------

    @_between_ticks
    def documents(self) -> dict[str, bytes]:
        """New contents of the files (or ``<text>``) that the tree was read from and no longer
        agrees with, by name.

        All that was not edited stays byte for byte; when everything is undone, nothing differs.

        Raises:
            LogicError: instances of one SubTree have been changed differently
            LoadError: a file cannot be edited, because it is not UTF-8
        """
        return edited_documents(self._tree)

    @_between_ticks
    def modified(self) -> list[Path]:
        """Files with edits that have not been saved; raises LogicError as `documents`."""
        return [Path(file) for file in self._unsaved()]

    def _unsaved(self) -> dict[str, tuple[bytes, bytes]]:
        """Documents with unsaved edits: as they were read or saved, and as they would be now."""
        sources = {
            each.definition.source.file: each.definition.source.data
            for each in self._tree.subtrees
            if each.definition is not None
        }
        before = {file: self._saved.get(file, data) for file, data in sources.items()}
        now = {**sources, **self.documents()}
        return {file: (data, now[file]) for file, data in before.items() if now[file] != data}

    @_between_ticks
    def save(self) -> list[Path]:
        """Write what has been edited back to the files that the tree was read from, each whole or
        not at all. What others have changed in them stays there; the live tree does not get it.

        Returns:
            the files that have been written

        Raises:
            LogicError: as `documents`; or others have changed the same thing; or the tree was not
                read from files
            LoadError: as `documents`; or the files would not load with what others have changed
            OSError: a file cannot be written
        """
        unsaved = self._unsaved()
        for file in unsaved:
            if file.startswith("<"):
                raise LogicError(f"the tree was read from {file}: take documents() instead")
        merged = merged_files({Path(file): edit for file, edit in unsaved.items()})
        if any(data != unsaved[str(file)][1] for file, data in merged.items()):
            main = self._tree.subtrees[0].definition
            assert main is not None, "else nothing is unsaved"
            _, problems = self._factory.check_documents(Path(main.source.file), merged)
            if problems:
                raise LoadError(problems)
        for path, data in merged.items():
            replace_file(path, data)
            self._saved[str(path)] = unsaved[str(path)][1]
        return list(merged)

    # -- history --------------------------------------------------------------------------------

    @_between_ticks
    def undo(self) -> bool:
        """Take back the last change; False if there is none."""
        if not self._undo:
            return False
        change = self._undo.pop()
        change.undo(replace(change.announced, undone=True))
        self._redo.append(change)
        return True

    @_between_ticks
    def redo(self) -> bool:
        """Make the change again that was taken back last; False if there is none."""
        if not self._redo:
            return False
        change = self._redo.pop()
        change.redo(change.announced)
        self._undo.append(change)
        return True

    def _do(self, change: _Change) -> None:
        change.redo(change.announced)
        self._undo.append(change)
        self._redo.clear()

    def _change(
        self, announced: StructureChange, after: dict[TreeNode | None, list[TreeNode]]
    ) -> None:
        before = {
            node: [self._tree.root_node()] if node is None else list(node.children)
            for node in after
        }
        self._do(
            _Change(
                announced,
                lambda change: self._apply(after, change),
                lambda change: self._apply(before, change),
            )
        )

    def _apply(
        self, lists: dict[TreeNode | None, list[TreeNode]], announced: StructureChange
    ) -> None:
        self._rearrange(lists)
        self._tree.change_structure(self._root_of(lists), self._present_instances, announced)

    def _root_of(self, lists: dict[TreeNode | None, list[TreeNode]]) -> TreeNode:
        return lists[None][0] if None in lists else self._tree.root_node()

    def _rearrange(self, lists: dict[TreeNode | None, list[TreeNode]]) -> None:
        """Give nodes other children, and halt what leaves its place."""
        self._halt_leaving(lists)
        for node, children in lists.items():
            if node is not None:
                exchange_children(node, children)
        for node, children in lists.items():  # a moved node has been let go by its old parent
            for child in children:
                child.parent = child._up = node

    def _halt_leaving(self, lists: dict[TreeNode | None, list[TreeNode]]) -> None:
        for node, children in lists.items():
            for child in [self._tree.root_node()] if node is None else node.children:
                if child not in children:
                    _halt(child)

    def _present_instances(self) -> list[Subtree]:
        """Instances with nodes in the tree, the main one first, their nodes in order."""
        found: dict[int, Subtree] = {}
        for each in self._instances.values():
            each.nodes.clear()
        for node in self._tree.nodes():
            board = id(node.config().blackboard)
            found[board] = self._instances[board]
            found[board].nodes.append(node)
        return list(found.values())

    def _rename(self, node: TreeNode, name: str, announced: StructureChange) -> None:
        self._name(node, name)
        changed = list(_pre_order(node)) if node.type() is NodeType.SUBTREE else [node]
        self._tree.announce_change(replace(announced, changed=tuple(changed)))

    def _name(self, node: TreeNode, name: str) -> None:
        node.name = NodeName(name)
        path = _path(node, name)
        node.config().path = path
        if node._up is not None:
            node._up.children_changed()  # it may know them by their names
        if node.type() is not NodeType.SUBTREE:
            return
        instance = self._instance(node.children[0])
        instance.instance_name = path
        for inner in instance.nodes:
            inner.config().path = f"{path}/{_label(inner, inner.name())}"
            if inner.type() is NodeType.SUBTREE:
                self._name(inner, inner.name())

    # -- finding --------------------------------------------------------------------------------

    def _node(self, reference: NodeReference) -> TreeNode:
        for node in self._tree.nodes():
            if reference in (node, node.full_path(), node.uid()):
                return node
        raise LogicError(f"the tree has no node {reference!r}")

    def _parent(self, node: TreeNode) -> TreeNode:
        parent = node._up
        if parent is None or parent.type() is NodeType.SUBTREE:
            raise _refused(node, "is the root of its tree", "replace() it instead")
        return parent

    def _children(self, parent: TreeNode) -> list[TreeNode]:
        if parent.type() is NodeType.SUBTREE:
            raise _refused(parent, "is a SubTree", "edit the root node of that tree")
        return [] if isinstance(parent, LeafNode) else list(parent.children)

    def _instance(self, node: TreeNode) -> Subtree:
        return self._instances[id(node.config().blackboard)]

    # -- checking and building ------------------------------------------------------------------

    def _check(
        self,
        place: TreeNode,
        children: dict[TreeNode, list[TreeNode | Element]],
        attributes: dict[TreeNode, dict[str, str]] | None = None,
    ) -> None:
        """Check the tree instance around a node as it would be."""
        instance = self._instance(place)
        self._check_element(describe(instance.nodes[0], children, attributes), instance)

    def _check_element(self, root: Element, instance: Subtree) -> None:
        tree = element("BehaviorTree", {"ID": instance.tree_id}, [root])
        problems = self._factory.check_tree(instance.tree_id, tree)
        if problems:
            raise LoadError(problems)

    def _build(
        self,
        fragment: Element,
        place: TreeNode,
        above: list[TreeNode],
        taken: set[str] | None = None,
    ) -> TreeNode:
        """Nodes of a fragment that will stand in the tree instance of ``place``, below these.

        ``taken``: names of instances of SubTrees, else those that there are now.
        """
        live = self._instance(place)
        instance = Subtree(
            live.instance_name, live.tree_id, live.blackboard, definition=live.definition
        )
        builder = self._factory.builder(self._tree.runtime)
        ids = [node.registration_id() for node in above if node.type() is NodeType.SUBTREE]
        chain = (self._tree.subtrees[0].tree_id, *reversed(ids))
        taken = self._names_besides(set()) if taken is None else taken
        with _entries_kept(_boards(live.blackboard)):
            node = builder.build_fragment(
                fragment,
                instance,
                chain,
                depth=len(above) + 1,
                last_uid=self._last_uid,
                instance_names=taken,
            )
        self._last_uid = builder.last_uid
        for each in builder.subtrees:
            self._instances[id(each.blackboard)] = each
        return node


@contextlib.contextmanager
def _entries_kept(boards: list[Blackboard]) -> Iterator[None]:
    """Take away the entries again that were made for nodes that cannot be built."""
    keys = [set(board.get_keys()) for board in boards]
    try:
        yield
    except LoadError:
        for board, known in zip(boards, keys, strict=True):
            for key in set(board.get_keys()) - known:
                board.unset(key)
        raise


def _parse(xml: str) -> Element:
    return parse_xml(xml.strip().encode("utf-8", "replace"), "<edit>")


def _refused(node: TreeNode, why: str, remedy: str) -> LoadError:
    message = f"'{node.full_path()}' {why}"
    return LoadError([XmlProblem("<live tree>", 0, 0, node.full_path(), message, remedy)])


def _position(index: int, count: int) -> int:
    return max(index + count + 1, 0) if index < 0 else min(index, count)


def _ancestors(node: TreeNode) -> list[TreeNode]:
    found: list[TreeNode] = []
    while node._up is not None:
        node = node._up
        found.append(node)
    return found


def _pre_order(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    if not isinstance(node, LeafNode):  # a leaf may hold py_trees behaviours
        for child in node.children:
            yield from _pre_order(child)


def _height(node: TreeNode) -> int:
    children = [] if isinstance(node, LeafNode) else node.children
    return 1 + max(map(_height, children), default=0)


def _boards(board: Blackboard | None) -> list[Blackboard]:
    found = []
    while board is not None:
        found.append(board)
        board = board.parent
    return found


def _label(node: TreeNode, name: str) -> str:
    return name if name != node.registration_id() else f"{name}::{node.uid()}"


def _path(node: TreeNode, name: str) -> str:
    outer = next((up for up in _ancestors(node) if up.type() is NodeType.SUBTREE), None)
    label = _label(node, name)
    return label if outer is None else f"{outer.full_path()}/{label}"


def _halt(node: TreeNode) -> None:
    """Halt what runs below a node that leaves its place."""
    if node.status is not IDLE:
        node.halt_node()
        node.reset_status()
    if not isinstance(node, LeafNode):
        for child in node.children:
            _halt(child)


def _restore_port(node: TreeNode, port: str, text: str | None) -> None:
    if text is not None:
        node.set_port(port, text)
        return
    node.config().input_ports.pop(port, None)
    node.config().output_ports.pop(port, None)
    node.port_changed(port)
