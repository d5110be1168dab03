# SPDX-License-Identifier: Apache-2.0
"""Expression trees to Python closures that take a blackboard and return a value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from time import monotonic
from typing import Any

from behavior_tree.blackboard import rules_4_8
from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.blackboard.casts_4_8 import to_double
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.errors import BehaviorTreeError, ConversionError, ScriptError
from behavior_tree.quirks import MENDED, Quirks
from behavior_tree.script.bound_code import Bindable, Fallbacks, bindable_code
from behavior_tree.script.parser import (
    Assign,
    Binary,
    Compare,
    Constant,
    Expr,
    Name,
    Ternary,
    Unary,
    parse,
)
from behavior_tree.script.values import (
    ARITHMETIC,
    COMPARE,
    COMPARE_4_8,
    EXACT,
    TEXT_COMPARE,
    as_bool,
    as_number,
    bit_operand,
    concat,
    is_number,
    joined,
    number_from_text,
)

Closure = Callable[[Blackboard], Any]
TypedClosure = Callable[[Blackboard], tuple[Any, Any]]
CompareTable = dict[str, Callable[[float, float], bool]]


@dataclass(frozen=True)
class _Rules:
    """How values are compared."""

    table: CompareTable
    lenient: bool
    """Texts count as numbers if they begin with one."""


class Script:
    """A compiled script."""

    def __init__(self, source: str, statements: list[Expr], quirks: Quirks) -> None:
        self.source = source
        self._statements = statements
        self._quirks = quirks
        self._general: list[Closure | None] = [None] * len(statements)
        self._bindable: dict[bool, Bindable | None] = {}
        """Code by whether it is a condition."""

    def run(self, blackboard: Blackboard) -> Any:
        """Value of the last statement; raises ScriptError with the script's text in it."""
        value = None
        for statement in self._fallbacks.statements:
            value = statement(blackboard)
        return value

    def test(self, blackboard: Blackboard) -> bool:
        """The same as a condition."""
        return self._truth(self.run(blackboard))

    def bind_run(self, blackboard: Blackboard) -> Callable[[], Any]:
        """`run` on one blackboard, much faster."""
        return self._bound_code(blackboard, as_test=False) or partial(self.run, blackboard)

    def bind_test(self, blackboard: Blackboard) -> Callable[[], bool]:
        """`test` on one blackboard, much faster."""
        return self._bound_code(blackboard, as_test=True) or partial(self.test, blackboard)

    def _bound_code(self, blackboard: Blackboard, *, as_test: bool) -> Callable[[], Any] | None:
        if as_test not in self._bindable:
            self._bindable[as_test] = bindable_code(
                self._statements, as_test=as_test, nan_compares_true=self._quirks.nan_compares_true
            )
        code = self._bindable[as_test]
        return None if code is None else code.bind(blackboard, self._fallbacks)

    @cached_property
    def _fallbacks(self) -> Fallbacks:
        return Fallbacks(
            tuple(partial(self._run_general, index) for index in range(len(self._statements))),
            self.run,
            self._truth,
        )

    def _run_general(self, index: int, blackboard: Blackboard) -> Any:
        """Run one statement by closures, which are made when they are needed first."""
        closure = self._general[index]
        if closure is None:
            closure = _Compiler(self._quirks).expr(self._statements[index])
            self._general[index] = closure
        try:
            return closure(blackboard)
        except BehaviorTreeError as error:
            raise self._with_source(error) from error

    def _truth(self, value: Any) -> bool:
        try:
            if value.__class__ is float and value >= 0.0:
                return bool(value != 0.0)
            return as_bool(value)
        except BehaviorTreeError as error:
            raise self._with_source(error) from error

    def _with_source(self, error: BehaviorTreeError) -> ScriptError:
        return ScriptError(f"Error in script [{self.source[:1000]}]\n{error}")

    def __call__(self, blackboard: Blackboard) -> Any:
        """Same as `run`."""
        return self.run(blackboard)

    def __repr__(self) -> str:
        return f"Script({self.source!r})"


def compile_script(source: str, quirks: Quirks = MENDED) -> Script:
    """Parse and compile a script; raises ScriptError that shows where it is wrong."""
    return (_cached if len(source) <= _LONG else _compile)(source, quirks)


def _compile(source: str, quirks: Quirks) -> Script:
    try:
        statements = parse(source, grammar_4_8=quirks.script_grammar_4_8)
    except ScriptError as error:
        raise ScriptError(_point_at(source, error), position=error.position) from None
    return Script(source, statements, quirks)


_LONG = 2000
"""Longer scripts are rare, and would fill the memory if many were kept [characters]."""
_cached = lru_cache(maxsize=16384)(_compile)


def check_script(source: str, quirks: Quirks = MENDED) -> None:
    """Raise the ScriptError that `compile_script` would, without compiling what is right.

    Scripts that differ in their names, numbers and texts only are right or wrong together, so one
    of each shape is parsed.
    """
    if len(source) > _LONG or quirks.script_grammar_4_8:
        compile_script(source, quirks)
    elif source not in _right:
        shape = _OPERAND.sub("_", source)
        if shape not in _right:
            compile_script(source, quirks)
        if len(_right) >= _MOST_RIGHT:
            _right.clear()
        _right.update((shape, source))


_OPERAND = re.compile(
    r"""(?<!\w)(?:[^\W\d]\w*
        | (?:[0-9]{1,18}|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)(?![\w.]))
      | @\w+
      | '[^']*'
      | "[^"]*"
    """,
    re.VERBOSE,
)
"""What the grammar takes wherever it takes any of them. Other numbers stay as they are: too large
ones, and those that run into what follows."""
_right: set[str] = set()
"""Scripts without mistakes, and their shapes."""
_MOST_RIGHT = 4096


def _point_at(source: str, error: ScriptError) -> str:
    position = error.position or 0
    start = max(source.rfind("\n", 0, position) + 1, position - 60)
    line = source[start : position + 60].split("\n", 1)[0]
    whole = source if len(source) <= 200 else source[:200] + "..."
    marker = " " * (position - start) + "^"
    return f'Error in the script "{whole}"\n{error}\n  {line}\n  {marker}'


class _Compiler:
    def __init__(self, quirks: Quirks) -> None:
        self._quirks = quirks
        self._made: dict[int, Closure] = {}

    def expr(self, node: Expr) -> Closure:
        """Closure of an expression; made once, else the time would double with each level."""
        if id(node) not in self._made:
            self._made[id(node)] = self._expr(node)
        return self._made[id(node)]

    def _expr(self, node: Expr) -> Closure:
        if isinstance(node, Constant):
            value = int(node.value) if isinstance(node.value, bool) else node.value
            return lambda bb: value
        if isinstance(node, Name):
            return _load(node.name)
        if isinstance(node, Unary):
            return self._unary(node)
        if isinstance(node, Binary):
            return self._binary(node)
        if isinstance(node, Compare):
            return self._compare(node)
        if isinstance(node, Ternary):
            return self._ternary(node)
        return self._assign(node)

    def _number(self, node: Expr) -> Closure:
        """Operand of arithmetic or comparison: integer literals are floats from the start."""
        number = _number_constant(node)
        if number is not None:
            return lambda bb: number
        return self.expr(node)

    def _unary(self, node: Unary) -> Closure:
        operand = self.expr(node.operand)
        op = node.op
        nan_has_bits = self._quirks.nan_compares_true

        def run(bb: Blackboard) -> float:
            value = operand(bb)
            if not is_number(value):
                kind = "std::string" if isinstance(value, str) else type(value).__name__
                raise ScriptError(f"Invalid operator for {kind}: '{op}' needs a number")
            number = as_number(value)
            if op == "-":
                return -number
            if op == "~":
                if math.isnan(number) and nan_has_bits:
                    number = -(2.0**63)  # what x86 makes of it
                if not math.isfinite(number):
                    raise ScriptError("Number out of range for bitwise operation")
                return float(~int(number))
            return 0.0 if number else 1.0

        return run

    def _binary(self, node: Binary) -> Closure:
        left, right, op = self.expr(node.left), self.expr(node.right), node.op
        if op in ("&&", "||"):
            return _logic(op, left, right)
        if op in ("&", "|", "^"):
            return _bits(op, left, right)
        if op == "..":
            quirk = self._quirks.number_concat_is_empty

            def join(bb: Blackboard) -> Any:
                a, b = left(bb), right(bb)
                _initialized(op, a, b)
                return concat(a, b, quirk)

            return join
        constant = _number_constant(node.right)
        if isinstance(node.left, Name) and constant is not None:
            return _name_and_number(
                node.left.name, ARITHMETIC[op], constant, _arithmetic(op, left, right)
            )
        return _arithmetic(op, self._number(node.left), self._number(node.right))

    def _compare(self, node: Compare) -> Closure:
        operands = tuple(self._number(operand) for operand in node.operands)
        table = COMPARE_4_8 if self._quirks.nan_compares_true else COMPARE
        rules = _Rules(table, self._quirks.exact_values)
        constant = _number_constant(node.operands[-1])
        if len(operands) == 2:
            left = node.operands[0]
            if isinstance(left, Name) and constant is not None:
                slow = _single_comparison(node.ops[0], operands[0], operands[1], rules)
                return _name_against_number(left.name, table[node.ops[0]], constant, slow)
            return _single_comparison(node.ops[0], operands[0], operands[1], rules)
        tests = tuple(zip(node.ops, operands[1:], strict=True))

        def run(bb: Blackboard) -> float:
            left = operands[0](bb)
            for op, operand in tests:
                right = operand(bb)
                if not _holds(op, left, right, rules, bb):
                    return 0.0
                left = right
            return 1.0

        return run

    def _ternary(self, node: Ternary) -> Closure:
        condition, then, otherwise = map(self.expr, (node.condition, node.then, node.otherwise))
        truth = _truth(self._quirks.exact_values)
        return lambda bb: then(bb) if truth(condition(bb)) else otherwise(bb)

    def _assign(self, node: Assign) -> Closure:
        if not isinstance(node.target, Name):

            def refuse(bb: Blackboard) -> Any:
                raise ScriptError("Assignment left operand not a blackboard entry")

            return refuse
        name, value = node.target.name, self.expr(node.value)
        if node.op in (":=", "="):
            typed = self._typed(node.value) if self._quirks.exact_values else None
            return _plain_assign(name, value, node.op == ":=", typed)
        return _compound_assign(name, value, node.op, self._quirks.exact_values)

    def _typed(self, node: Expr) -> TypedClosure:
        """The value and its origin; see `rules_4_8`."""
        value = self.expr(node)
        if isinstance(node, Ternary):
            condition, truth = self.expr(node.condition), _truth(True)
            then, otherwise = self._typed(node.then), self._typed(node.otherwise)
            return lambda bb: then(bb) if truth(condition(bb)) else otherwise(bb)
        source = node.target if isinstance(node, Assign) else node
        if isinstance(source, Name):
            return _value_and_origin(source.name, value)
        literal = isinstance(node, Constant) and type(node.value) is int
        origin = rules_4_8.Int64 if literal else None
        return lambda bb: (value(bb), origin)


def _truth(exact: bool) -> Callable[[Any], bool]:
    """Condition of ``?:``."""

    def truth(value: Any) -> bool:
        if value is None:
            raise ScriptError("the condition of '?:' is not initialized")
        if exact:
            return to_double(value) != 0
        return value != "" if isinstance(value, str) else as_number(value) != 0

    return truth


def _value_and_origin(name: str, value: Closure) -> TypedClosure:
    def run(bb: Blackboard) -> tuple[Any, Any]:
        result = value(bb)
        entry = None if name in bb.types.enums else bb.entry(name)
        return result, None if entry is None else rules_4_8.origin_of(entry)

    return run


def _number_constant(node: Expr) -> float | None:
    """Value of a literal number that is exact as a float."""
    if isinstance(node, Unary) and node.op == "-":
        number = _number_constant(node.operand)
        return None if number is None else -number
    if isinstance(node, Constant) and not isinstance(node.value, str) and node.value < EXACT:
        return float(node.value)
    return None


def _name_and_number(
    name: str, function: Callable[[float, float], float], number: float, slow: Closure
) -> Closure:
    """``name OP number`` for a local number, the most frequent expression; anything else goes the
    slow way.
    """

    def run(bb: Blackboard) -> Any:
        entry = bb._entries.get(name)
        if entry is not None and not bb._types.enums:
            value = entry.value
            kind = value.__class__
            if kind is float or (kind is int and -EXACT < value < EXACT):
                return function(value, number)
        return slow(bb)

    return run


def _name_against_number(
    name: str, holds: Callable[[float, float], bool], number: float, slow: Closure
) -> Closure:
    """``name < number`` and the like, as `_name_and_number`."""

    def run(bb: Blackboard) -> Any:
        entry = bb._entries.get(name)
        if entry is not None and not bb._types.enums:
            value = entry.value
            kind = value.__class__
            if kind is float or (kind is int and -EXACT < value < EXACT):
                return 1.0 if holds(value, number) else 0.0
        return slow(bb)

    return run


def _load(name: str) -> Closure:
    def run(bb: Blackboard) -> Any:
        entry = bb._entries.get(name)
        enums = bb._types.enums
        if enums and name in enums:
            return float(enums[name])
        if entry is None:
            entry = bb.entry(name)
        if entry is None:
            raise ScriptError(f"Variable not found: {name}")
        return entry.value

    return run


def _initialized(op: str, left: Any, right: Any) -> None:
    for side, value in (("left", left), ("right", right)):
        if value is None:
            raise ScriptError(f"The {side} operand of the operator [{op}] is not initialized")


def _arithmetic(op: str, left: Closure, right: Closure) -> Closure:
    function = ARITHMETIC[op]

    def run(bb: Blackboard) -> Any:
        a, b = left(bb), right(bb)
        if b.__class__ is float:
            kind = a.__class__
            if kind is float or (kind is int and -EXACT < a < EXACT):
                return function(a, b)
        if isinstance(a, str) and isinstance(b, str) and op == "+":
            return joined(a, b)
        _initialized(op, a, b)
        return function(as_number(a), as_number(b))

    return run


def _logic(op: str, left: Closure, right: Closure) -> Closure:
    both = op == "&&"

    def operand(value: Any) -> bool:
        try:
            return as_bool(value)
        except ScriptError as error:
            raise ScriptError(
                "Logic operators are not allowed if one of the operands is not castable to bool: "
                + str(error)
            ) from None

    def run(bb: Blackboard) -> float:
        a, b = left(bb), right(bb)
        if a.__class__ is float and b.__class__ is float and a >= 0.0 and b >= 0.0:
            return 1.0 if (a and b if both else a or b) else 0.0
        _initialized(op, a, b)
        x, y = operand(a), operand(b)
        return float(x and y) if both else float(x or y)

    return run


def _bits(op: str, left: Closure, right: Closure) -> Closure:
    def run(bb: Blackboard) -> float:
        a, b = left(bb), right(bb)
        _initialized(op, a, b)
        x, y = bit_operand(a), bit_operand(b)
        return float(x & y if op == "&" else x | y if op == "|" else x ^ y)

    return run


def _single_comparison(op: str, left: Closure, right: Closure, rules: _Rules) -> Closure:
    function = rules.table[op]

    def run(bb: Blackboard) -> float:
        a, b = left(bb), right(bb)
        if b.__class__ is float:
            kind = a.__class__
            if kind is float or (kind is int and -EXACT < a < EXACT):
                return 1.0 if function(a, b) else 0.0
        return 1.0 if _holds(op, a, b, rules, bb) else 0.0

    return run


def _holds(op: str, left: Any, right: Any, rules: _Rules, bb: Blackboard) -> bool:
    _initialized(op, left, right)
    left_text, right_text = isinstance(left, str), isinstance(right, str)
    if left_text and right_text:
        return TEXT_COMPARE[op](left, right)
    if left_text and is_number(right):
        left = number_from_text(left, bb.types.enums, rules.lenient)
    elif right_text and is_number(left):
        right = number_from_text(right, bb.types.enums, rules.lenient)
    elif not (is_number(left) and is_number(right)):
        kinds = f"[{type(left).__name__}] and [{type(right).__name__}]"
        raise ScriptError(f"Can't mix different types in Comparison '{op}': {kinds}")
    return rules.table[op](as_number(left), as_number(right))


def _plain_assign(name: str, value: Closure, create: bool, typed: TypedClosure | None) -> Closure:
    def run(bb: Blackboard) -> Any:
        entry = bb._entries.get(name) or bb.entry(name)
        if entry is None:
            if not create:
                raise _no_entry(name)
            bb.create_entry(name)
            entry = bb.entry(name)
            if entry is None:
                raise ScriptError(f"entry [{name}] was made where it cannot be found again")
        origin = None
        if typed is not None and entry.value is None:
            new, origin = typed(bb)
        else:
            new = value(bb)
        if new.__class__ is entry.value.__class__ and new is not None:
            entry.value = new
            entry.seq += 1
            entry.stamp = monotonic()
            return new
        if new is None:
            raise ScriptError(
                f"The right operand of the operator [{':=' if create else '='}] is not initialized"
            )
        if typed is not None:
            _store_as_4_8(name, entry, new, origin, bb)
        else:
            _store(name, entry, new, bb)
        return entry.value

    return run


def _compound_assign(name: str, value: Closure, op: str, exact: bool) -> Closure:
    function = ARITHMETIC[op[0]]

    def run(bb: Blackboard) -> Any:
        entry = bb._entries.get(name) or bb.entry(name)
        if entry is None:
            raise _no_entry(name)
        new = value(bb)
        old = entry.value
        _initialized(op, old, new)
        if is_number(old) and is_number(new):
            result: Any = function(as_number(old), as_number(new))
        elif op == "+=" and isinstance(old, str) and isinstance(new, str):
            result = joined(old, new)
        elif exact and not (is_number(new) or isinstance(new, str)):
            result = old
        else:
            raise ScriptError(
                f"Operation not permitted: '{op}' on entry [{name}] of {_kinds(old, new)}"
            )
        if exact:
            rules_4_8.copy_into(entry, result)
        else:
            _store(name, entry, result, bb)
        return entry.value

    return run


def _store_as_4_8(name: str, entry: Entry, new: Any, origin: Any, bb: Blackboard) -> None:
    if rules_4_8.is_bare(entry):
        entry.store(new, origin)
    elif isinstance(new, str) and not isinstance(entry.value, str):
        parsed = rules_4_8.parse_for(bb, entry, new)
        if parsed is None and is_number(entry.value):
            parsed = number_from_text(new, bb.types.enums, True)
        if parsed is None:
            raise _cannot_assign(name, entry.type, new)
        entry.store(parsed, None if entry.type is Any else entry.type)
    else:
        try:
            rules_4_8.copy_into(entry, new, origin)
        except BehaviorTreeError as error:
            raise ScriptError(f"{_cannot_assign(name, entry.type, new)}: {error}") from error


def _store(name: str, entry: Entry, new: Any, bb: Blackboard) -> None:
    """Write under the rules of script assignment: the entry keeps its type."""
    old = entry.value
    if old is None and (entry.type is Any or entry.type is str):
        entry.type = type(new)  # an input of texts, which made the entry, can read any value
        entry.store(new)
        return
    kind = entry.type if old is None else type(old)
    if new.__class__ is kind:
        entry.store(new)
        return
    if kind is int and new.__class__ is float and new.is_integer() and -EXACT < new < EXACT:
        entry.store(int(new))
        return
    if isinstance(new, str) and kind is not str:
        entry.store(_from_text(new, entry, kind, bb))
        return
    if kind is str or not (
        is_number(new) or isinstance(new, entry.type if isinstance(entry.type, type) else kind)
    ):
        raise _cannot_assign(name, kind, new)
    try:
        entry.store(bb.types.cast(new, kind))
    except ConversionError as error:
        raise ScriptError(f"{_cannot_assign(name, kind, new)}: {error}") from error


def _from_text(new: str, entry: Entry, kind: Any, bb: Blackboard) -> Any:
    target = kind if entry.type is Any else entry.type
    if target not in (int, float):
        return bb.types.from_text(new, target)
    return bb.types.cast(number_from_text(new, bb.types.enums, False), target)


def _no_entry(name: str) -> ScriptError:
    return ScriptError(
        f"The blackboard entry [{name}] doesn't exist, yet.\n"
        "If you want to create a new one, use the operator [:=] instead of [=]"
    )


def _cannot_assign(name: str, kind: Any, new: Any) -> ScriptError:
    return ScriptError(
        f"Error assigning a value to entry [{name}] with type [{type_name(kind)}]. "
        f"The right operand has type [{type_name(type(new))}] and can't be converted to it"
    )


def _kinds(left: Any, right: Any) -> str:
    return f"types [{type(left).__name__}] and [{type(right).__name__}]"
