# SPDX-License-Identifier: Apache-2.0
"""Specialised ticks that tell every change of status, derived from those that tell nobody.

A specialised tick stores statuses and nothing else, so its text says all that there is to tell:
`told` compiles it once more, with each ``node.status = status`` replaced by::

    was = node.status
    if was is not status:
        node.status = status
        node._watch((now(), node, was, status))

The functions that it calls for that are replaced likewise. So there is one text of each tick, and a
tree under a `Journal` keeps most of the speed of one that nobody watches. Compiled when the first
watcher comes, once per kind of tick.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable
from functools import cache
from time import monotonic_ns
from types import FunctionType
from typing import Any

from behavior_tree.generated import is_generated, source_of

__all__ = ["told"]

_PACKAGES = ("behavior_tree.specialised.", "behavior_tree.fast_tick")
_REPORT = """
_was = {node}.status
if _was is not {new}:
    {node}.status = {new}
    {node}._watch((_now(), {node}, _was, {new}))
"""


@cache
def told(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, telling; OSError if its text is not on this machine."""
    assert isinstance(function, FunctionType)
    tree = ast.parse(source_of(function))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    ast.fix_missing_locations(_Teller().visit(tree))
    names = {**function.__globals__, "_now": monotonic_ns, "finish_tick": _finish_tick}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and _tells_nobody(names.get(each.id)):
            names[each.id] = told(names[each.id])
    flags = __future__.annotations.compiler_flag
    exec(compile(tree, function.__code__.co_filename, "exec", flags, dont_inherit=True), names)
    telling: Callable[..., Any] = names[definition.name]
    return telling


def _tells_nobody(value: Any) -> bool:
    if not isinstance(value, FunctionType) or value is _finish_tick:
        return False
    return is_generated(value) or value.__module__.startswith(_PACKAGES)


def _finish_tick(node: Any, *arguments: Any) -> Any:
    from behavior_tree.node import TreeNode  # which imports this

    return told(TreeNode.finish_tick)(node, *arguments)


class _Teller(ast.NodeTransformer):
    """Replaces stores of statuses, and the calls of `TreeNode.finish_tick`."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        stored = [each for each in node.targets if _is_status(each)]
        if not stored:
            return node
        if len(node.targets) > 1:
            raise SyntaxError(f"line {node.lineno}: a status is stored along with something else")
        (target,) = stored
        assert isinstance(target, ast.Attribute)
        parts = {"node": target.value, "new": node.value}
        names = {part: value.id for part, value in parts.items() if isinstance(value, ast.Name)}
        code: list[ast.stmt] = [
            ast.Assign([ast.Name(f"_{part}", ast.Store())], value)
            for part, value in parts.items()
            if part not in names
        ]
        code += ast.parse(_REPORT.format(**{"node": "_node", "new": "_new", **names})).body
        return [ast.copy_location(each, node) for each in code]

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "finish_tick":
            called = ast.copy_location(ast.Name("finish_tick", ast.Load()), function)
            return ast.copy_location(ast.Call(called, [function.value, *node.args], []), node)
        return node


def _is_status(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == "status"
