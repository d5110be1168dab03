# SPDX-License-Identifier: Apache-2.0
"""A factory that can build a file without its programs: placeholders from ``<TreeNodesModel>``."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.decider import register_decider_nodes
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.placeholders import register_models
from behavior_tree.xml.loader import Loader

Extend = Callable[[BehaviorTreeFactory], object]
"""Registers node types with a factory."""


def make_factory(
    files: Iterable[Path],
    register: Iterable[str] = (),
    rules: Path | None = None,
    extend: Extend | None = None,
    compat: str | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> BehaviorTreeFactory:
    """Factory with the user's node types, and placeholders for the others that files describe.

    Args:
        files: documents that, with what they include, describe node types in their
            ``<TreeNodesModel>``; a placeholder succeeds at once, unless a rule says otherwise
        register: ``module:function`` each, called with the factory
        rules: JSON file of substitution rules
        extend: registers further node types, before the files' descriptions count
        compat: as for `BehaviorTreeFactory`
        clock: likewise [s]

    Raises:
        BehaviorTreeError: a function or the rules cannot be loaded
    """
    factory = BehaviorTreeFactory(clock, compat)
    register_decider_nodes(factory)
    register_authoring_nodes(factory)
    for name in register:
        _call(name, factory)
    if extend is not None:
        extend(factory)
    for file in files:  # what cannot be read is reported elsewhere
        register_models(factory, Loader(lambda: "main_tree").load_file(file).node_models.values())
    if rules is not None:
        try:
            factory.load_substitution_rules_from_json(rules.read_text(encoding="utf-8"))
        except OSError as error:
            raise BehaviorTreeError(f"cannot read {rules}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BehaviorTreeError(f"{rules} is not UTF-8: {error}") from error
    return factory


def _call(name: str, factory: BehaviorTreeFactory) -> None:
    module, _, function = name.partition(":")
    try:
        call = getattr(importlib.import_module(module), function)
        call(factory)
    except Exception as error:  # whatever somebody else's function raises
        raise BehaviorTreeError(
            f'--register {name}: {type(error).__name__}: {error} (write "module:function" of a '
            f"function that takes the factory and registers node types)"
        ) from error
