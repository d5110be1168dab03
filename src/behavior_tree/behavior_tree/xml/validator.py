# SPDX-License-Identifier: Apache-2.0
"""Static checks of tree definitions: finds every problem, stops at none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from behavior_tree.basic_types import NodeStatus, PortDirection
from behavior_tree.blackboard.conversion import TypeRegistry, type_name
from behavior_tree.blackboard.ports import (
    RESERVED_ATTRIBUTES,
    PortInfo,
    forbidden_character,
    is_port_attribute,
    model_name_mistake,
    model_name_works,
    pointer_key,
)
from behavior_tree.errors import ConversionError, ScriptError, XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.authoring import AUTHORING_NODES
from behavior_tree.nodes.decider import DECIDER_NODES
from behavior_tree.quirks import Quirks
from behavior_tree.script import check_script
from behavior_tree.shown_text import shorten
from behavior_tree.xml.concurrency import concurrency_problems
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import (
    CONDITION_ATTRIBUTES,
    EXPLICIT_TAGS,
    IS_CONDITION,
    Place,
    autoremaps,
    path_of,
    resolve_type,
)
from behavior_tree.xml.loader import NO_SUCH_TREE, SubTreePort, TreeDefinition
from behavior_tree.xml.networks import network_problems
from behavior_tree.xml.recursion import duplicate_paths

_KNOWN_UNDERSCORE = {name.lower(): name for name in (*CONDITION_ATTRIBUTES, "_autoremap")}
_KINDS = {tag: f"an {tag}" if tag == "Action" else f"a {tag}" for tag in EXPLICIT_TAGS}
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_MAX_SUGGESTIONS = 200
"""Names for which similar ones are looked up in one check: the search is slow."""


@dataclass
class Validator:
    """Checks trees against what a factory knows."""

    manifests: Mapping[str, TreeNodeManifest]
    types: TypeRegistry
    quirks: Quirks
    models: Mapping[str, Mapping[str, SubTreePort]]
    trees: Iterable[str]
    """IDs of all known trees."""
    closed: bool
    """True if no further trees will come, so that a SubTree of unknown ID is a problem."""
    strict: bool = False
    """Refuse names that BehaviorTree.CPP 4.9 and later refuse."""
    structure_only: bool = False
    """Leave out ports and scripts."""
    node_models: Mapping[str, Element] = field(default_factory=dict)
    """What documents say about node types that are code."""
    warnings: list[XmlProblem] = field(default_factory=list)
    """What BehaviorTree.CPP takes, though hardly as meant; errors if ``strict``."""
    faulty: set[Element] = field(default_factory=set)
    """Elements with problems, of all trees so far."""
    _good_tags: set[str] = field(default_factory=lambda: {*EXPLICIT_TAGS, "SubTree"})
    _suggested: int = 0
    _with_roles: bool = False
    """True if the tree has nodes that play a part among others."""

    def check(self, definition: TreeDefinition) -> list[XmlProblem]:
        """All errors of one tree; what is only odd comes to `warnings`."""
        self._problems: list[XmlProblem] = []
        self._with_roles = False
        element, tree_id = definition.element, definition.id
        self._tree = label = definition.label
        if tree_id in self.manifests:
            self._add(
                element,
                None,
                f"[ID] of tag <BehaviorTree> must not use the name of a registered Node: {tree_id}",
                "rename the tree",
                "ID",
            )
        if len(element.children) != 1:
            self._add(
                element,
                None,
                f"<BehaviorTree> with ID '{label}' must have exactly 1 child, it has "
                f"{len(element.children)}",
                "put the nodes into one control node, such as <Sequence>",
            )
        for child in element.children:
            self._node(child, None)
        if not (self.structure_only or self.quirks.names_unchecked):
            self._problems.extend(duplicate_paths(definition))
        if self._with_roles and not self.structure_only:
            self._problems.extend(network_problems(definition, self.manifests))
            self._problems.extend(concurrency_problems(definition, self.manifests))
        return self._problems

    def is_good(self, element: Element) -> bool:
        """Whether there is nothing wrong with a node itself; of those in it nothing is said."""
        self._problems, self._tree = [], ""
        self._itself(element, (element, None))
        return not self._problems

    # -- nodes ----------------------------------------------------------------------------------

    def _node(self, element: Element, above: Place | None) -> None:
        place: Place = (element, above)
        self._itself(element, place)
        for child in element.children:
            self._node(child, place)

    def _itself(self, element: Element, place: Place) -> None:
        type_id = resolve_type(element)
        if element.tag not in self._good_tags:
            self._tag(element, place)
        if element.attributes:
            self._common_attributes(element, place)
        if type_id is None:
            self._add(
                element,
                place,
                f"The tag <{element.tag}> must have the attribute [ID]",
                f'write <{element.tag} ID="..."/>',
            )
        elif element.tag == "SubTree":
            self._subtree(element, type_id, place)
        else:
            self._registered(element, type_id, place)

    def _registered(self, element: Element, type_id: str, place: Place) -> None:
        manifest = self.manifests.get(type_id)
        if manifest is None:
            self._unknown(element, type_id, place)
            return
        if manifest.role:
            self._with_roles = True
        if element.tag in EXPLICIT_TAGS:
            if element.tag != manifest.type.tag and not self.quirks.explicit_category_unchecked:
                self._warn(
                    element,
                    place,
                    f"{type_id} is {_KINDS[manifest.type.tag]}, not {_KINDS[element.tag]}",
                    f'write <{manifest.type.tag} ID="{type_id}"> or <{type_id}>',
                )
        elif "ID" in element.attributes and not self.structure_only:
            self._add(
                element,
                place,
                f"Attribute [ID] is not allowed in <{type_id}>",
                'use name="..." to name a node',
                "ID",
            )
        if element.children or manifest.min_children:
            self._children(element, manifest, place)
        if (element.attributes or manifest.required_ports) and not self.structure_only:
            self._ports(element, manifest, place)

    def _unknown(self, element: Element, type_id: str, place: Place) -> None:
        if type_id in self.trees:
            remedy = f'it is a tree: write <SubTree ID="{type_id}"/>'
        elif type_id in self.node_models:
            remedy = "its <TreeNodesModel> only describes it: register it before loading the tree"
        elif type_id in DECIDER_NODES:
            remedy = "call behavior_tree.decider.register_decider_nodes(factory) before loading"
        elif type_id in AUTHORING_NODES:
            remedy = "call behavior_tree.authoring.register_authoring_nodes(factory) before loading"
        else:
            near = self._nearest(type_id, self.manifests)
            remedy = near or "register it before loading the tree"
        attribute = "ID" if element.tag in EXPLICIT_TAGS else None
        self._add(element, place, f"Node not recognized: {shorten(type_id)}", remedy, attribute)

    def _children(self, element: Element, manifest: TreeNodeManifest, place: Place) -> None:
        count, low, high = len(element.children), manifest.min_children, manifest.max_children
        type_id = manifest.registration_id
        if self.quirks.missing_ports_at_tick and low > 1 and type_id != "TryCatch":
            low, high = 1, None  # upstream looks at these counts when it ticks
        if count < low or (high is not None and count > high):
            self._add(
                element,
                place,
                f"The node <{type_id}> must {_wanted_children(low, high)}, it has {count}",
                "",
            )
        if type_id != "ReactiveSequence":
            return
        asyncs = [child for child in element.children if resolve_type(child) == "AsyncSequence"]
        if len(asyncs) > 1:
            self._add(
                asyncs[1],
                place,
                "A ReactiveSequence cannot have more than one async child.",
                "use Sequence for all but one of them",
            )
        if self.quirks.reactive_rejects_explicit:
            for child in element.children:
                if child.tag in EXPLICIT_TAGS:
                    self._add(
                        child,
                        place,
                        f"Unknown node type: {child.tag}",
                        f"write <{child.get('ID')}>",
                    )

    # -- ports ----------------------------------------------------------------------------------

    def _ports(self, element: Element, manifest: TreeNodeManifest, place: Place) -> None:
        ports = manifest.ports
        for name, text in element.attributes.items():
            if name in ports:
                self._port(element, manifest, ports[name], text, place)
            elif name not in RESERVED_ATTRIBUTES and is_port_attribute(
                name, any_name=self.quirks.names_unchecked
            ):
                self._undeclared(element, manifest, name, place)
        if self.quirks.missing_ports_at_tick:
            return
        for port in manifest.required_ports:
            if port.name not in element.attributes:
                self._add(
                    element,
                    place,
                    f"Missing mandatory port [{port.name}] of {manifest.registration_id}",
                    f'add {port.name}="..." ({_describe(port)})',
                )

    def _undeclared(
        self, element: Element, manifest: TreeNodeManifest, name: str, place: Place
    ) -> None:
        known = ", ".join(manifest.ports) or "none"
        source = ", as its <TreeNodesModel> says" if manifest.described else ""
        report = self._warn if manifest.described else self._add
        report(
            element,
            place,
            f"a port with name [{shorten(name)}] is found in the XML but not in the "
            f"providedPorts() of {manifest.registration_id}",
            self._nearest(name, manifest.ports) or f"its ports: {known}{source}",
            name,
        )

    def _port(
        self, element: Element, manifest: TreeNodeManifest, port: PortInfo, text: str, place: Place
    ) -> None:
        if self.quirks.names_unchecked:  # upstream wants the braces at the very ends here
            if len(text) >= 3 and text[0] == "{" and text[-1] == "}":
                return
        elif ("{" in text or text == "=") and pointer_key(text, port.name) is not None:
            return
        if port.direction is PortDirection.OUTPUT and not self.quirks.missing_ports_at_tick:
            if text or manifest.builtin:  # editors write the empty one for what is not connected
                report = self._add if manifest.builtin else self._warn
                report(
                    element,
                    place,
                    f'output port [{port.name}] has the literal value "{shorten(text)}", the node '
                    "cannot write it",
                    f'name a blackboard entry: {port.name}="{{key}}"',
                    port.name,
                )
            return
        if self._is_checked(port):
            try:
                self.types.from_text(text, port.type)
            except ConversionError as error:
                self._add(
                    element,
                    place,
                    f'The port with name "{port.name}" and value "{shorten(text)}" can not be '
                    f"converted to {type_name(port.type)}: {shorten(str(error))}",
                    "mend the value, or name a blackboard entry: {key}",
                    port.name,
                )
        if port.name in manifest.script_ports and text:
            self._script(element, port.name, text, place)

    def _is_checked(self, port: PortInfo) -> bool:
        if port.type is Any or port.type is str:
            return False
        return not (self.quirks.missing_ports_at_tick and port.type is NodeStatus)

    # -- attributes of all nodes ----------------------------------------------------------------

    def _tag(self, element: Element, place: Place) -> None:
        tag = element.tag
        if forbidden_character(tag) and (self.strict or tag not in self.manifests):
            self._add(element, place, str(model_name_mistake(tag)), "rename the node type")
        else:
            self._good_tags.add(tag)

    def _common_attributes(self, element: Element, place: Place) -> None:
        for name, text in element.attributes.items():
            if name == "name":
                self._name(element, text, place)
            elif name[0] != "_" or name == "_autoremap" or self.structure_only:
                continue
            elif name in IS_CONDITION:
                self._script(element, name, text, place)
            elif name.lower() in _KNOWN_UNDERSCORE:
                self._add(
                    element,
                    place,
                    f"unknown attribute [{name}]",
                    f"write {_KNOWN_UNDERSCORE[name.lower()]}",
                    name,
                )

    def _name(self, element: Element, name: str, place: Place) -> None:
        if _CONTROL.search(name) and not self.quirks.names_unchecked:
            self._add(
                element,
                place,
                f"Instance name {shorten(name)!r} contains an invalid control character",
                "",
                "name",
            )

    def _script(self, element: Element, attribute: str, source: str, place: Place) -> None:
        try:
            check_script(source, self.quirks)
        except ScriptError as error:
            self._add(element, place, f"in [{attribute}]: {error}", "", attribute)

    # -- subtrees -------------------------------------------------------------------------------

    def _subtree(self, element: Element, tree_id: str, place: Place) -> None:
        works = self.quirks.names_unchecked or (not self.strict and model_name_works(tree_id))
        mistake = None if works else model_name_mistake(tree_id)
        if mistake:
            self._add(element, place, mistake, "rename the tree", "ID")
        elif tree_id in self.manifests:
            self._add(
                element,
                place,
                f"[ID] of tag <SubTree> must not use the name of a registered Node: {tree_id}",
                f"write <{tree_id}/> for the node, or rename the tree",
                "ID",
            )
        elif self.closed and tree_id not in self.trees:
            self._add(
                element,
                place,
                f"{NO_SUCH_TREE}{shorten(tree_id)}",
                self._nearest(tree_id, self.trees)
                or "define it, include its file, or register it before",
                "ID",
            )
        if element.children:
            self._add(
                element,
                place,
                f"<SubTree> with ID '{shorten(tree_id)}' should not have any child",
                "remove the children",
            )
        if not self.structure_only:
            self._autoremap(element, place)
            self._model_ports(element, tree_id, place)

    def _autoremap(self, element: Element, place: Place) -> None:
        text = element.get("_autoremap")
        if text is not None:
            try:
                self.types.from_text(text, bool)
            except ConversionError as error:
                self._add(
                    element, place, f"in [_autoremap]: {error}", "write true or false", "_autoremap"
                )

    def _model_ports(self, element: Element, tree_id: str, place: Place) -> None:
        if autoremaps(element):
            return
        for port in self.models.get(tree_id, {}).values():
            optional = port.direction == "output" and not self.quirks.subtree_outputs_mandatory
            if not port.default and not optional and port.name not in element.attributes:
                self._add(
                    element,
                    place,
                    f'In the <TreeNodesModel> the <SubTree ID="{tree_id}"> is defining a '
                    f"mandatory port called "
                    f"[{port.name}], but you are not remapping it",
                    f'add {port.name}="..." or _autoremap="true"',
                )

    def _nearest(self, name: str, known: Iterable[str]) -> str:
        """Question for similar names, empty if there are none."""
        self._suggested += 1
        if self._suggested > _MAX_SUGGESTIONS or len(name) > 100:
            return ""
        close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
        return "did you mean " + " or ".join(close) + "?" if close else ""

    def _warn(
        self,
        element: Element,
        place: Place,
        message: str,
        remedy: str,
        attribute: str | None = None,
    ) -> None:
        if self.strict:
            self._add(element, place, message, remedy, attribute)
            return
        path = path_of(place, self._tree)
        self.warnings.append(
            element.problem(message, remedy, path=path, attribute=attribute, severity="warning")
        )

    def _add(
        self,
        element: Element,
        place: Place | None,
        message: str,
        remedy: str,
        attribute: str | None = None,
    ) -> None:
        self.faulty.add(element)
        path = path_of(place, self._tree)
        self._problems.append(element.problem(message, remedy, path=path, attribute=attribute))


def _describe(port: PortInfo) -> str:
    return (
        f"{type_name(port.type)}; {port.description}" if port.description else type_name(port.type)
    )


def _wanted_children(low: int, high: int | None) -> str:
    if high == 0:
        return "not have any child"
    if low == high:
        return f"have exactly {low} child" + ("ren" if low != 1 else "")
    if high is None:
        return f"have {low} or more children"
    return f"have {low} to {high} children"
