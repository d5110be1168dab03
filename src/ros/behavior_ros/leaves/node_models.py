# SPDX-License-Identifier: Apache-2.0
"""Which tree nodes are made from which ROS interfaces: the entries of a YAML file.

A file is a list of entries, or has one under the key ``nodes``::

    nodes:
      - {node: Pick, action: /pick, type: behavior_msgs/action/Pick, required: [object_name]}
      - {node: Reset, service: /simulation/reset, type: behavior_msgs/srv/ResetWorld, timeout: 5}
      - {node: Announce, publisher: /speech, type: std_msgs/msg/String}
      - {node: DoorOpen, subscriber: /door, type: std_msgs/msg/Bool, max_age: 1.0,
         condition: {data: true}}
      - {node: StopDriving, cancel: /navigate_to_pose, type: nav2_msgs/action/NavigateToPose}
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from behavior_packages.bounded_yaml import read_yaml

_KINDS = ("action", "service", "publisher", "subscriber", "cancel")


class NodeModelError(ValueError):
    """Entries that describe no node; the message lists every problem."""


@dataclass(frozen=True)
class NodeModel:
    """One tree node made from an interface."""

    node: str
    """Name of the tree node, as in XML."""
    kind: str
    """action, service, publisher, subscriber, or cancel, which cancels all goals of an action; in
    YAML it is the key of the name."""
    name: str
    """Name of the action, service or topic."""
    type: str
    """Interface type, like behavior_msgs/action/Pick."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Values of input ports where the interface's own defaults do not suit."""
    required: tuple[str, ...] = ()
    """Input ports that every use of the node must give."""
    inline: tuple[str, ...] = ()
    """Fields that hold a message, whose own fields become ports in their place."""
    ports: Mapping[str, str] = field(default_factory=dict)
    """Names of ports that are not called like their fields, by the name of the field; of a field
    that goal and result both have by ``goal.path`` and ``result.path``."""
    unused: tuple[str, ...] = ()
    """Action or service: input ports that trees give and that mean nothing here; nobody reads
    them."""
    if_installed: bool = False
    """Where the type is not installed the node is left out, and named, instead of refused."""
    name_port: str = ""
    """Action or service: input port that gives another name of it, for trees that choose who is
    asked. Empty: it is always `name`."""
    namespace_port: str = ""
    """Action or service: input port that gives the namespace in which `name` stands, such as the
    group of joints that is to move; while the port is empty there is none. Not beside `name_port`.
    """
    timeout: float | None = None
    """[s] node time after which the leaf fails; None: never. A subscriber waits for its message so
    long, and with None it answers at once."""
    server_timeout: float = 3.0
    """[s] wall time without a sign of life after which the server counts as lost."""
    max_age: float = float("inf")
    """[s] node time after which a subscriber's message counts as old."""
    latched: bool = False
    """True for topics whose last message is kept for late subscribers."""
    barrier: str = ""
    """Action: after success the leaf goes on running until this barrier lets its result through, so
    that what comes after it sees the result's effect; see `register_ros_nodes`. Empty: none."""
    resend: bool = False
    """Action: inputs that change while its goal runs are sent as another goal, which the server
    takes in its place, as /reach does."""
    commands: tuple[str, ...] = ()
    """What the node commands, such as arm or gripper: two that may run at once and command the same
    are refused when a tree is loaded. ``{port}`` in a name stands for the text of that port."""
    offered_by: str = ""
    """Name of the node that offers the action or service, or publishes: who misses it is told."""
    optional: bool = False
    """Trees cope where nobody offers it or publishes: no mission waits for that."""
    condition: Mapping[str, Any] = field(default_factory=dict)
    """Values that fields of a subscriber's message, or of a service's response, must have, by name,
    nested with dots."""

    @property
    def naming_port(self) -> str:
        """The port that says who is asked; empty if it is always the same."""
        return self.name_port or self.namespace_port


_OPTIONS = {entry.name for entry in fields(NodeModel)} - {"kind", "name"}


_FORMS: dict[str, tuple[Any, str]] = {
    "str": (str, "a text"),
    "bool": (bool, "true or false"),
    "Mapping": (Mapping, "a mapping"),
    "tuple": ((list, tuple), "a list"),
}
"""By the type of an option: what YAML has to hold, and how that is called."""
_OPTION_FORMS = {
    each.name: _FORMS[kind]
    for each in fields(NodeModel)
    if (kind := str(each.type).partition("[")[0]) in _FORMS
}


def load_node_models(source: str | Path | Mapping[str, Any]) -> list[NodeModel]:
    """Return the models of a YAML file, or of its contents.

    Args:
        source: path, or contents with the key ``nodes``

    Raises:
        NodeModelError: listing every problem of the file
    """
    where, content = "node models", source
    if not isinstance(source, Mapping):
        where = str(source)
        try:
            content = read_yaml(Path(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise NodeModelError(f"{where}: {error}") from error
    entries = content.get("nodes") if isinstance(content, Mapping) else content
    if not isinstance(entries, list):
        raise NodeModelError(f"{where}: write a list of nodes, or one under the key nodes")
    models: list[NodeModel] = []
    problems: list[str] = []
    for index, entry in enumerate(entries, start=1):
        try:
            models.append(_model(entry))
        except NodeModelError as error:
            problems.append(f"{where}, entry {index}: {error}")
    names = [model.node for model in models]
    problems += [
        f"{where}: node {name} twice" for name in sorted(set(names)) if names.count(name) > 1
    ]
    if problems:
        raise NodeModelError("\n".join(problems))
    return models


def _model(entry: Any) -> NodeModel:
    if not isinstance(entry, Mapping):
        raise NodeModelError(f"{entry!r} is no mapping")
    what = f"node {entry.get('node', '?')}"
    kinds = [kind for kind in _KINDS if kind in entry]
    if len(kinds) != 1:
        raise NodeModelError(f"{what}: give one of {', '.join(_KINDS)} with the name it has in ROS")
    kind = kinds[0]
    for key in entry:
        if key != kind and key not in _OPTIONS:
            near = difflib.get_close_matches(str(key), sorted(_OPTIONS), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(_OPTIONS))}"
            raise NodeModelError(f"{what}: unknown key {key!r}, {hint}")
    for key in ("node", kind, "type"):
        if not (isinstance(entry.get(key), str) and entry[key]):
            raise NodeModelError(f"{what}: {key} is missing, or is no text")
    options = {key: value for key, value in entry.items() if key != kind}
    for key in ("timeout", "server_timeout", "max_age"):
        if key in options:
            options[key] = _positive(what, key, options[key])
    for key, (form, called) in _OPTION_FORMS.items():
        if key in options and not isinstance(options[key], form):
            raise NodeModelError(f"{what}: {key} is {options[key]!r}, give {called}")
    for key in ("required", "inline", "commands", "unused"):
        options[key] = tuple(options.get(key, ()))
    if options.get("name_port") and options.get("namespace_port"):
        raise NodeModelError(f"{what}: name_port and namespace_port are both given; choose one")
    return NodeModel(kind=kind, name=entry[kind], **options)


def _positive(what: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise NodeModelError(f"{what}: {key} is {value!r}, give a positive number of seconds")
    return float(value)
