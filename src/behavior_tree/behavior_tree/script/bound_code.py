# SPDX-License-Identifier: Apache-2.0
"""Expression trees to Python code, bound to a blackboard, for the values that scripts mostly see.

The closures of `compiler` know all rules; they also cost a call per operator. Most statements only
move reals, integers and texts between entries that exist, so for each statement this module writes
code that assumes so and checks it: the moment a check fails, before anything has been written, it
calls the closures of the statement instead. Hence no rule of the language is decided here, only
recognised. ``x := x + 1`` becomes::

    def run(s):
        bb = s.bb
        if bb._types.generation is not s.seen:
            ... find the entries, or leave it all to the closures
        e0 = s.e0
        t0 = e0.value
        if t0.__class__ is not float and (t0.__class__ is not int or t0 >= E or t0 <= -E):
            return s.general.statements[0](bb)
        t1 = t0 + s.k1
        ...

``s`` belongs to one script and one blackboard, and keeps the entries that the names mean there. It
is one small object: a closure would be a dozen, all over the memory. What a name means changes with
a removed entry, a new remapping or a new enumerator: all of them change the ``generation`` that the
code looks at first.

The code consists of the names below and numbered ones; names and literals of the script are kept in
``s`` (``k0``, ``k1``, ...), so no text of a user gets into it. It depends on the shape of the
script only, and is written once for all scripts of that shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import MethodType
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.script.parser import (
    Assign,
    Binary,
    Compare,
    Constant,
    Expr,
    Name,
    Ternary,
    Unary,
)
from behavior_tree.script.values import ARITHMETIC, EPSILON, EXACT

_MOST_NODES = 100
"""Larger statements stay closures."""
_DEEPEST = 20
"""So do deeper ones: Python limits the nesting of its own code."""

_GIVEN = {
    "E": EXACT,
    "EPSILON": EPSILON,
    "divide": ARITHMETIC["/"],
    "monotonic": monotonic,
}


@dataclass(frozen=True)
class Fallbacks:
    """What a script does in general."""

    statements: tuple[Callable[[Blackboard], Any], ...]
    """Each statement alone; raises ScriptError with the text of the script in it."""
    whole: Callable[[Blackboard], Any]
    """All statements."""
    truth: Callable[[Any], bool]
    """Truth of the last statement's value; raises likewise."""


@dataclass(frozen=True)
class Bindable:
    """Code of one script, for any blackboard."""

    plan: _Plan
    constants: tuple[Any, ...]

    def bind(self, board: Blackboard, fallbacks: Fallbacks) -> Callable[[], Any]:
        """Function that runs the script.

        Args:
            board: where it runs
            fallbacks: for all that the code does not expect
        """
        bound = self.plan.state()
        bound.bb, bound.general, bound.seen = board, fallbacks, None
        for name, constant in zip(self.plan.names, self.constants, strict=True):
            setattr(bound, name, constant)
        return MethodType(self.plan.run, bound)


def bindable_code(
    statements: list[Expr], *, as_test: bool, nan_compares_true: bool
) -> Bindable | None:
    """Code that does what the statements do; None if it would not be faster.

    Args:
        statements: of one script
        as_test: give the truth of the last value instead of the value
        nan_compares_true: quirk of the same name
    """
    shape = _Shape()
    key = f"{as_test} {nan_compares_true} {';'.join([shape.of(each) for each in statements])}"
    if len(key) > _LONGEST_SHAPE:
        return None
    if key not in _plans:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        _plans[key] = _plan(statements, shape, as_test, nan_compares_true)
    plan = _plans[key]
    if plan is None:
        return None
    return Bindable(plan, tuple(shape.constant(*slot) for slot in plan.slots))


@dataclass(frozen=True)
class _Plan:
    """Code of all scripts of one shape."""

    run: Callable[[Any], Any]
    state: Callable[[], Any]
    """Makes the argument of ``run``, empty."""
    slots: tuple[Slot, ...]
    """What the constants are; see `_Shape.constant`."""
    names: tuple[str, ...]
    """Attributes of the argument that hold them."""


Slot = tuple[str, int]

_plans: dict[str, _Plan | None] = {}
_MOST_PLANS = 1000
_LONGEST_SHAPE = 4000
"""Longer scripts stay closures, so that the plans cannot fill the memory [characters]."""


class _Shape:
    """Names and literals of a script, apart from what is done with them."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.order: list[str] = []
        self.literals: list[int | float | str] = []
        self.positions: dict[int, int] = {}
        """Of literals, by the identity of their nodes."""

    def of(self, node: Expr) -> str:
        """Text that is the same for statements that get the same code."""
        if isinstance(node, Name):
            if node.name not in self.names:
                self.names[node.name] = len(self.order)
                self.order.append(node.name)
            return f"n{self.names[node.name]}"
        if isinstance(node, Constant):
            self.positions[id(node)] = len(self.literals)
            self.literals.append(node.value)
            return _sort(node)
        operator = getattr(node, "op", None) or " ".join(getattr(node, "ops", "?"))
        return f"({operator} {' '.join([self.of(each) for each in _parts(node)])})"

    def constant(self, kind: str, index: int) -> Any:
        """Value of ``k...``: a name, or a literal as it is, as a real, or as a negative real."""
        if kind == "name":
            return self.order[index]
        value = self.literals[index]
        if kind == "real":
            return float(value)
        if kind == "negative":
            return -float(value)
        return int(value) if isinstance(value, bool) else value


def _sort(node: Constant) -> str:
    """What the code for a literal depends on."""
    value = node.value
    if isinstance(value, str):
        return "s"
    if value >= EXACT:
        return "g"
    return ("r" if isinstance(value, float) else "i") + ("t" if value in (0, 1) else "")


def _parts(node: Expr) -> tuple[Expr, ...]:
    return (node.target, node.value) if isinstance(node, Assign) else _operands(node)


def _plan(
    statements: list[Expr], shape: _Shape, as_test: bool, nan_compares_true: bool
) -> _Plan | None:
    code, writer, gains = _Code(shape), _Writer(nan_compares_true), False
    for index, statement in enumerate(statements):
        last = index == len(statements) - 1
        code.begin(f"s.general.statements[{index}]", last=last, as_test=as_test)
        written = len(code.lines)
        try:
            _check_size(statement)
            writer.statement(code, statement)
            gains = True
        except _NeedsClosures:
            del code.lines[written:]
            code.give_up()
    if not gains:
        return None
    lines = ["def run(s):", *code.opening(as_test), *code.lines]
    names: dict[str, Any] = dict(_GIVEN)
    exec(compile("\n".join(lines), "<script>", "exec"), names)
    constants = tuple(f"k{index}" for index in range(len(code.slots)))
    kept = ("bb", "general", "seen", *code.entries(), *constants)
    state = type("_Bound", (), {"__slots__": kept})
    return _Plan(names["run"], state, tuple(code.slots), constants)


class _NeedsClosures(Exception):
    """The statement holds something that only the closures do."""


@dataclass(frozen=True)
class _Value:
    """Code of a value that has no effect and cannot fail."""

    code: str
    kind: str
    """``real``, ``number`` (real or a small integer), ``any``; of conditions ``bool`` (a Python
    bool), ``truth`` (anything, but only its truth counts)."""
    simple: bool = False
    """A name, so it may be repeated."""


class _Code:
    """Lines written so far."""

    def __init__(self, shape: _Shape) -> None:
        self.lines: list[str] = []
        self.slots: dict[Slot, str] = {}
        self._shape = shape
        self._entries: dict[str, str] = {}
        self._read: set[str] = set()
        self._values: dict[str, str] = {}
        self._checked: set[str] = set()
        self._temporaries = 0
        self._indent = _INDENT
        self._slow = ""
        self._last = self._as_test = False

    def begin(self, slow: str, *, last: bool, as_test: bool) -> None:
        """Begin a statement."""
        self._values.clear()
        self._checked.clear()
        self._last, self._as_test = last, as_test
        self._indent = _INDENT
        if last:
            self._slow = f"return s.general.truth({slow}(bb))" if as_test else f"return {slow}(bb)"
        else:
            self.line("while True:")
            self._indent += "    "
            self._slow = f"{slow}(bb); break"

    def line(self, text: str) -> None:
        self.lines.append(self._indent + text)

    def give_up(self) -> None:
        """Leave the statement to the closures."""
        self.line(self._slow)

    def give_up_if(self, condition: str) -> None:
        self.line(f"if {condition}: {self._slow}")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines below a head; what is read in them is not known behind them."""
        known = dict(self._values), set(self._checked)
        self.line(head)
        self._indent += "    "
        outer = self._indent[:-4]
        try:
            yield
        finally:  # a statement that turns out to need closures goes on outside
            self._indent = outer
            self._values, self._checked = known

    def name(self, name: str) -> str:
        """Variable with a name of the script."""
        return self._slot("name", self._shape.names[name])

    def literal(self, node: Constant, kind: str) -> str:
        """Variable with a literal; kinds as in `_Shape.constant`."""
        return self._slot(kind, self._shape.positions[id(node)])

    def _slot(self, kind: str, index: int) -> str:
        return self.slots.setdefault((kind, index), f"s.k{len(self.slots)}")

    def temporary(self, code: str) -> str:
        name = f"t{self._temporaries}"
        self._temporaries += 1
        self.line(f"{name} = {code}")
        return name

    def entry(self, name: str) -> str:
        """Variable with the entry of a name."""
        return self._entries.setdefault(name, f"e{len(self._entries)}")

    def value(self, name: str) -> str:
        """Variable with what a name stands for."""
        self._read.add(name)
        if name not in self._values:
            self._values[name] = self.temporary(f"{self.entry(name)}.value")
        return self._values[name]

    def entries(self) -> list[str]:
        """Variables that keep entries."""
        return list(self._entries.values())

    def opening(self, as_test: bool) -> list[str]:
        """Lines before the first statement: find the entries if their names may mean others."""
        self.lines, body = [], self.lines
        self._indent = _INDENT
        whole = "s.general.truth(s.general.whole(bb))" if as_test else "s.general.whole(bb)"
        self.line("bb = s.bb")
        with self.block("if bb._types.generation is not s.seen:"):
            for name, variable in self._entries.items():
                self.line(f"s.{variable} = {variable} = bb.entry({self.name(name)})")
            missing = [f"{variable} is None" for variable in self._entries.values()]
            missing += [f"{self.name(name)} in bb._types.enums" for name in sorted(self._read)]
            if missing:
                self.line(f"if {' or '.join(missing)}: return {whole}")
            self.line("s.seen = bb._types.generation")
        for variable in self._entries.values():
            self.line(f"{variable} = s.{variable}")
        self.lines, opening = body, self.lines
        return opening

    def number(self, name: str) -> str:
        """`value`, checked to be a real or a small integer."""
        value = self.value(name)
        if value not in self._checked:
            self._checked.add(value)
            self.give_up_if(_NO_NUMBER.format(value))
        return value

    def finish(self, result: _Value) -> None:
        """The statement's value is known."""
        if not self._last:
            self.line("break")
        elif self._as_test:
            self.line(f"return {_as_test(result)}")
        else:
            self.line(f"return {_as_value(result)}")


_INDENT = "    "
_NO_NUMBER = "{0}.__class__ is not float and ({0}.__class__ is not int or {0} >= E or {0} <= -E)"


def _check_size(statement: Expr) -> None:
    if _size(statement) > _MOST_NODES:
        raise _NeedsClosures


def _size(node: Expr, depth: int = 0) -> int:
    if depth > _DEEPEST:
        raise _NeedsClosures
    return 1 + sum(_size(each, depth + 1) for each in _operands(node))


def _operands(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Compare):
        return node.operands
    if isinstance(node, Ternary):
        return (node.condition, node.then, node.otherwise)
    return (node.value,) if isinstance(node, Assign) else ()


class _Writer:
    def __init__(self, nan_compares_true: bool) -> None:
        self._nan_compares_true = nan_compares_true

    def statement(self, code: _Code, node: Expr) -> None:
        code.finish(self._assign(code, node) if isinstance(node, Assign) else self._any(code, node))

    # -- assignments ------------------------------------------------------------------------------

    def _assign(self, code: _Code, node: Assign) -> _Value:
        if not isinstance(node.target, Name):
            raise _NeedsClosures
        entry = code.entry(node.target.name)
        if node.op in (":=", "="):
            number = isinstance(node.value, Constant) and not isinstance(node.value.value, str)
            new = (self._number if number else self._any)(code, node.value)
            if new.kind == "any":
                return self._copy(code, entry, new)
            return self._store(code, entry, f"{entry}.value", self._real(new))
        old = code.temporary(f"{entry}.value")
        code.give_up_if(_NO_NUMBER.format(old))
        operand = self._number(code, node.value)
        result = self._arithmetic(code, node.op[0], _Value(old, "number", True), operand)
        return self._store(code, entry, old, result)

    def _copy(self, code: _Code, entry: str, new: _Value) -> _Value:
        code.give_up_if(f"{new.code}.__class__ is not {entry}.value.__class__")
        code.give_up_if(f"{new.code} is None")
        code.line(f"{entry}.value = {new.code}")
        self._stamp(code, entry)
        return new

    def _store(self, code: _Code, entry: str, old: str, new: _Value) -> _Value:
        """Write a real into an entry that holds a real, or an integer without losing anything."""
        real = new.code if new.simple else code.temporary(new.code)
        with code.block(f"if {old}.__class__ is float:"):
            code.line(f"{entry}.value = {real}")
        with code.block(
            f"elif {old}.__class__ is int and {real}.is_integer() and -E < {real} < E:"
        ):
            code.line(f"{entry}.value = int({real})")
        with code.block("else:"):
            code.give_up()
        self._stamp(code, entry)
        return _Value(f"{entry}.value", "any")

    def _stamp(self, code: _Code, entry: str) -> None:
        code.line(f"{entry}.seq += 1")
        code.line(f"{entry}.stamp = monotonic()")

    # -- values -----------------------------------------------------------------------------------

    def _any(self, code: _Code, node: Expr) -> _Value:
        """A value as it is."""
        if isinstance(node, Name):
            return _Value(code.value(node.name), "any", True)
        if isinstance(node, Constant):
            kind = "real" if isinstance(node.value, float) else "any"
            return _Value(code.literal(node, "literal"), kind, True)
        if isinstance(node, Ternary):
            return self._ternary(code, node, lambda each: _as_value(self._any(code, each)), "any")
        return self._number(code, node)

    def _number(self, code: _Code, node: Expr) -> _Value:
        """A value as operand of arithmetic or a comparison."""
        if isinstance(node, Name):
            return _Value(code.number(node.name), "number", True)
        if isinstance(node, Constant):
            if isinstance(node.value, str) or node.value >= EXACT:
                raise _NeedsClosures
            return _Value(code.literal(node, "real"), "real", True)
        if isinstance(node, Unary):
            return self._unary(code, node)
        if isinstance(node, Binary):
            return self._binary(code, node)
        if isinstance(node, Compare):
            return self._compare(code, node)
        if isinstance(node, Ternary):
            return self._ternary(
                code, node, lambda each: self._real(self._number(code, each)).code, "real"
            )
        raise _NeedsClosures

    def _unary(self, code: _Code, node: Unary) -> _Value:
        operand = self._number(code, node.operand)
        if node.op == "-" and isinstance(node.operand, Constant):
            return _Value(code.literal(node.operand, "negative"), "real", True)
        if node.op == "-":
            return _Value(f"(-{self._real(operand).code})", "real")
        if node.op == "!":
            return _Value(f"(not {operand.code})", "truth")
        raise _NeedsClosures

    def _binary(self, code: _Code, node: Binary) -> _Value:
        if node.op in ("&&", "||"):
            left, right = self._truth(code, node.left), self._truth(code, node.right)
            return _Value(f"({left} {'and' if node.op == '&&' else 'or'} {right})", "truth")
        if node.op not in ARITHMETIC:
            raise _NeedsClosures
        left_value = self._number(code, node.left)
        return self._arithmetic(code, node.op, left_value, self._number(code, node.right))

    def _arithmetic(self, code: _Code, op: str, left: _Value, right: _Value) -> _Value:
        if "real" not in (left.kind, right.kind) or left.kind == "truth":
            left = self._real(left)
        if right.kind == "truth":
            right = self._real(right)
        if op != "/":
            return _Value(f"({left.code} {op} {right.code})", "real")
        a, b = self._simple(code, left), self._simple(code, right)
        return _Value(f"({a} / {b} if {b} else divide({a}, {b}))", "real")

    def _compare(self, code: _Code, node: Compare) -> _Value:
        texts = [
            isinstance(each, Constant) and isinstance(each.value, str) for each in node.operands
        ]
        if any(texts):
            operands = [self._text(code, each) for each in node.operands]
            tests = [f"{a} {op} {b}" for a, op, b in _pairs(operands, node.ops)]
        else:
            operands = [self._simple(code, self._number(code, each)) for each in node.operands]
            tests = [self._test(a, op, b) for a, op, b in _pairs(operands, node.ops)]
        return _Value(f"({' and '.join(tests)})", "truth" if len(tests) > 1 else "bool")

    def _text(self, code: _Code, node: Expr) -> str:
        if isinstance(node, Constant) and _is_text(node):
            return code.literal(node, "literal")
        if not isinstance(node, Name):
            raise _NeedsClosures
        value = code.value(node.name)
        code.give_up_if(f"{value}.__class__ is not str")
        return value

    def _test(self, left: str, op: str, right: str) -> str:
        near = f"-EPSILON <= {left} - {right} <= EPSILON"
        if op in ("==", "!="):
            equal = near if self._nan_compares_true else f"({left} == {right} or {near})"
            return equal if op == "==" else f"not {equal}"
        if self._nan_compares_true:
            return f"not {left} {_OPPOSITE[op]} {right}"
        return f"{left} {op} {right}"

    def _ternary(
        self, code: _Code, node: Ternary, branch: Callable[[Expr], str], kind: str
    ) -> _Value:
        condition = self._number(code, node.condition)
        result = code.temporary("None")
        for head, chosen in ((f"if {condition.code}:", node.then), ("else:", node.otherwise)):
            with code.block(head):
                code.line(f"{result} = {branch(chosen)}")
        return _Value(result, kind, True)

    def _truth(self, code: _Code, node: Expr) -> str:
        """Operand of ``&&`` and ``||``, checked to have a truth; Python's truth of it is that."""
        if isinstance(node, Constant):
            if isinstance(node.value, str) or node.value not in (0, 1):
                raise _NeedsClosures
            return code.literal(node, "literal")
        if isinstance(node, Name):
            value = code.value(node.name)
            code.give_up_if(_NO_TRUTH.format(value))
            return value
        if isinstance(node, Ternary):  # of integers, which have a truth only if 0 or 1
            raise _NeedsClosures
        operand = self._number(code, node)
        if operand.kind in ("truth", "bool"):
            return operand.code
        value = self._simple(code, operand)
        code.give_up_if(f"not {value} >= 0.0")
        return value

    def _real(self, value: _Value) -> _Value:
        if value.kind == "real":
            return value
        if value.kind == "number":
            return _Value(f"({value.code} * 1.0)", "real")
        return _Value(f"(1.0 if {value.code} else 0.0)", "real")

    def _simple(self, code: _Code, value: _Value) -> str:
        if value.kind in ("truth", "bool"):
            value = self._real(value)
        return value.code if value.simple else code.temporary(value.code)


_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_NO_TRUTH = (
    "not {0} >= 0.0 if {0}.__class__ is float else "
    "({0}.__class__ is not int and {0}.__class__ is not bool) or ({0} != 0 and {0} != 1)"
)


def _is_text(node: Expr) -> bool:
    return isinstance(node, Constant) and isinstance(node.value, str)


def _pairs(operands: list[str], ops: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    return zip(operands, ops, operands[1:], strict=False)


def _as_value(result: _Value) -> str:
    if result.kind in ("truth", "bool"):
        return f"1.0 if {result.code} else 0.0"
    return result.code


def _as_test(result: _Value) -> str:
    if result.kind == "bool":
        return result.code
    if result.kind == "truth":
        return f"True if {result.code} else False"
    if not result.simple:
        return f"s.general.truth({result.code})"
    real = f"{result.code}.__class__ is float and {result.code} >= 0.0"
    return f"{result.code} != 0.0 if {real} else s.general.truth({result.code})"
