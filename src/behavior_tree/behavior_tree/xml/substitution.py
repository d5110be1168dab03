# SPDX-License-Identifier: Apache-2.0
"""Rules that put other nodes, or test nodes, in the place of some nodes when a tree is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.nodes.actions.test_node import TestNodeConfig

NodeOrNone = Callable[[str, NodeConfig], TreeNode | None]
"""Makes a node from its name and configuration; None: it stays what it is."""
SubstitutionRule = str | TestNodeConfig | NodeOrNone
"""ID of the node type to use instead, or what a test node shall do, or what makes the node."""


def matching_rule(
    rules: Mapping[str, SubstitutionRule], registration_id: str, name: str, path: str
) -> SubstitutionRule | None:
    """First rule, in order of insertion, whose filter is the node's name, its type, or a wildcard
    pattern (``*``, ``?``) of its full path.
    """
    for pattern, rule in rules.items():
        if pattern in (name, registration_id) or fnmatchcase(path, pattern.replace("[", "[[]")):
            return rule
    return None


def rules_from_json(text: str) -> dict[str, SubstitutionRule]:
    """Rules of a JSON document with ``SubstitutionRules`` and optional ``TestNodeConfigs``.

    Raises:
        BehaviorTreeError: not JSON, or a field is missing or wrong
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BehaviorTreeError(f"substitution rules: not JSON: {error}") from error
    described = _objects(_object(document, "the document"), "TestNodeConfigs", {})
    configs = {
        name: _test_config(name, _object(fields, f"test node [{name}]"))
        for name, fields in described.items()
    }
    rules = _objects(document, "SubstitutionRules", None)
    for pattern, target in rules.items():
        if not isinstance(target, str):
            raise BehaviorTreeError(
                f"substitution rules: the rule [{pattern}] is {target!r}: give the name of a test "
                f"node config, or the ID of a node type"
            )
    return {pattern: configs.get(target, target) for pattern, target in rules.items()}


def _objects(document: dict[str, Any], key: str, default: dict[str, Any] | None) -> dict[str, Any]:
    found = document.get(key, default)
    if found is None:
        raise BehaviorTreeError(f"substitution rules: the key [{key}] is missing")
    return _object(found, f"[{key}]")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BehaviorTreeError(f"substitution rules: {what} is no JSON object")
    return value


_SCRIPTS = ("return_status_script", "success_script", "failure_script", "post_script")
_TEXTS = (*_SCRIPTS, "reason", "exception")
_KEYS = {"return_status", "async_delay", "outputs", *_TEXTS}


def _test_config(name: str, fields: dict[str, Any]) -> TestNodeConfig:
    unknown = set(fields) - _KEYS
    if unknown:
        raise BehaviorTreeError(
            f"test node [{name}]: unknown key {sorted(unknown)}; known: {sorted(_KEYS)}"
        )
    if not {"return_status", "return_status_script", "exception"} & set(fields):
        raise BehaviorTreeError(
            f"test node [{name}]: give [return_status], [return_status_script] or [exception]"
        )
    texts = {key: fields[key] for key in _TEXTS if key in fields}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise BehaviorTreeError(f"test node [{name}]: [{key}] is {text!r}, not a text")
    outputs = _object(fields.get("outputs", {}), f"[outputs] of test node [{name}]")
    status = fields.get("return_status", "SUCCESS")
    if not isinstance(status, str) or status not in NodeStatus.__members__ or status == "IDLE":
        raise BehaviorTreeError(
            f"test node [{name}]: [return_status] is {status!r}: write RUNNING, SUCCESS, FAILURE "
            f"or SKIPPED"
        )
    delay = fields.get("async_delay", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        raise BehaviorTreeError(
            f"test node [{name}]: [async_delay] is {delay!r}: give a number of milliseconds"
        )
    return TestNodeConfig(NodeStatus[status], delay / 1000, outputs=outputs, **texts)
