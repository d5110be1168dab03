# SPDX-License-Identifier: Apache-2.0
"""Networks whose nodes write down when they are entered, decide and are left."""

from __future__ import annotations

from typing import Any

from tree_kit import Clock, xml

from behavior_tree import BehaviorTreeFactory, NodeStatus, StatefulActionNode, Tree
from behavior_tree.decider import (
    Action,
    Decider,
    Decision,
    Network,
    Part,
    case,
    node,
    register_decider_nodes,
)

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE


class Script:
    """The context: what each decider chooses, what each leaf returns, and the trace."""

    def __init__(self, **choices: Any) -> None:
        self.choices: dict[str, Any] = choices
        self.results: dict[str, NodeStatus | None] = {}
        self.log: list[str] = []
        self.seen: dict[str, Any] = {}

    def take(self) -> str:
        text = ", ".join(self.log)
        self.log.clear()
        return text


class Traced:
    """Tells of its sessions."""

    def enter(self):
        super().enter()
        self.context.log.append(f"enter {self.name}")

    def exit(self):
        super().exit()
        self.context.log.append(f"exit {self.name}")


class Choice(Traced, Decider):
    """Chooses what the script says."""

    def decide(self) -> Decision | str | None:
        self.context.log.append(f"decide {self.name}")
        self.context.seen[str(self.name)] = self.params
        return self.context.choices.get(str(self.name))


class Leaf(Traced, Action):
    """Goes on, unless the script has a result for it."""

    def step(self) -> NodeStatus | None:
        self.context.log.append(f"decide {self.name}")
        self.context.seen[str(self.name)] = self.params
        return self.context.results.get(str(self.name))


def leaf(name: str) -> Part:
    return node(Leaf, name=name)


def choice(name: str, *below: Part, **ports: Any) -> Part:
    """A decider whose cases are named as what is in them."""
    return node(
        Choice, *(case(each.attributes["name"], each) for each in below), name=name, **ports
    )


def ticked(root: Part, script: Script, **arguments: Any) -> Tree:
    """A network after its first tick."""
    tree = Network("Net", root, context=script, **arguments).tree(BehaviorTreeFactory(Clock()))
    tree.tick_exactly_once()
    return tree


def abc(compat: str | None = None) -> tuple[Tree, Script]:
    """A chooses between B, which chooses between C and D, and E; the path is A, B, C."""
    script = Script(A="B", B="C")
    root = choice("A", choice("B", leaf("C"), leaf("D")), leaf("E"))
    return ticked(root, script, compat=compat), script


class Rig:
    """Trees of XML. Leaves: ``Do`` goes on until ``results`` has something else for its name."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.factory = BehaviorTreeFactory(self.clock)
        register_decider_nodes(self.factory)
        self.log: list[str] = []
        self.results: dict[str, NodeStatus] = {}
        self.factory.register_node_type(_Do, "Do", self)
        self.factory.register_simple_action("Boom", _boom)

    def tree(self, body: str, more: str = "", **entries: Any) -> Tree:
        tree = self.factory.create_tree_from_text(xml(body, more))
        for key, value in entries.items():
            tree.root_blackboard().set(key, value)
        return tree

    def take(self) -> str:
        text = " ".join(self.log)
        self.log.clear()
        return text


class _Do(StatefulActionNode):
    restorable = ("_halt_requested",)

    def __init__(self, name: str, config: Any, rig: Rig) -> None:
        super().__init__(name, config)
        self._rig = rig

    def on_start(self) -> NodeStatus:
        self._rig.log.append(f"+{self.name}")
        return self.on_running()

    def on_running(self) -> NodeStatus:
        self._rig.log.append(str(self.name))
        return self._rig.results.get(str(self.name), RUNNING)

    def on_halted(self) -> None:
        self._rig.log.append(f"-{self.name}")


def _boom(node: Any) -> NodeStatus:
    raise ValueError(f"{node.name} is broken")
