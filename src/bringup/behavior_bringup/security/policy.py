# SPDX-License-Identifier: Apache-2.0
"""A policy of sros2 (version 0.2.0): enclaves, one for each process, with a profile for each node.

What is not allowed is denied.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from xml.etree import ElementTree

VERSION = "0.2.0"
ENCLAVES = "/behavior"
"""Enclave that holds all others."""

_LISTS = {
    "publish": ("topics", "topic"),
    "subscribe": ("topics", "topic"),
    "reply": ("services", "service"),
    "request": ("services", "service"),
    "execute": ("actions", "action"),
    "call": ("actions", "action"),
}


@dataclass(kw_only=True)
class Profile:
    """What a node may do, by fully qualified names."""

    publish: set[str] = field(default_factory=set)
    """Topics."""
    subscribe: set[str] = field(default_factory=set)
    """Topics."""
    reply: set[str] = field(default_factory=set)
    """Services that it offers."""
    request: set[str] = field(default_factory=set)
    """Services that it asks."""
    execute: set[str] = field(default_factory=set)
    """Actions that it offers."""
    call: set[str] = field(default_factory=set)
    """Actions that it sends goals to."""

    def add(self, other: Profile) -> None:
        """Allow what the other one allows too."""
        for each in fields(Profile):
            getattr(self, each.name).update(getattr(other, each.name))

    @classmethod
    def union(cls, profiles: Iterable[Profile]) -> Profile:
        """What all of them together may do."""
        whole = cls()
        for profile in profiles:
            whole.add(profile)
        return whole


def enclave_path(process: str) -> str:
    """The enclave of a process of the stack."""
    return f"{ENCLAVES}/{process}"


def enclave_arguments(process: str) -> list[str]:
    """ROS arguments by which a process takes part as itself; none while security is off."""
    if os.environ.get("ROS_SECURITY_ENABLE") != "true":
        return []
    return ["--enclave", enclave_path(process)]


def policy_xml(processes: Mapping[str, Mapping[str, Profile]]) -> str:
    """The policy as a document that `ros2 security` reads.

    Args:
        processes: the profiles of each process by fully qualified node name.
    """
    root = ElementTree.Element("policy", version=VERSION)
    enclaves = ElementTree.SubElement(root, "enclaves")
    for process, nodes in sorted(processes.items()):
        enclave = ElementTree.SubElement(enclaves, "enclave", path=enclave_path(process))
        profiles = ElementTree.SubElement(enclave, "profiles")
        for node, profile in sorted(nodes.items()):
            namespace, _, name = node.rpartition("/")
            element = ElementTree.SubElement(profiles, "profile", ns=namespace or "/", node=name)
            for kind, (group, item) in _LISTS.items():
                names = sorted(getattr(profile, kind))
                if names:
                    rules = ElementTree.SubElement(element, group, {kind: "ALLOW"})
                    for each in names:
                        ElementTree.SubElement(rules, item).text = each
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
