# SPDX-License-Identifier: Apache-2.0
"""Copies of nodes, nodes into a tree of their own, and back; each one undoable step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from behavior_tree.basic_types import NodeType, PortDirection
from behavior_tree.blackboard.frames import with_frames
from behavior_tree.blackboard.ports import is_pointer, is_port_attribute, pointer_key
from behavior_tree.editing.references import (
    LITERAL_KEYS,
    NodeName,
    Place,
    References,
    Rewrites,
    label_of,
    renamed_text,
)
from behavior_tree.editing.tree_files import Editors, TreeFiles
from behavior_tree.errors import LogicError, ScriptError
from behavior_tree.script.lexer import tokenize
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import XmlEditor, element_text
from behavior_tree.xml.elements import (
    CONDITION_ATTRIBUTES,
    IS_CONDITION,
    PRECONDITIONS,
    autoremaps,
    below,
    resolve_type,
    subtree_ports,
)
from behavior_tree.xml.list_elements import names_of


def duplicate(files: TreeFiles, node: NodeName, name: str = "") -> None:
    """Put a copy of a node, and of all in it, behind it; or of a tree behind that.

    Args:
        files: where it is
        node: its path, as much of its end as is unique, or its place; or the ID of a tree
        name: of the copy; a number is added to the old one if it is empty

    Raises:
        LogicError: no such node
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        references = References(editors, files.factory.manifests())
        place = references.find(node)
        taken = {label_of(each) for each in references.places}
        space = "_" if place.parent is None else " "
        new = name or _free(label_of(place.element), taken, space)
        editor = editors[place.file]
        *above, index = place.address
        copy = (*above, index + 1)
        editor.insert(tuple(above), index + 1, element_text(_bytes(editor), place.element))
        if place.parent is None:
            editor.set_attribute(copy, "ID", new)
            _keep_main(files, editor, place)
            return
        step = references.lists.role(place.element) == "Step" and place.element.children
        if not step or place.element.get("name"):
            editor.set_attribute(copy, "name", new)
        if step:  # others call a Step by what is in it, too
            inside = name or _free(label_of(place.element.children[0]), taken, " ")
            editor.set_attribute((*copy, 0), "name", inside)

    files.change(edit)


def extract(files: TreeFiles, node: NodeName, tree_id: str) -> None:
    """Make a tree of a node and all in it, and put a SubTree in its place, with a port for each
    entry that is used.

    Args:
        files: where it is
        node: its path, as much of its end as is unique, or its file and address
        tree_id: ID of the new tree; it stands behind the one that the node comes from

    Raises:
        LogicError: no such node, the ID is taken, a jump or an order crosses the border, or it is
            an action that would start again and again
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        references = References(editors, files.factory.manifests())
        place = references.find(node)
        _check_extractable(references, place, tree_id)
        keys = _ports(references, place, files.factory.types.enums)
        editor, (index, *_) = editors[place.file], place.address
        text = element_text(_bytes(editor), place.element)
        editor.insert((), index + 1, f"<BehaviorTree {_ATTRIBUTE}/>")
        editor.set_attribute((index + 1,), "ID", tree_id)
        editor.insert((index + 1,), 0, text)
        editor.replace(place.address, f"<SubTree {_ATTRIBUTE}/>")
        editor.set_attribute(place.address, "ID", tree_id)
        editor.set_attribute(place.address, "name", label_of(place.element))
        for key in keys:
            editor.set_attribute(place.address, key, f"{{{key}}}")
        inside = (place.element, *below(place.element))
        if any(autoremaps(each) for each in inside if each.tag == "SubTree"):
            # Also for entries that their trees have from programs, which are not known here.
            editor.set_attribute(place.address, "_autoremap", "true")
        _keep_main(files, editor, place)

    files.change(edit)


_ATTRIBUTE = 'ID=""'


def _keep_main(files: TreeFiles, editor: XmlEditor, place: Place) -> None:
    """Name the tree of a place as the main one, if it was that because it stood alone."""
    root = editor.root
    trees = [each for each in root.children if each.tag == "BehaviorTree"]
    if len(trees) == 2 and not root.get("main_tree_to_execute") and place.file == files.path:
        editor.set_attribute((), "main_tree_to_execute", label_of(place.tree))


def _check_extractable(references: References, place: Place, tree_id: str) -> None:
    role = references.lists.role(place.element)
    if place.parent is None or role in ("Step", "Catch"):
        kind = "tree" if place.parent is None else role
        raise LogicError(f"'{place.path}' is a {kind}: extract what is in it")
    if tree_id in references.trees:
        raise LogicError(f"there is a tree '{tree_id}' already: choose another ID")
    inside = {place.element, *below(place.element)}
    _check_local(place, inside)
    _check_restart(references, place, place.element)
    for link in references.links():
        within = link.targets & (inside - {place.element})
        crosses = link.attribute != "of" and within and link.element not in inside
        if crosses or (link.element in inside and not link.targets <= inside):
            raise LogicError(
                f"[{link.attribute}] of '{references.places[link.element].path}' names "
                f"'{link.name}', and they would be in different trees: extract both, or neither"
            )


def _check_local(place: Place, inside: Collection[Element]) -> None:
    if any(resolve_type(each) == "UnsetBlackboard" for each in inside):
        raise LogicError(
            f"UnsetBlackboard in '{place.path}' removes entries of the tree in which it stands: "
            "take it out first"
        )
    for each in inside:
        for name, text in each.attributes.items():
            if (resolve_type(each), name) in LITERAL_KEYS and is_pointer(text):
                raise LogicError(
                    f"[{name}] of '{label_of(each)}' in '{place.path}' is '{text}': which entry of "
                    "its tree that names only the run can tell, so write the name of the entry"
                )


def _check_restart(references: References, place: Place, leaf: Element) -> None:
    """Refuse an action as the condition of a WhileDoElse, which asks one that has ended what it
    ended with: the only parent that does so, while a SubTree forgets it.
    """
    above = place.parent
    if above is None or resolve_type(above) != "WhileDoElse":
        return
    manifest = references.manifests.get(resolve_type(leaf) or "")
    is_action = manifest is not None and manifest.type is NodeType.ACTION
    if is_action and above.children[0] is place.element:
        raise LogicError(
            f"'{place.path}' is the condition of a WhileDoElse, which starts an action once; as a "
            "SubTree it is started in each tick: put the whole WhileDoElse into a tree, or do the "
            "action before it"
        )


def _ports(references: References, place: Place, enums: Iterable[str]) -> list[str]:
    """Entries that a node shares with others; refuses those that no port can carry."""
    inside = [place.element, *below(place.element)]
    others = (each for each in below(place.tree) if each not in inside)
    outside = {*references.entries(others), *references.root_entries()}
    known = set(enums)
    keys = [
        key
        for key in references.entries(iter(inside))
        if not key.startswith("@") and key not in known
    ]
    private = [key for key in keys if not is_port_attribute(key)]
    for key in private:
        if key in outside:
            raise LogicError(
                f"entry '{key}' is used inside and outside of '{place.path}', and no port can be "
                "called so: rename it first"
            )
    return [key for key in keys if key not in private]


def inline(files: TreeFiles, node: NodeName) -> None:
    """Put the nodes of a tree in the place of a SubTree that uses it; the tree stays for others.

    Args:
        files: where it is
        node: path of the SubTree, or as much of its end as is unique

    Raises:
        LogicError: no such SubTree, what its ports say cannot be said without it, or it is an
            action that would start but once
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        references = References(editors, files.factory.manifests())
        place = references.find(node)
        if place.element.tag != "SubTree":
            raise LogicError(f"'{place.path}' is no SubTree: only those can be inlined")
        tree = references.tree(place.element.get("ID") or "")
        _check_restart(references, place, tree.children[0])
        source = editors[references.places[tree].file]
        text = element_text(_bytes(source), tree.children[0])
        copy = XmlEditor(text.encode(), place.path)
        _rewire(references, place, copy, files.factory.types.enums)
        _take_over(references, place, copy)
        editors[place.file].replace(place.address, copy.data.decode())

    files.change(edit)


def _rewire(
    references: References, place: Place, copy: XmlEditor, enums: Mapping[str, int]
) -> None:
    """Let the nodes of a tree use the entries of the tree around."""
    ports = _given(references, place)
    outer = _entries_around(references, place.tree)
    names: dict[str, str] = {}
    literals: dict[str, str] = {}
    inside = [copy.root, *below(copy.root)]
    _check_local(place, inside)
    keys = [k for k in references.entries(iter(inside)) if k[0] != "@" and k not in enums]
    for key in keys:
        if key in ports:
            outside = None if ports[key] == "=" else pointer_key(ports[key], key)
            if outside is None:
                literals[key] = ports[key]
            else:
                names[key] = outside
        elif not autoremaps(place.element) or key[0] == "_":
            names[key] = _free(key, outer, "_") if key in outer else key
            outer.add(names[key])
    rewrites = Rewrites()
    for element in inside:
        for use in references.uses(element):
            held = [key for key in use.keys if key in literals]
            needed = use.script or use.text in held  # named without braces
            needed |= element.tag != "SubTree" and "=" in map(literals.get, held)
            for key in use.keys if use.script else ():
                if key in names and not _script_name(names[key], enums):
                    raise LogicError(
                        f"port [{key}] of '{place.path}' is '{names[key]}', which cannot be "
                        f"written in [{use.attribute}] of '{label_of(element)}': rename that first"
                    )
            if held and (needed or _written(references, element, use.attribute)):
                raise LogicError(
                    f"port [{held[0]}] of '{place.path}' is '{literals[held[0]]}', which "
                    f"[{use.attribute}] of '{label_of(element)}' needs as an entry: write it to "
                    f'one by a Script, and {held[0]}="{{...}}"'
                )
            if held and use.framed:
                frames = {key: f"{{{names.get(key, key)}}}" for key in use.keys} | literals
                text = with_frames(use.text, frames.__getitem__)
                rewrites.set(element, use.attribute, text)
            elif held:
                rewrites.set(element, use.attribute, literals[held[0]])
            elif any(names.get(key, key) != key for key in use.keys):
                rewrites.set(element, use.attribute, renamed_text(use, names))
    rewrites.apply({Path(place.path): copy})


def _entries_around(references: References, tree: Element) -> set[str]:
    """Entries that nodes of a tree share, also with trees that use it with ``_autoremap``, and with
    whoever means the root's.
    """
    found = references.root_entries()
    trees = [tree]
    for each in trees:  # grows; no tree is in itself
        found.update(references.entries(below(each)))
        models = references.ports_of_model(label_of(each))
        found.update(port.get("name") or "" for port in models)
        for user in references.users(label_of(each)):
            found.update(subtree_ports(user))
            if autoremaps(user):
                trees.append(references.places[user].tree)
    return found


def _script_name(key: str, enums: Mapping[str, int]) -> bool:
    """Whether a script that has this text means the entry."""
    try:
        name, *others = tokenize(key, grammar_4_8=False)
    except ScriptError:
        return False
    return name.kind == "name" and len(others) == 1 and key not in enums


def _given(references: References, place: Place) -> dict[str, str]:
    """Ports of a SubTree, with the defaults of its model."""
    ports = subtree_ports(place.element)
    if autoremaps(place.element):
        return ports  # which leaves no entry to a default
    for port in references.ports_of_model(place.element.get("ID") or ""):
        default = port.get("default")
        if default is not None:
            ports.setdefault(port.get("name") or "", default)
    return ports


def _written(references: References, element: Element, port: str) -> bool:
    manifest = references.manifests.get(resolve_type(element) or "")
    if element.tag == "SubTree" or manifest is None or port not in manifest.ports:
        return False
    return manifest.ports[port].direction is not PortDirection.INPUT


def _stay_in_order(outer: str, inner: str) -> bool:
    """Whether conditions of a SubTree and of the root of its tree mean the same at one node."""
    first, second = map(CONDITION_ATTRIBUTES.index, (outer, inner))
    if outer in PRECONDITIONS:
        return inner in PRECONDITIONS and first < second
    return inner in PRECONDITIONS or second < first


def _take_over(references: References, place: Place, copy: XmlEditor) -> None:
    """Give what comes in the place of a SubTree its conditions, and the name by which others mean
    it.
    """
    conditions = [name for name in copy.root.attributes if name in IS_CONDITION]
    for name in place.element.attributes:
        if name in IS_CONDITION:
            for other in conditions:
                if not _stay_in_order(name, other):
                    raise LogicError(
                        f"'{place.path}' has {name} and the root of its tree {other}, which would "
                        "not be looked at in this order by one node: put one of them into the other"
                    )
            copy.set_attribute((), name, place.element.attributes[name])
    own = names_of(place.element)
    meant = {
        link.name
        for link in references.links()
        if link.name in own and link.targets & {place.element, place.parent}
    }
    if len(meant) > 1:
        raise LogicError(f"'{place.path}' is called {' and '.join(sorted(meant))}: choose one")
    if meant:
        copy.set_attribute((), "name", meant.pop())


def _bytes(editor: XmlEditor) -> bytes:
    """The bytes to which the elements of an editor's root refer."""
    return editor.root.source.data


def _free(name: str, taken: Iterable[str], space: str) -> str:
    known, number = set(taken), 2
    while f"{name}{space}{number}" in known:
        number += 1
    return f"{name}{space}{number}"
