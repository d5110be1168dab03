# SPDX-License-Identifier: Apache-2.0
"""Tokens to expression trees, by two grammars: the current one and that of BehaviorTree.CPP 4.8."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_tree.errors import ScriptError
from behavior_tree.script.lexer import Token, tokenize

MAX_DEPTH = 120


@dataclass(frozen=True, slots=True)
class Constant:
    value: int | float | str


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Compare:
    """``a < b <= c``: true if every neighbouring pair is."""

    operands: tuple[Expr, ...]
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ternary:
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    op: str
    target: Expr
    """Must be a Name; checked when the assignment is evaluated, as upstream."""
    value: Expr


Expr = Constant | Name | Unary | Binary | Compare | Ternary | Assign

_ASSIGNMENTS = frozenset({":=", "=", "+=", "-=", "*=", "/="})
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_PREFIXES = frozenset({"-", "~", "!"})
_BINDING = {
    "||": 6,
    "&&": 8,
    "|": 12,
    "^": 12,
    "&": 14,
    "+": 16,
    "-": 16,
    "..": 16,
    "*": 18,
    "/": 18,
}
_BIND_ASSIGN, _BIND_TERNARY, _BIND_COMPARE, _BIND_PREFIX = 2, 4, 10, 20


def parse(source: str, *, grammar_4_8: bool = False) -> list[Expr]:
    """Statements of a script; raises ScriptError with the position of the mistake."""
    parser = (_Grammar48 if grammar_4_8 else _Grammar)(tokenize(source, grammar_4_8=grammar_4_8))
    if parser.next.kind == "end":
        raise ScriptError("Empty Script", position=0)
    return parser.statements()


class _Parser:
    """What both grammars share."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def advance(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def expect(self, kind: str) -> None:
        if self.next.kind != kind:
            raise ScriptError(f"expected '{kind}', {self._found()}", position=self.next.position)
        self.advance()

    def _found(self) -> str:
        return (
            "but the script ends"
            if self.next.kind == "end"
            else f"found '{str(self.next.value)[:40]}'"
        )

    def enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ScriptError(
                f"nested deeper than {MAX_DEPTH}: split the script into statements",
                position=self.next.position,
            )

    def leave(self, levels: int = 1) -> None:
        self._depth -= levels

    def atom(self) -> Expr:
        token = self.next
        if token.kind in ("int", "real", "text"):
            return Constant(self.advance().value)
        if token.kind == "name":
            return Name(str(self.advance().value))
        if token.kind == "(":
            self.advance()
            inner = self.expression()
            self.expect(")")
            return inner
        raise ScriptError(f"expected operand, {self._found()}", position=token.position)

    def expression(self) -> Expr:
        raise NotImplementedError

    def statements(self) -> list[Expr]:
        raise NotImplementedError


class _Grammar(_Parser):
    """The current grammar, by binding power."""

    def statements(self) -> list[Expr]:
        result = [self.expression()]
        while True:
            while self.next.kind == ";":
                self.advance()
            if self.next.kind == "end":
                return result
            result.append(self.expression())

    def expression(self, binding: int = 0) -> Expr:
        self.enter()
        if self.next.kind in _PREFIXES:
            left: Expr = Unary(self.advance().kind, self.expression(_BIND_PREFIX))
        else:
            left = self.atom()
        chain = 0
        while True:
            extended = self._extend(left, binding)
            if extended is None:
                break
            left = extended
            chain += 1
            self.enter()  # a long chain is as deep as nesting once it is evaluated
        self.leave(chain + 1)
        return left

    def _extend(self, left: Expr, binding: int) -> Expr | None:
        op = self.next.kind
        if op in _BINDING and _BINDING[op] > binding:
            self.advance()
            return Binary(op, left, self.expression(_BINDING[op]))
        if op in _COMPARISONS and binding < _BIND_COMPARE:
            return self._comparison(left)
        if op == "?" and binding < _BIND_TERNARY:
            self.advance()
            then = self.expression()
            self.expect(":")
            return Ternary(left, then, self.expression(_BIND_TERNARY - 1))
        if op in _ASSIGNMENTS and binding < _BIND_ASSIGN:
            self.advance()
            return Assign(op, left, self.expression())
        return None

    def _comparison(self, left: Expr) -> Expr:
        operands, ops = [left], []
        while self.next.kind in _COMPARISONS:
            ops.append(self.advance().kind)
            operands.append(self.expression(_BIND_COMPARE))
        return Compare(tuple(operands), tuple(ops))


_MATH, _BITS, _CONCAT = "arithmetic", "bit", "'..'"


class _Grammar48(_Parser):
    """The grammar of 4.8: arithmetic groups to the right, operator families do not mix."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._family: str | None = None

    def _use(self, family: str) -> None:
        """Only one family of operators may stand in an expression outside parentheses."""
        if self._family not in (None, family):
            raise ScriptError(
                f"{family} and {self._family} operators cannot be mixed: use parentheses",
                position=self.next.position,
            )
        self._family = family

    def statements(self) -> list[Expr]:
        result = [self.expression()]
        while self.next.kind != "end":
            self.expect(";")
            result.append(self.expression())
        return result

    def expression(self) -> Expr:
        self.enter()
        outer, self._family = self._family, None
        left = self._ternary()
        if self.next.kind in _ASSIGNMENTS:
            op = self.advance().kind
            left = Assign(op, left, self._ternary())
            if self.next.kind in _ASSIGNMENTS:
                raise ScriptError("assignments cannot be chained", position=self.next.position)
        self._family = outer
        self.leave()
        return left

    def _ternary(self) -> Expr:
        condition = self._boolean()
        if self.next.kind != "?":
            return condition
        self.advance()
        then = self.expression()
        self.expect(":")
        result = Ternary(condition, then, self._boolean())
        if self.next.kind == "?":
            raise ScriptError(
                "'?:' cannot be chained: use parentheses", position=self.next.position
            )
        return result

    def _boolean(self) -> Expr:
        left, chain = self._compare(), 0
        while self.next.kind in ("&&", "||"):
            self.enter()  # a long chain is as deep as nesting once it is evaluated
            chain += 1
            op = self.advance().kind
            left = Binary(op, left, self._compare())
        self.leave(chain)
        return left

    def _compare(self) -> Expr:
        operands, ops = [self._operand()], []
        while self.next.kind in _COMPARISONS:
            ops.append(self.advance().kind)
            operands.append(self._operand())
        return Compare(tuple(operands), tuple(ops)) if ops else operands[0]

    def _operand(self) -> Expr:
        """One operator family up to the next comparison."""
        kind = self.next.kind
        if kind == "-":
            return self._sum()
        if kind in ("~", "!"):
            return self._bit_or(self._bit_and(self._bit_prefix()))
        first = self.atom()
        op = self.next.kind
        if op in ("+", "-", "*", "/"):
            return self._sum(first)
        if op in ("&", "|", "^"):
            return self._bit_or(self._bit_and(first))
        chain = 0
        while self.next.kind == "..":
            self._use(_CONCAT)
            self.enter()
            chain += 1
            self.advance()
            first = Binary("..", first, self.atom())
        self.leave(chain)
        return first

    def _sum(self, first: Expr | None = None) -> Expr:
        self.enter()
        left = self._product(first)
        if self.next.kind in ("+", "-"):
            self._use(_MATH)
        if self.next.kind in ("+", "-"):
            left = Binary(self.advance().kind, left, self._sum())
        self.leave()
        return left

    def _product(self, first: Expr | None = None) -> Expr:
        self.enter()
        left = self._negation() if first is None else first
        if self.next.kind in ("*", "/"):
            self._use(_MATH)
        if self.next.kind in ("*", "/"):
            left = Binary(self.advance().kind, left, self._product())
        self.leave()
        return left

    def _negation(self) -> Expr:
        signs = 0
        while self.next.kind == "-":
            self._use(_MATH)
            self.advance()
            self.enter()
            signs += 1
        expr = self.atom()
        for _ in range(signs):
            expr = Unary("-", expr)
            self.leave()
        return expr

    def _bit_prefix(self) -> Expr:
        ops = []
        while self.next.kind in ("~", "!"):
            self._use(_BITS)
            ops.append(self.advance().kind)
            self.enter()
        expr = self.atom()
        for op in reversed(ops):
            expr = Unary(op, expr)
            self.leave()
        return expr

    def _bit_and(self, left: Expr) -> Expr:
        chain = 0
        while self.next.kind == "&":
            self._use(_BITS)
            self.enter()
            chain += 1
            self.advance()
            left = Binary("&", left, self._bit_prefix())
        self.leave(chain)
        return left

    def _bit_or(self, left: Expr) -> Expr:
        chain = 0
        while self.next.kind in ("|", "^"):
            self._use(_BITS)
            self.enter()
            chain += 1
            op = self.advance().kind
            left = Binary(op, left, self._bit_and(self._bit_prefix()))
        self.leave(chain)
        return left
