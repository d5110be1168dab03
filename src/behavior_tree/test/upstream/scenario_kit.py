# SPDX-License-Identifier: Apache-2.0
"""`Stage`: one tree with leaves that follow a plan, the same on our engine and on upstream's.

Three kinds of leaves serve all scenarios; each is told apart by its name: ``<Check>`` is a
condition, ``<Do>`` a simple action, ``<Work>`` a stateful action. A plan is a string of letters,
one for each call of the leaf: R running, S success, F failure, K skipped; the last one repeats.
Without a plan Check and Do succeed and Work keeps running.
"""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import behavior_tree

ENGINES = ("ours", "ours_as_4_8", "upstream")
LETTER = {"I": "IDLE", "R": "RUNNING", "S": "SUCCESS", "F": "FAILURE", "K": "SKIPPED"}
NAME = {name: letter for letter, name in LETTER.items()}
PERIOD_S = 0.01
ENDLESS = 500
"""Ticks after which a tree that should have ended is given up."""


def letter(status: Any) -> str:
    return NAME[status.name]


class Stage:
    """A factory, the tree built last, and what its leaves did."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.now = 100.0
        self.module: ModuleType = behavior_tree
        if self.real:
            import behaviortreepy

            self.module = behaviortreepy
            self.factory: Any = behaviortreepy.BehaviorTreeFactory()
        else:
            compat = None if self.mended else "4.8"
            self.factory = behavior_tree.BehaviorTreeFactory(lambda: self.now, compat)
        self.log: list[str] = []
        self.plans: dict[str, list[str]] = {}
        self.leaves: dict[str, Any] = {}
        self.tree: Any = None
        self._register()

    @property
    def real(self) -> bool:
        """True on BehaviorTree.CPP itself."""
        return self.engine == "upstream"

    @property
    def mended(self) -> bool:
        """True on our engine with the defects of 4.8 mended."""
        return self.engine == "ours"

    def again(self) -> Stage:
        """An empty stage of the same engine."""
        return Stage(self.engine)

    # -- leaves

    def _register(self) -> None:
        self.factory.register_simple_condition("Check", lambda node: self._next(node, "S"))
        self.factory.register_simple_action("Do", lambda node: self._next(node, "S"))
        self.factory.register_simple_stateful_action(
            "Work",
            lambda node: self._next(node, "R"),
            lambda node: self._next(node, "R"),
            lambda node: self.log.append("!" + node.name()),
        )

    def _next(self, node: Any, default: str) -> Any:
        name = node.name()
        self.leaves[name] = node
        self.log.append(name)
        plan = self.plans.get(name, [default])
        call = plan.pop(0) if len(plan) > 1 else plan[0]
        return getattr(self.module.NodeStatus, LETTER[call])

    def plan(self, **letters: str) -> Stage:
        """Results of the next calls of some leaves."""
        self.plans.update({name: list(text) for name, text in letters.items()})
        return self

    def count(self, *names: str) -> list[int]:
        """How often each leaf was called."""
        return [self.log.count(name) for name in names]

    def take_log(self) -> str:
        """Names of the leaves called since the last time, in order; ``!`` before halted ones."""
        text = " ".join(self.log)
        self.log.clear()
        return text

    # -- tree

    def load(self, body: str, more: str = "") -> Stage:
        """Build a tree ``Main`` from the XML of its root node."""
        return self.load_xml(document(body, more))

    def load_xml(self, text: str, *arguments: Any) -> Stage:
        self.tree = self.factory.create_tree_from_text(text, *arguments)
        return self

    def refuses(self, body: str, more: str = "") -> str:
        """Message with which the tree is refused when built."""
        return self.refuses_xml(document(body, more))

    def refuses_xml(self, text: str) -> str:
        try:
            self.load_xml(text)
        except RuntimeError as error:
            return str(error)
        raise AssertionError("the tree was built")

    def tick(self) -> str:
        """Letter of one tick."""
        return letter(self.tree.tick_exactly_once())

    def ticks(self, count: int) -> str:
        return "".join(self.tick() for _ in range(count))

    def tick_once(self) -> str:
        """Letter of one tick and those that nodes ask for."""
        return letter(self.tree.tick_once())

    def raises(self) -> str:
        """Message with which a tick fails."""
        try:
            self.tree.tick_once()
        except (RuntimeError, IndexError, ValueError) as error:
            return str(error)
        raise AssertionError("the tick went well")

    def run(self) -> str:
        """Tick every 10 ms until the tree has ended."""
        for _ in range(ENDLESS):
            status = self.tick_once()
            if status != "R":
                return status
            self.wait(PERIOD_S * 1000)
        raise AssertionError("the tree does not end")

    def halt(self) -> None:
        self.tree.halt_tree()

    def wait(self, milliseconds: float) -> None:
        """Let time pass: really on upstream, on the clock only on ours."""
        self.now += milliseconds / 1000
        if self.real:
            time.sleep(milliseconds / 1000)

    def status(self, name: str) -> str:
        """Letter of a node's status; ``?`` if the engine does not show it.

        The binding of upstream only shows leaves, once they have been called.
        """
        if self.real:
            return letter(self.leaves[name].status()) if name in self.leaves else "?"
        return next(letter(node.status) for node in self.tree.nodes() if node.name == name)

    def shows(self, **letters: str) -> bool:
        """Compare statuses of nodes; those that the engine does not show are passed over."""
        seen = {name: self.status(name) for name in letters}
        wanted = {name: "?" if seen[name] == "?" else letters[name] for name in letters}
        assert seen == wanted
        return True

    # -- blackboard

    @property
    def board(self) -> Any:
        return self.tree.root_blackboard()

    def set(self, **values: Any) -> Stage:
        for key, value in values.items():
            kind = {bool: "bool", int: "int", float: "double", str: "string"}[type(value)]
            getattr(self.board, f"set_{kind}")(key, value)
        return self

    def number(self, key: str) -> float:
        return float(self.board.get_double(key))

    def text(self, key: str) -> str:
        return str(self.board.get_string(key))

    def truth(self, key: str) -> bool:
        return bool(self.board.get_bool(key))


def document(body: str, more: str = "") -> str:
    """XML document whose main tree has ``body`` as its root node."""
    return (
        '<root BTCPP_format="4" main_tree_to_execute="Main">'
        f'<BehaviorTree ID="Main">{body}</BehaviorTree>{more}</root>'
    )


def subtree(tree_id: str, body: str) -> str:
    """XML of one more tree."""
    return f'<BehaviorTree ID="{tree_id}">{body}</BehaviorTree>'
