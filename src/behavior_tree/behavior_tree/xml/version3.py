# SPDX-License-Identifier: Apache-2.0
"""What changed in the XML from BehaviorTree.CPP 3 to 4, element by element.

`conversions` only plans. The loader applies the plan to elements in memory, so that problems keep
their places in the user's file; `behavior_tree.xml.migrate` applies it to the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from behavior_tree.blackboard.ports import is_pointer
from behavior_tree.errors import XmlProblem
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import below

_RENAMED = {
    "SequenceStar": "SequenceWithMemory",
    "FallbackStar": "Fallback",
    "RetryUntilSuccesful": "RetryUntilSuccessful",
    "SubTreePlus": "SubTree",
}
_CHECKS = {f"BlackboardCheck{kind}" for kind in ("Int", "Double", "Bool", "String")}
_PARALLEL = {
    "threshold": "success_count",
    "success_threshold": "success_count",
    "failure_threshold": "failure_count",
}
_SCRIPT_ATTRIBUTES = {
    *("_failureIf", "_successIf", "_skipIf", "_while"),
    *("_onHalted", "_onFailure", "_onSuccess", "_post"),
}
_KEY = re.compile(r"\{([A-Za-z_@][A-Za-z0-9_]*)\}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@dataclass
class Conversion:
    """What becomes of one element."""

    element: Element
    tag: str | None = None
    """New name of the element."""
    attributes: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    """From an old attribute to its new name and value; None removes it."""
    added: dict[str, str] = field(default_factory=dict)
    notes: list[XmlProblem] = field(default_factory=list)
    """What a person must look at."""

    def note(
        self,
        message: str,
        remedy: str,
        attribute: str | None = None,
        *,
        severity: str = "warning",
    ) -> None:
        """Say what could not be converted (error), or not faithfully (warning)."""
        self.notes.append(
            self.element.problem(message, remedy, attribute=attribute, severity=severity)
        )


def is_version_3(root: Element) -> bool:
    """True if a document says so, or says nothing and uses what only version 3 has."""
    version = root.get("BTCPP_format")
    if version is not None:
        return version == "3"
    return any(_only_in_3(element) for element in below(root))


def conversions(root: Element) -> list[Conversion]:
    """Plan for a whole document, in document order."""
    plan = [_root(root)]
    models = [
        each for child in root.children if child.tag == "TreeNodesModel" for each in child.children
    ]
    plan.extend(map(_model, models))
    outputs = {each.get("ID"): _outputs(each) for each in models}
    for child in root.children:
        if child.tag == "BehaviorTree":
            plan.extend(_node(element, outputs) for element in below(child))
    _reactive_note(plan)
    return [each for each in plan if each.tag or each.attributes or each.added or each.notes]


def convert_elements(root: Element) -> list[XmlProblem]:
    """Turn the elements of a version 3 document into version 4; returns what to look at."""
    notes: list[XmlProblem] = []
    for each in conversions(root):
        notes.extend(each.notes)
        element = each.element
        pairs = [
            each.attributes.get(name, (name, text)) for name, text in element.attributes.items()
        ]
        element.attributes = {**dict(pair for pair in pairs if pair is not None), **each.added}
        element.tag = each.tag or element.tag
    return notes


def _type_id(element: Element) -> str:
    explicit = element.tag in ("Action", "Condition", "Control", "Decorator")
    return (element.get("ID") or "") if explicit else element.tag


def _only_in_3(element: Element) -> bool:
    type_id = _type_id(element)
    return (
        type_id in _RENAMED
        or type_id in _CHECKS
        or not element.attributes.keys().isdisjoint(("__shared_blackboard", "__autoremap"))
        or (type_id == "Parallel" and not element.attributes.keys().isdisjoint(_PARALLEL))
    )


def _root(root: Element) -> Conversion:
    done = Conversion(root)
    if root.get("BTCPP_format") is None:
        done.added["BTCPP_format"] = "4"
    else:
        done.attributes["BTCPP_format"] = ("BTCPP_format", "4")
    return done


def _model(element: Element) -> Conversion:
    return Conversion(element, tag="SubTree" if element.tag == "SubTreePlus" else None)


def _outputs(model: Element) -> set[str]:
    return {child.get("name") or "" for child in model.children if child.tag == "output_port"}


def _node(element: Element, outputs: Mapping[str | None, set[str]]) -> Conversion:
    done = Conversion(element)
    type_id = _type_id(element)
    for name in outputs.get(type_id, set()) & element.attributes.keys():
        key = element.attributes[name]
        if key and key != "=" and not is_pointer(key):  # version 3 wrote the entry of this name
            done.attributes[name] = (name, f"{{{key}}}")
    new_id = _RENAMED.get(type_id)
    if new_id is not None and element.tag == type_id:
        done.tag = new_id
    elif new_id is not None:
        done.attributes["ID"] = ("ID", new_id)
    for name in element.attributes:
        if name in _SCRIPT_ATTRIBUTES:
            done.note(
                f"[{name}] is a script in version 4",
                "rename the port if it is one, in the code too",
                name,
            )
    if type_id == "SubTree":
        _old_subtree(done)
    elif type_id == "SubTreePlus" and "__autoremap" in element.attributes:
        done.attributes["__autoremap"] = ("_autoremap", element.attributes["__autoremap"])
    elif type_id in _CHECKS:
        _blackboard_check(done, type_id)
    elif type_id == "Parallel":
        done.attributes.update(
            {
                name: (_PARALLEL[name], text)
                for name, text in element.attributes.items()
                if name in _PARALLEL
            }
        )
    elif type_id == "FallbackStar":
        done.note(
            "FallbackStar begins again at its first child after a failure in version 4",
            "check that this is meant",
        )
    return done


def _old_subtree(done: Conversion) -> None:
    for name, text in done.element.attributes.items():
        if name == "__shared_blackboard":
            if text.lower() not in ("1", "true"):
                done.attributes[name] = None
                continue
            done.attributes[name] = ("_autoremap", "true")
            done.note(
                "__shared_blackboard became _autoremap: entries that only the SubTree makes are "
                "shared too, but names that begin with '_' are not",
                "check the entries",
                name,
            )
        elif name == "__autoremap":
            done.attributes[name] = ("_autoremap", text)
        elif name not in ("ID", "name") and not name.startswith("_") and not is_pointer(text):
            done.attributes[name] = (name, f"{{{text}}}")


def _blackboard_check(done: Conversion, type_id: str) -> None:
    element = done.element
    sides = [
        _operand(element.get(port), text=type_id == "BlackboardCheckString")
        for port in ("value_A", "value_B")
    ]
    if None in sides:
        done.note(
            f"{type_id} cannot be converted: a value is missing, or is neither a key nor a literal "
            "that a script can hold",
            'write <Precondition if="..." else="FAILURE">',
            severity="error",
        )
        return
    if element.tag == type_id:
        done.tag = "Precondition"
    else:
        done.attributes["ID"] = ("ID", "Precondition")
    done.attributes["value_A"] = ("if", f"{sides[0]} == {sides[1]}")
    done.attributes["value_B"] = None
    if "return_on_mismatch" in element.attributes:
        done.attributes["return_on_mismatch"] = ("else", element.attributes["return_on_mismatch"])


def _operand(value: str | None, *, text: bool) -> str | None:
    """Script text of a port's value; None if there is none."""
    if value is None:
        return None
    key = _KEY.fullmatch(value.strip())
    if key:
        return key.group(1)
    if value.strip() in ("true", "false") or _NUMBER.fullmatch(value.strip()):
        return f"'{value}'" if text else value.strip()
    return f"'{value}'" if text and "'" not in value and not is_pointer(value) else None


def _reactive_note(plan: list[Conversion]) -> None:
    for each in plan:
        if _type_id(each.element) in ("ReactiveSequence", "ReactiveFallback"):
            each.note(
                f"{_type_id(each.element)} of version 4 should have one asynchronous child only: "
                "the others are halted when it runs",
                "check its children, and those of other reactive nodes",
            )
            return
