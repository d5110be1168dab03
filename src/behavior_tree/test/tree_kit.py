# SPDX-License-Identifier: Apache-2.0
"""Small helpers of the tests: scripted leaves, a hand-driven clock, transition logs."""

from __future__ import annotations

from typing import Any

from behavior_tree import BehaviorTreeFactory, ConditionNode, NodeStatus, StatefulActionNode, Tree

LETTER = {"R": "RUNNING", "S": "SUCCESS", "F": "FAILURE", "K": "SKIPPED"}


class Clock:
    """Stands still until moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Rig:
    """A factory whose leaves A, B, C, D, E follow letters: R running, S success, F failure, K
    skipped.

    Leaf P is a condition. The last letter repeats. ``log`` holds what was called: ``A`` start or
    tick, ``a`` running, ``!A`` halt.
    """

    def __init__(self, compat: str | None = None, **leaves: str) -> None:
        self.clock = Clock()
        self.factory = BehaviorTreeFactory(self.clock, compat)
        self.log: list[str] = []
        self.calls: dict[str, int] = dict.fromkeys(leaves, 0)
        for name, letters in leaves.items():
            node_class = _Asked if name == "P" else _Scripted
            self.factory.register_node_type(node_class, name, self, name, letters)

    def tree(self, body: str, more: str = "") -> Tree:
        return self.factory.create_tree_from_text(xml(body, more))

    def ticks(self, body: str, count: int, more: str = "") -> str:
        """Letters of ``count`` ticks."""
        tree = self.tree(body, more)
        return "".join(letter(tree.tick_exactly_once()) for _ in range(count))

    def result(self, leaf: str, mark: str, letters: str) -> NodeStatus:
        self.log.append(mark)
        call = self.calls[leaf]
        self.calls[leaf] += 1
        return NodeStatus[LETTER[letters[min(call, len(letters) - 1)]]]

    def take_log(self) -> str:
        text = " ".join(self.log)
        self.log.clear()
        return text


class _Scripted(StatefulActionNode):
    def __init__(self, name: str, config: Any, rig: Rig, leaf: str, letters: str) -> None:
        super().__init__(name, config)
        self._rig, self._leaf, self._letters = rig, leaf, letters

    def on_start(self) -> NodeStatus:
        return self._next(self._leaf)

    def on_running(self) -> NodeStatus:
        return self._next(self._leaf.lower())

    def on_halted(self) -> None:
        self._rig.log.append(f"!{self._leaf}")

    def _next(self, mark: str) -> NodeStatus:
        return self._rig.result(self._leaf, mark, self._letters)


class _Asked(ConditionNode):
    def __init__(self, name: str, config: Any, rig: Rig, leaf: str, letters: str) -> None:
        super().__init__(name, config)
        self._rig, self._leaf, self._letters = rig, leaf, letters

    def tick(self) -> NodeStatus:
        return self._rig.result(self._leaf, self._leaf, self._letters)


def letter(status: NodeStatus) -> str:
    return {value: key for key, value in LETTER.items()}.get(status.name, "I")


def xml(body: str, more: str = "") -> str:
    return (
        '<root BTCPP_format="4" main_tree_to_execute="Main">'
        f'<BehaviorTree ID="Main">{body}</BehaviorTree>{more}</root>'
    )


def tree_of(body: str, factory: BehaviorTreeFactory | None = None) -> Tree:
    return (factory or BehaviorTreeFactory()).create_tree_from_text(xml(body))


def watch(tree: Tree) -> list[str]:
    """List that grows by ``name OLD>NEW`` at each transition."""
    log: list[str] = []
    tree.subscribe_status_change(
        lambda node, old, new: log.append(f"{node.name} {letter(old)}>{letter(new)}")
    )
    return log
