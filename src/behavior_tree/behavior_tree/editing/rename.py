# SPDX-License-Identifier: Apache-2.0
"""Other names for nodes, trees and entries, with all that names them; each one undoable step."""

from __future__ import annotations

from behavior_tree.blackboard.ports import port_name_mistake
from behavior_tree.editing.references import NodeName, References, Rewrites, label_of
from behavior_tree.editing.tree_files import Editors, TreeFiles
from behavior_tree.errors import LogicError
from behavior_tree.nodes.authoring.order import listed
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import autoremaps, below


def rename_node(files: TreeFiles, node: NodeName, name: str) -> None:
    """Give a node another name, and follow it in ``execute_after``, ``to`` and ``of``.

    Args:
        files: where it is
        node: its path, as much of its end as is unique, or its file and address
        name: the new name

    Raises:
        LogicError: no such node, or another node would be meant where names are used
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        before = References(editors, files.factory.manifests())
        place = before.find(node)
        if place.parent is None:
            raise LogicError(f"'{place.path}' is a tree: rename the tree")
        rewrites = Rewrites()
        rewrites.set(place.element, "name", name)
        _follow(before, rewrites, {place.element: (label_of(place.element), name)})
        rewrites.apply(editors)
        check_meanings(before, References(editors, files.factory.manifests()))

    files.change(edit)


def rename_tree(files: TreeFiles, tree_id: str, new_id: str) -> None:
    """Give a tree another ID, and follow it in SubTrees, models, the main tree and names of nodes.

    Files that include these are not known here: their SubTrees must be changed, too.

    Raises:
        LogicError: no such tree, or the new ID is taken
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        before = References(editors, files.factory.manifests())
        tree = before.tree(tree_id)
        if new_id in before.trees:
            raise LogicError(f"there is a tree '{new_id}' already: choose another ID")
        rewrites = Rewrites()
        rewrites.set(tree, "ID", new_id)
        users = before.users(tree_id)
        for user in users:
            rewrites.set(user, "ID", new_id)
        for model in before.models.get(tree_id, ()):
            rewrites.set(model, "ID", new_id)
        for editor in editors.values():
            if editor.root.get("main_tree_to_execute") == tree_id:
                rewrites.set(editor.root, "main_tree_to_execute", new_id)
        _follow(before, rewrites, dict.fromkeys(users, (tree_id, new_id)))
        rewrites.apply(editors)
        check_meanings(before, References(editors, files.factory.manifests()))

    files.change(edit)


def rename_entry(files: TreeFiles, tree_id: str, entry: str, name: str) -> None:
    """Give an entry of a tree's blackboard another name: in ports, remappings and scripts. If it is
    a port of the tree, those who use the tree follow, and its model.

    An entry of the main tree is also followed where others call it ``@entry``.

    Raises:
        LogicError: no such tree or entry, the new name is taken, or ``_autoremap`` connects the
            entry by its name
        LoadError: the files would not load
    """

    def edit(editors: Editors) -> None:
        references = References(editors, files.factory.manifests())
        tree = references.tree(tree_id)
        users = [each for each in references.users(tree_id) if entry in each.attributes]
        known = references.entries(below(tree))
        if entry not in known and not users:
            raise LogicError(f"tree '{tree_id}' has no entry '{entry}', but {', '.join(known)}")
        if not name.isidentifier() or (users and port_name_mistake(name)):
            raise LogicError(f"'{name}' cannot be the name of an entry: letters, digits and _ can")
        if name in ("true", "false") or name in files.factory.types.enums:
            raise LogicError(f"'{name}' has a meaning of its own in scripts: choose another name")
        main = editors[files.path].root.get("main_tree_to_execute")
        is_main = main == tree_id or list(references.trees) == [tree_id]
        taken = any(name in each.attributes for each in references.users(tree_id))
        taken |= is_main and name in references.root_entries()
        taken |= any(port.get("name") == name for port in references.ports_of_model(tree_id))
        if name in known or taken:
            raise LogicError(f"tree '{tree_id}' has an entry '{name}' already: choose another name")
        _check_autoremap(references, tree, tree_id, entry)
        rewrites = Rewrites()
        for user in users:
            text = user.attributes[entry]
            text = f"{{{entry}}}" if text.strip(" ") == "{=}" else text
            rewrites.set(user, entry, text, name)
        for port in references.ports_of_model(tree_id):
            if port.get("name") == entry:
                rewrites.set(port, "name", name)
        everywhere = {f"@{entry}": f"@{name}"} if is_main else {}
        for other in references.trees.values():
            names = {**everywhere, entry: name} if other is tree else everywhere
            rewrites.rename_entries(references, below(other), names)
        rewrites.apply(editors)

    files.change(edit)


def _check_autoremap(references: References, tree: Element, tree_id: str, entry: str) -> None:
    inside = [each for each in below(tree) if each.tag == "SubTree"]
    for each in [*inside, *references.users(tree_id)]:
        if autoremaps(each) and entry not in each.attributes:
            raise LogicError(
                f"'{references.places[each].path}' has _autoremap, which connects entries by their "
                f'names: write {entry}="{{{entry}}}" there first'
            )


def _follow(
    references: References, rewrites: Rewrites, renamed: dict[Element, tuple[str, str]]
) -> None:
    """Change names in attributes of other nodes that mean renamed ones."""
    texts: dict[tuple[Element, str], list[str]] = {}
    for link in references.links():
        names = texts.setdefault((link.element, link.attribute), [])
        meant = {target: _inner(references, target, renamed) for target in link.targets}
        new = {name[1] for name in meant.values() if name is not None and name[0] == link.name}
        if not new or any(name is None or name[0] != link.name for name in meant.values()):
            names.append(link.name)  # others are called so, too
        names += [each for each in sorted(new) if each not in names]
    for (element, attribute), names in texts.items():
        if names != listed(element.get(attribute) or ""):
            rewrites.set(element, attribute, ";".join(names))


def _inner(
    references: References, target: Element, renamed: dict[Element, tuple[str, str]]
) -> tuple[str, str] | None:
    """Old and new name of a node; of a Step, by which others call what is in it, too."""
    if target not in renamed and references.lists.role(target) == "Step" and target.children:
        target = target.children[0]
    return renamed.get(target)


def check_meanings(before: References, after: References) -> None:
    """Raise LogicError if a name means another node than before, where only names have changed."""
    old, new = before.meanings(), after.meanings()
    if old != new:
        key = next(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        paths = {(place.file, place.address): place.path for place in before.places.values()}
        raise LogicError(
            f"[{key[2]}] of '{paths[key[:2]]}' would mean other nodes with the new name: choose "
            "another one"
        )
