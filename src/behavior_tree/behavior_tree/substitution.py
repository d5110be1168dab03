# SPDX-License-Identifier: Apache-2.0
"""Rules that put other nodes, or test nodes, in the place of some nodes when a tree is built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from behavior_tree.actions.test_node import TestNodeConfig
from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError

__all__ = ["SubstitutionRule", "matching_rule", "rules_from_json"]

SubstitutionRule = str | TestNodeConfig
"""ID of the node type to use instead, or what a test node shall do."""


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
        configs = {
            name: _test_config(name, fields)
            for name, fields in document.get("TestNodeConfigs", {}).items()
        }
        rules = document["SubstitutionRules"]
    except (ValueError, AttributeError) as error:
        raise BehaviorTreeError(f"substitution rules: not a JSON object: {error}") from error
    except KeyError:
        raise BehaviorTreeError(
            "substitution rules: the key [SubstitutionRules] is missing"
        ) from None
    return {pattern: configs.get(target, target) for pattern, target in rules.items()}


_KEYS = {
    *("return_status", "return_status_script", "async_delay"),
    *("success_script", "failure_script", "post_script"),
}


def _test_config(name: str, fields: dict[str, Any]) -> TestNodeConfig:
    unknown = set(fields) - _KEYS
    if unknown:
        raise BehaviorTreeError(
            f"test node [{name}]: unknown key {sorted(unknown)}; known: {sorted(_KEYS)}"
        )
    if "return_status" not in fields and "return_status_script" not in fields:
        raise BehaviorTreeError(
            f"test node [{name}]: give [return_status] or [return_status_script]"
        )
    values = dict(fields)
    try:
        values["return_status"] = NodeStatus[values.get("return_status", "SUCCESS")]
    except KeyError:
        raise BehaviorTreeError(
            f"test node [{name}]: return_status {fields['return_status']!r} is no upper-case "
            f"status name"
        ) from None
    values["async_delay"] = float(values.get("async_delay", 0)) / 1000
    return TestNodeConfig(**values)
