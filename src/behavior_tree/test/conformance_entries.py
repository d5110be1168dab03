# SPDX-License-Identifier: Apache-2.0
"""Cases about values, not ticks: writers and readers of few entries, scripts of any shape."""

from __future__ import annotations

import random
from typing import Any
from xml.sax.saxutils import quoteattr

from conformance_trees import GETTERS, Case

KEYS = ("a", "b", "q", "s", "_p", "u", "x", "@a", "@q", "a", "b", "@_p")
TEXTS = ("x", "1", "2.5", "true", "", "1;2;3", "false", "SUCCESS", "-7", "0x1", "99999999999")
LITERALS = (
    *("1", "2", "0", "2.0", "1.5", "true", "false", "'x'", "'5'", "'1;2'", "''", "-1", "0x10"),
    *("'true'", "'SUCCESS'", "(a)", "b", "q", "s", "@a", "a", "1==1", "'1.5'", "true ? 1 : 2"),
    *("(a ? 1 : 'x')", "3000000000", "'3000000000'"),
)
VALUES = (
    *("1", "2.5", "x", "", "true", "1;2;3", "-3", "SUCCESS", "{a}", "{b}", "{q}", "{s}", "{u}"),
    *("{@a}", "{=}", "{_p}", "{x}", "=", " {a}", "json:1"),
)
READERS = (
    '<RunOnce then_skip="{%s}"><AlwaysSuccess/></RunOnce>',
    '<Parallel success_count="{%s}" failure_count="1"><AlwaysSuccess/></Parallel>',
    '<LoopInt queue="{%s}" value="{a}"><AlwaysSuccess/></LoopInt>',
    '<LoopString queue="{%s}" value="{s}"><AlwaysSuccess/></LoopString>',
    '<LoopDouble queue="{%s}"><AlwaysSuccess/></LoopDouble>',
    '<LoopDouble queue="1.5;2" value="{%s}"><AlwaysSuccess/></LoopDouble>',
    '<LoopBool queue="true;0" value="{%s}"><AlwaysFailure/></LoopBool>',
    '<Precondition if="true" else="{%s}"><AlwaysSuccess/></Precondition>',
    '<Repeat num_cycles="{%s}"><AlwaysSuccess/></Repeat>',
    '<Switch2 variable="{%s}" case_1="1" case_2="{b}"><AlwaysSuccess/><AlwaysFailure/>'
    "<AlwaysSuccess/></Switch2>",
    '<ScriptCondition code="%s == 1"/>',
    '<WasEntryUpdated entry="{%s}"/>',
    '<UnsetBlackboard key="%s"/>',
)
TREES = (
    '<root BTCPP_format="4" main_tree_to_execute="M"><BehaviorTree ID="M">%s</BehaviorTree>'
    '<BehaviorTree ID="S1">%s</BehaviorTree><BehaviorTree ID="S2">%s</BehaviorTree></root>'
)


class EntryGenerator:
    """Sequences of nodes and leaves that write and read the same few entries, in three scopes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.r = random.Random(seed)
        self.writes: dict[str, list[tuple[str, str, Any]]] = {}

    def case(self) -> Case:
        r = self.r
        inner = [self.subtree(number) if r.random() < 0.6 else "" for number in (1, 2)]
        xml = TREES % (self.tree(inner[0]), self.tree(inner[1]), self.tree(""))
        steps: list[tuple[str, Any]] = [("write", self.write()) for _ in range(r.randrange(5))]
        for _ in range(3):
            steps += [("tick", None), ("write", self.write())]
        case = Case(self.seed, xml, steps, {}, self.writes)
        if r.random() < 0.3:
            case.board = [("set_int", "a", 1), ("set_string", "s", "1;2")]
        return case

    def tree(self, last: str) -> str:
        nodes = [self.node() for _ in range(self.r.randrange(2, 7))]
        nodes = [n if self.r.random() < 0.5 else f"<ForceSuccess>{n}</ForceSuccess>" for n in nodes]
        return f"<Sequence>{''.join(nodes)}{last}</Sequence>"

    def subtree(self, number: int) -> str:
        r = self.r
        ports = "".join(
            f" {key}={quoteattr(r.choice([*VALUES[8:14], '5', 'x', '1;2', '=', '']))}"
            for key in r.sample(["a", "b", "q", "s", "x", "u"], r.randrange(4))
        )
        remap = r.choice(["", ' _autoremap="1"', ' _autoremap="true"'])
        return f'<SubTree ID="S{number}"{ports}{remap}/>'

    def node(self) -> str:
        r = self.r
        dice = r.random()
        if dice < 0.3:
            operators = [":=", ":=", "=", "+=", "-=", "*="]
            code = f"{r.choice(KEYS)} {r.choice(operators)} {r.choice(LITERALS)}"
            return f"<Script code={quoteattr(code)}/>"
        if dice < 0.55:
            value = quoteattr(r.choice(VALUES))
            key = quoteattr(r.choice([*KEYS, "{s}", "{a}", "{u}", ""]))
            return f"<SetBlackboard value={value} output_key={key}/>"
        if dice < 0.75:
            name = f"L{len(self.writes)}"
            self.writes[name] = [self.write() for _ in range(r.randint(1, 3))]
            return f'<Act name="{name}"/>'
        return r.choice(READERS) % r.choice(["a", "b", "q", "s", "u", "_p", "x", "@a"])

    def write(self) -> tuple[str, str, Any]:
        r = self.r
        values: dict[str, Any] = {
            "set_int": r.choice([0, 1, 2, 5, -1]),
            "set_double": r.choice([0.0, 1.0, 2.5, -2.0, 1e20, float("nan")]),
            "set_bool": r.random() < 0.5,
            "set_string": r.choice(TEXTS),
        }
        method = r.choice([*values, *GETTERS, "unset"])
        return method, r.choice(KEYS), values.get(method)


NUMBERS = (
    *("0", "1", "2", "3", "5", "0.5", "1.5", "1e3", "2e-1", "0x10", "0XfF", "007", "10", "true"),
    *("false", "9007199254740993", "1.", "+3", "+0.5", "1_0", "3foo", "0x", "1e", "2147483648"),
    *("9223372036854775807", "99999999999999999999"),
)
QUOTED = ("'x'", "''", "'3'", "'1.5'", "'true'", "'0x10'", "' 7'", '"dq"', "'a;b'", "'nan'", "'é'")
WORDS = (*"abcsnzx", "t", "_p", "@a", "truex", "falsey", "é1", "a.b", "@")
INFIX = ("+", "-", "*", "/", "..", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=", ">=")


class ScriptGenerator:
    """Scripts of any shape, many of them wrong, in all places where scripts stand."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.r = random.Random(seed)

    def case(self) -> Case:
        r = self.r
        code = quoteattr(self.code(), {"\n": "&#10;"})
        leaf = r.choice(
            [
                *[f"<Script code={code}/>"] * 4,
                f"<ScriptCondition code={code}/>",
                f'<Precondition if={code} else="SKIPPED"><AlwaysSuccess/></Precondition>',
                f"<AlwaysSuccess _skipIf={code}/>",
                f"<AlwaysSuccess _onSuccess={code}/>",
            ]
        )
        xml = f'<root BTCPP_format="4"><BehaviorTree ID="M">{leaf}</BehaviorTree></root>'
        case = Case(self.seed, xml, [("tick", None), ("tick", None)], {})
        case.board = [("set_int", "a", 2), ("set_double", "b", 0.5), ("set_bool", "c", True)]
        case.board += [("set_string", "s", "x"), ("set_string", "n", "3")]
        return case

    def code(self) -> str:
        r = self.r
        separator = r.choice(["; ", ";", " ; ", "\n", ";\n", ";;"]) if r.random() < 0.3 else "; "
        text = separator.join(self.statement() for _ in range(r.choice([1, 1, 2, 3])))
        if r.random() < 0.05:
            at = r.randrange(len(text) + 1)
            text = text[:at] + r.choice("()+-*/;:=?!~&|^'\" \t\n\\01ax.@%") + text[at:]
        if text and r.random() < 0.03:
            at = r.randrange(len(text))
            text = text[:at] + text[at + 1 :]
        return text

    def statement(self) -> str:
        r = self.r
        if r.random() < 0.25:
            return self.expression(3)
        operator = r.choice([":=", ":=", "=", "+=", "-=", "*=", "/="])
        return f"{r.choice(WORDS[:8])} {operator} {self.expression(3)}"

    def expression(self, depth: int) -> str:
        r = self.r
        dice = r.random()
        if depth <= 0 or dice < 0.3:
            atoms = r.choice([NUMBERS[:12], NUMBERS, QUOTED, WORDS[:7], WORDS])
            return r.choice(atoms)
        if dice < 0.6:
            space = r.choice([" ", " ", ""])
            operator = f"{space}{r.choice(INFIX)}{space}"
            return f"{self.expression(depth - 1)}{operator}{self.expression(depth - 1)}"
        if dice < 0.75:
            return f"({self.expression(depth - 1)})"
        if dice < 0.83:
            return f"{r.choice('-~!+')}{r.choice(['', ' '])}{self.expression(depth - 1)}"
        if dice < 0.9:
            return " ? ".join([self.expression(depth - 1)] * 2) + f" : {self.expression(depth - 1)}"
        if dice < 0.97:
            return f"({self.statement()})"
        return r.choice(["(", ")", ";", ":", "?", "1 2", "a b", "'", "==", "%", ""])
