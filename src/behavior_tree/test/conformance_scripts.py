# SPDX-License-Identifier: Apache-2.0
"""Random scripts for `conformance_trees`: mostly sensible, of all operators and literal forms."""

from __future__ import annotations

import random

NAMES = ("a", "b", "c", "d", "a", "b", "s", "f", "_p", "@a", "@g", "li")
ODD_TEXTS = ("''", "'3'", "'1.5'", "'true'", "'0x10'", "' 7'", "'-2'", '"dq"', "'1;2'", "'nan'")


class Scripts:
    """Makes scripts from one random stream.

    Args:
        stream: where all choices come from
        wild: share of expressions that may fail when they are evaluated
    """

    def __init__(self, stream: random.Random, wild: float) -> None:
        self.r = stream
        self.wild = wild

    def code(self) -> str:
        """Statements."""
        return "; ".join(self.statement() for _ in range(self.r.randint(1, 3)))

    def statement(self) -> str:
        """An assignment, or now and then a bare expression."""
        r = self.r
        dice = r.random()
        if dice < 0.35:
            return f"{self.key()} := {self.number(2)}"
        if dice < 0.6:
            return f"{r.choice('ab')} {r.choice(['+=', '-=', '*='])} {r.randrange(3)}"
        if dice < 0.75:
            return f"{self.key()} = {self.number(1)}"
        if dice < 0.85:
            return f"s := {self.text()}"
        if dice < 0.95 or r.random() > self.wild:
            return f"d := {self.condition()}"
        return self.odd()

    def key(self) -> str:
        """Name that may be assigned."""
        return self.r.choice(NAMES if self.r.random() < self.wild else ("a", "b", "c", "d", "_p"))

    def condition(self) -> str:
        """Expression that is true or false."""
        r = self.r
        dice = r.random()
        if dice < 0.5:
            comparison = r.choice(["<", ">", "==", "!=", "<=", ">="])
            return f"{self.number(1)} {comparison} {self.number(1)}"
        if dice < 0.6:
            return f"s {r.choice(['==', '!=', '<', '>='])} {self.text()}"
        if dice < 0.75:
            return f"({self.condition()}) {r.choice(['&&', '||'])} {self.condition()}"
        if dice < 0.85:
            return f"!({self.condition()})"
        if dice < 0.95:
            return r.choice(["true", "false"])
        return self.odd() if r.random() < self.wild else self.number(1)

    def number(self, depth: int) -> str:
        """Arithmetic."""
        r = self.r
        dice = r.random()
        if depth <= 0 or dice < 0.35:
            if r.random() < self.wild:
                return r.choice(["s", "zz", "@a", "0x1F", "+2", "1e2", "li", "f", *ODD_TEXTS])
            return r.choice(["a", "b", "0", "1", "2", "3", "0.5", "true"])
        if dice < 0.75:
            op = r.choice(["+", "-", "*", "+", "/"])
            return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"
        if dice < 0.85:
            chain = f" {r.choice('+-*/')} ".join(r.choice(["1", "2", "a", "3"]) for _ in range(4))
            return f"({chain})"
        if dice < 0.9:
            return f"({self.condition()} ? {self.number(depth - 1)} : {self.number(depth - 1)})"
        if dice < 0.95:
            return f"({r.choice(['1', '2', 'a'])} {r.choice(['&', '|', '^'])} {r.randrange(4)})"
        return f"-{r.choice(['a', '1', '2'])}" if r.random() < 0.5 else "~1"

    def text(self) -> str:
        """Expression that gives a text."""
        if self.r.random() < self.wild:
            return self.r.choice([*ODD_TEXTS, "s .. a", "1 .. 'x'", "s + 'z'"])
        return self.r.choice(["'x'", "'y'", "'x' .. 'y'", "'1'", "s"])

    def odd(self) -> str:
        """Expression that is unusual or fails."""
        return self.r.choice(
            [
                *(
                    "1 .. 2",
                    "a .. s",
                    "1 < 2 < 3",
                    "1/0",
                    "0/0 == 1",
                    "s ? 1 : 2",
                    "~0.5",
                    "a & 0.5",
                ),
                *(
                    "!s",
                    "-s",
                    "(a := 3)",
                    "(a := 1) == 1",
                    "zz",
                    "s && true",
                    "2 && 1",
                    "1 / 0 > 2",
                ),
                *("f = 'false'", "f = 5", "c /= 0", "s += 'q'", "s -= 'q'", "s *= 2", "zz += 1"),
                *("a = 1.5", "a = 's'", "b := '12x'", "(f ? a : b)", "10 - 3 - 2 == 9"),
            ]
        )
