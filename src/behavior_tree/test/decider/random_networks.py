# SPDX-License-Identifier: Apache-2.0
"""Random decider networks: against a model of the sweep, and with everything that may happen to
a tree, against what always holds.
"""

from __future__ import annotations

import functools
import json
import random
from dataclasses import dataclass, field
from typing import Any

from tree_kit import Clock, xml

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    LoadError,
    NodeStatus,
    StatefulActionNode,
    TreeEditor,
    restore_tree,
    save_tree,
)
from behavior_tree.decider import (
    RLDS,
    Action,
    Decider,
    Network,
    Rd,
    Session,
    StateMachine,
    case,
    force_unlock,
    holders,
    node,
    register_decider_nodes,
)
from behavior_tree.nodes.decider import DECIDER_NODES
from behavior_tree.nodes.decider.choosing import Choosing

IDLE, RUNNING = NodeStatus.IDLE, NodeStatus.RUNNING

# -- the model: a path, and one sweep over it per tick --------------------------------------------


@dataclass(eq=False)
class Spec:
    """One node of a network of which only the decisions matter."""

    name: str
    kind: str
    """decider, rlds or leaf."""
    atomic: bool
    children: list[Spec] = field(default_factory=list)
    active: Spec | None = None
    """Of an rlds: the step that was chosen last."""


@dataclass
class World:
    """What the nodes are told in one tick, and what they have done."""

    choices: dict[str, int | None] = field(default_factory=dict)
    runnable: dict[str, bool] = field(default_factory=dict)
    enterable: dict[str, bool] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)


class Model:
    """The sweep as its description says, with the defects D1 to D4 if asked for."""

    def __init__(self, root: Spec, world: World, defects: bool) -> None:
        self.root, self.world, self.defects = root, world, defects
        self.path: list[Spec] = []
        self.locked: list[Spec] = []

    def sweep(self) -> None:
        old, start = self.path, self._start()
        path, node, left = old[:start], (old[start] if old else self.root), False
        while node is not None:
            depth = len(path)
            if not left and not (depth < len(old) and old[depth] is node):
                left = True
                if depth < len(old):
                    self._leave(old[depth:])
                elif self.defects:
                    self.world.log += [f"exit {each.name}" for each in reversed(old)]
            path.append(node)
            if left:
                self._enter(node)
            node = self._decide(node)
        gone = [] if left else old[len(path) :]
        if self.defects:
            self.locked = [each for each in self.locked if each not in gone]
        else:
            self._leave(gone)
        self.path = path

    def halt(self) -> None:
        self._leave(self.path)
        self.path = []

    def _start(self) -> int:
        locked = [index for index, each in enumerate(self.path) if each in self.locked]
        return 0 if not locked else locked[0 if self.defects else -1]

    def _enter(self, node: Spec) -> None:
        node.active = None
        self.world.log.append(f"enter {node.name}")
        if node.atomic:
            self.locked.append(node)

    def _leave(self, nodes: list[Spec]) -> None:
        for each in reversed(nodes):
            self.world.log.append(f"exit {each.name}")
            if each in self.locked:
                self.locked.remove(each)

    def _decide(self, node: Spec) -> Spec | None:
        if node.kind != "rlds":
            self.world.log.append(f"decide {node.name}")
            chosen = self.world.choices.get(node.name)
            return None if chosen is None else node.children[chosen]
        last, active, node.active = node.children[-1], node.active, None
        for step in reversed(node.children):
            goes_on = step is active and (step is last or not self.defects)
            if (self.world.runnable if goes_on else self.world.enterable)[step.name]:
                node.active = step
                break
        return node.active


class _Traced:
    def enter(self) -> None:
        super().enter()  # type: ignore[misc]
        self.context.log.append(f"enter {self.name}")  # type: ignore[attr-defined]

    def exit(self) -> None:
        super().exit()  # type: ignore[misc]
        self.context.log.append(f"exit {self.name}")  # type: ignore[attr-defined]


class _Decider(_Traced, Decider):
    def decide(self) -> str | None:
        self.context.log.append(f"decide {self.name}")
        chosen = self.context.choices.get(str(self.name))
        return None if chosen is None else str(self.children[chosen].name)


class _Steps(_Traced, RLDS):
    pass


class _Step(Rd):
    def is_runnable(self) -> bool:
        return bool(self.context.runnable[str(self.name)])

    def is_enterable(self) -> bool:
        return bool(self.context.enterable[str(self.name)])


class _Leaf(_Traced, Action):
    def step(self) -> None:
        self.context.log.append(f"decide {self.name}")


class DecisionCase:
    """A random network and what it is told; every choice comes from its seed."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.names = 0
        self.specs: list[Spec] = []
        self.root = self._spec(self.r.randrange(1, 5))
        self.world = World()

    def _spec(self, depth: int) -> Spec:
        self.names += 1
        kind = "leaf" if depth == 0 else self.r.choice(["decider", "decider", "rlds", "leaf"])
        spec = Spec(f"n{self.names}", kind, self.r.random() < 0.15)
        self.specs.append(spec)
        if kind != "leaf":
            spec.children = [self._spec(depth - 1) for _ in range(self.r.randint(1, 3))]
        return spec

    def part(self, spec: Spec) -> Any:
        """The same as part of a network in Python."""
        below = [(each.name, self.part(each)) for each in spec.children]
        if spec.kind == "leaf":
            part = node(_Leaf, name=spec.name)
        elif spec.kind == "rlds":
            part = node(_Steps, *(node(_Step, p, name=n) for n, p in below), name=spec.name)
        else:
            part = node(_Decider, *(case(n, p) for n, p in below), name=spec.name)
        return node("Atomic", part) if spec.atomic else part

    def change(self) -> None:
        """Tell something else, mostly the same as before."""
        world, r = self.world, self.r
        for spec in self.specs:
            if spec.kind == "decider" and (spec.name not in world.choices or r.random() < 0.3):
                world.choices[spec.name] = r.choice([None, *range(len(spec.children))])
            for flags in (world.runnable, world.enterable):
                if spec.name not in flags or r.random() < 0.3:
                    flags[spec.name] = r.random() < 0.5


def compare_decisions(seed: int, ticks: int = 12) -> None:
    """A random network does what the model does, in both modes.

    Raises:
        AssertionError: it does not
    """
    for compat in (None, "cortex"):
        case_ = DecisionCase(seed)
        model = Model(case_.root, case_.world, compat is not None)
        network = Network("Net", case_.part(case_.root), context=case_.world, compat=compat)
        tree = network.tree()
        for tick in range(ticks):
            case_.change()
            told = []
            for run in (model.sweep, tree.tick_exactly_once):
                run()
                told.append(list(case_.world.log))
                case_.world.log.clear()
            assert told[0] == told[1], f"seed {seed}, {compat}, tick {tick}: {told}"
            locked = sorted(each.name for each in model.locked)
            held = sorted(each.children[0].name for each in holders(tree))
            assert locked == held, f"seed {seed}, {compat}, tick {tick}: {locked} {held}"
        model.halt()
        wanted, case_.world.log = case_.world.log, []
        tree.halt_tree()
        assert wanted == case_.world.log, f"seed {seed}, {compat}: halted {case_.world.log}"


# -- everything that may happen -------------------------------------------------------------------

CONDITIONS = ("a", "!a", "b &gt; 1", "b == c", "c &lt; 2", "a &amp;&amp; b == 1")
RESULTS = ("RUNNING",) * 6 + ("SUCCESS",) * 3 + ("FAILURE",) * 2 + ("SKIPPED",)
EXPECTED = ("is broken", "does not end in its tick", "no node around this Lock")
"""Errors that leaves raise, and edits lead to."""
FRAGMENTS = (
    '<Case name="new{n}" if="a"><Do name="new{n}"/></Case>',
    '<Rd name="new{n}" runnable="b == 1"><Atomic><Do name="new{n}"/></Atomic></Rd>',
    '<State name="new{n}"><Do name="new{n}"/><Transition to="new{n}" if="a"/></State>',
    '<Do name="new{n}"/>',
    '<RunFor msec="20"><Do name="new{n}"/></RunFor>',
)


class Life:
    """A tree with random networks, and what has happened to its sessions."""

    def __init__(self, seed: int, *, surprises: bool = True) -> None:
        self.seed = seed
        self.r = random.Random(seed)
        self.surprises = surprises
        self.names = 0
        stage = _stage()
        stage.life, self.clock, self.factory = self, stage.clock, stage.factory
        self.now: list[str] = []
        self.enters = self.exits = 0
        self.wrong: list[str] = []
        self.depth = self.r.randrange(2, 5)
        self.xml = xml(
            self._root(),
            f'<BehaviorTree ID="Sub">{self._node(1)}</BehaviorTree>',
        )
        self.tree = self.factory.create_tree_from_text(self.xml)
        self.editor = TreeEditor(self.tree, self.factory)
        self.edited = False
        self._set("a", False)
        self._set("b", 1)
        self._set("c", 1)

    # -- the tree

    def _name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def _root(self) -> str:
        if self.r.random() < 0.4:
            watch = '<Script code="m := 1"/>' * self.r.randint(1, 2)
            return f"<Monitors>{watch}{self._node(self.depth)}</Monitors>"
        return self._node(self.depth)

    def _node(self, depth: int) -> str:
        r = self.r
        if depth <= 0:
            return f'<Do name="{self._name()}"/>'
        kinds = [self._decider, self._decider, self._rlds, self._rlds, self._machine]
        return r.choice([*kinds, self._guarded, self._guarded, self._stock])(depth - 1)

    def _several(self, depth: int, low: int = 1, high: int = 3) -> list[str]:
        return [self._node(depth) for _ in range(self.r.randint(low, high))]

    def _port(self, name: str, values: Any, chance: float = 0.4) -> str:
        return f' {name}="{self.r.choice(values)}"' if self.r.random() < chance else ""

    def _compat(self) -> str:
        return self._port("compat", ["cortex"], 0.1 if self.surprises else 0)

    def _decider(self, depth: int) -> str:
        cases = "".join(
            f'<Case name="{self._name()}"{self._port("if", CONDITIONS, 0.8)}>{each}</Case>'
            for each in self._several(depth)
        )
        ports = self._port("on_done", ["end", "restart", "idle"])
        ports += self._port("on_none", ["RUNNING", "FAILURE", "SUCCESS"])
        return f'<Decider name="{self._name()}"{ports}>{cases}</Decider>'

    def _rlds(self, depth: int) -> str:
        steps = "".join(
            f'<Rd name="{self._name()}"{self._port("runnable", CONDITIONS, 0.8)}'
            f"{self._port('enterable', CONDITIONS)}{self._port('max_failures', [1, 2])}>{each}</Rd>"
            for each in self._several(depth)
        )
        ports = self._port("on_none", ["RUNNING", "FAILURE"]) + self._port("goal", CONDITIONS, 0.2)
        return f'<RLDS name="{self._name()}"{ports}>{steps}</RLDS>'

    def _machine(self, depth: int) -> str:
        bodies = self._several(depth)
        names = [self._name() for _ in bodies]
        states = "".join(
            f'<State name="{name}"{self._port("next", names, 0.7)}'
            f"{self._port('on_failure', names)}{self._port('timeout_msec', [15, 45], 0.2)}>{body}"
            + (f'<Transition to="{self.r.choice(names)}" if="{self.r.choice(CONDITIONS)}"/>')
            * self.r.randint(0, 1)
            + "</State>"
            for name, body in zip(names, bodies, strict=True)
        )
        ports = self._port("on_done", ["end", "restart", "idle"])
        return f'<StateMachine name="{self._name()}"{ports}>{states}</StateMachine>'

    def _guarded(self, depth: int) -> str:
        body, dice = self._node(depth), self.r.random()
        if dice < 0.5:
            ports = self._port("timeout_msec", [15, 45], 0.3) + self._port("scope", ["local"], 0.3)
            return f"<Atomic{ports}>{body}</Atomic>"
        if dice < 0.7:
            return f'<RunFor msec="{self.r.choice([0, 25, 60])}">{body}</RunFor>'
        locked = self._name()
        steps = f'<Lock set="true" node="{locked}"/>{body}<Lock set="false" node="{locked}"/>'
        return (
            f'<Decider name="{self._name()}"><Case name="{locked}"{self._port("if", CONDITIONS)}>'
            f"<Sequence>{steps}</Sequence></Case></Decider>"
        )

    def _stock(self, depth: int) -> str:
        tag = self.r.choice(["Sequence", "Fallback", "ReactiveSequence", "Inverter", "Timeout"])
        if self.r.random() < 0.1 and "Sub" not in self.now:
            self.now.append("Sub")  # once: a tree cannot contain itself
            return '<SubTree ID="Sub" name="sub" _autoremap="true"/>' if depth else "<Do/>"
        if tag == "Inverter":
            return f"<Inverter>{self._node(depth)}</Inverter>"
        if tag == "Timeout":
            return f'<Timeout msec="35">{self._node(depth)}</Timeout>'
        return f"<{tag}>{''.join(self._several(depth, 1, 2))}</{tag}>"

    # -- what happens

    def _set(self, key: str, value: Any) -> None:
        for each in self.tree.subtrees:
            each.blackboard.set(key, value)

    def result(self, name: str) -> NodeStatus:
        if self.surprises and self.r.random() < 0.02:
            raise ValueError(f"{name} is broken")
        if self.surprises and self.r.random() < 0.01:
            self.tree.halt_tree()
        return NodeStatus[self.r.choice(RESULTS)]

    def step(self) -> None:
        """Let something happen, then look whether all is as it must be."""
        dice = self.r.random()
        if dice < 0.6:
            self._tick()
        elif dice < 0.85:
            key = self.r.choice("abc")
            self._set(key, self.r.random() < 0.5 if key == "a" else self.r.randrange(4))
        elif dice < 0.9:
            self.clock.now += 0.02
        elif dice < 0.92:
            self.halt()
        elif self.surprises:
            self.r.choice([self._unlock, self.restart, self._edit, self._edit, self._impose])()
        self.check()

    def _tick(self) -> None:
        self.clock.now += 0.01
        try:
            self.tree.tick_exactly_once()
        except BehaviorTreeError as error:
            if not any(each in str(error) for each in EXPECTED):
                self.wrong.append(f"{error}")
            if self.tree.root_node().status is RUNNING:
                self.tree.halt_tree()  # as whoever ticks a tree does

    def halt(self) -> None:
        self.tree.halt_tree()
        if [each for each in self.tree.nodes() if each.status is not IDLE]:
            self.wrong.append("not all are IDLE after a halt")
        if self.enters != self.exits or holders(self.tree):
            self.wrong.append(f"after a halt: {self.enters} entered, {self.exits} left")
        if self.tree.runtime.next_deadline() is not None:
            self.wrong.append("a timer is left after a halt")

    def _unlock(self) -> None:
        force_unlock(self.tree)

    def _impose(self) -> None:
        """A hook ends a node in the midst of its session, once."""
        chosen = self.r.choice(list(self.tree.nodes()))
        if not isinstance(chosen, Session):
            return

        def end(node: Any, status: NodeStatus) -> NodeStatus:
            node.set_post_tick(None)
            return NodeStatus.SUCCESS

        chosen.set_post_tick(end)

    def restart(self) -> None:
        """Another process takes over."""
        if self.edited:
            return  # it would read another file
        saved = json.loads(json.dumps(save_tree(self.tree)))
        self.tree = self.factory.create_tree_from_text(self.xml)
        restore_tree(self.tree, saved)
        self.editor = TreeEditor(self.tree, self.factory)

    def _edit(self) -> None:
        nodes = list(self.tree.nodes())
        first, second = self.r.choice(nodes), self.r.choice(nodes)
        fragment = self.r.choice(FRAGMENTS).format(n=self._name())
        edits = (
            lambda: self.editor.insert(first, self.r.randrange(3), fragment),
            lambda: self.editor.remove(first),
            lambda: self.editor.move(first, second, self.r.randrange(3)),
            self.editor.undo,
        )
        try:
            self.r.choice(edits)()
        except LoadError:
            return
        self.edited = True

    # -- what always holds

    def check(self) -> None:
        nodes = list(self.tree.nodes())
        sessions = [each for each in nodes if isinstance(each, Session)]
        entered = [each for each in sessions if each.entered]
        if self.enters - self.exits != len(entered):
            self.wrong.append(f"{self.enters} enters, {self.exits} exits, {len(entered)} inside")
        for each in entered:
            if each.status is IDLE:
                self.wrong.append(f"{each} is entered and IDLE")
            up = each._up
            while up is not None:
                if isinstance(up, Session) and not up.entered:
                    self.wrong.append(f"{each} is on no path, {up} is not entered")
                up = up._up
            if isinstance(each, Choosing | StateMachine):
                below = [child.name for child in each.children if getattr(child, "entered", 0)]
                if len(below) > 1:
                    self.wrong.append(f"{each} has entered {below}")
        locked = {each for each in sessions if each.locked}
        if locked != set(holders(self.tree)) or not locked <= set(entered):
            self.wrong.append(f"locked are {locked}, known {holders(self.tree)}")
        assert not self.wrong, f"seed {self.seed}: {self.wrong}\n{self.xml}"


class _Stage:
    """A factory for all lives, one after the other; to make it costs more than a tree."""

    life: Life

    def __init__(self) -> None:
        self.clock = Clock()
        self.factory = BehaviorTreeFactory(self.clock)
        for type_id, node_class in DECIDER_NODES.items():
            if issubclass(node_class, Session):
                node_class = _watched(node_class, self)
            self.factory.register_node_type(node_class, type_id)
        register_decider_nodes(self.factory)
        self.factory.register_node_type(_Do, "Do", self)


@functools.cache
def _stage() -> _Stage:
    return _Stage()


def _watched(node_class: Any, stage: _Stage) -> Any:
    class Watched(node_class):  # type: ignore[misc]
        def enter(self) -> None:
            stage.life.enters += 1
            super().enter()

        def exit(self) -> None:
            super().exit()
            stage.life.exits += 1
            for below in _below(self):
                if isinstance(below, Session) and below.entered:
                    stage.life.wrong.append(f"{self} is left before {below}")

    return Watched


def _below(node: Any) -> list[Any]:
    found = list(node.children)
    for child in node.children:
        found += _below(child)
    return found


class _Do(StatefulActionNode):
    restorable = ("_halt_requested",)

    def __init__(self, name: str, config: Any, stage: _Stage) -> None:
        super().__init__(name, config)
        self._stage = stage

    def on_start(self) -> NodeStatus:
        return self._stage.life.result(str(self.name))

    on_running = on_start


def live(seed: int, steps: int = 40) -> bool:
    """Let a random tree live, then halt it; False if there was no such tree.

    Raises:
        AssertionError: something does not hold
    """
    try:
        life = Life(seed)
    except LoadError:
        return False  # names of the tree inside, a lock of nothing
    for _ in range(steps):
        life.step()
    life.halt()
    life.check()
    return True


def lives_on(seed: int, steps: int = 25) -> bool:
    """A tree that is saved and restored between all steps goes on as one that is not.

    Raises:
        AssertionError: it does not
    """
    traces = []
    for restarts in (False, True):
        try:
            life = Life(seed, surprises=False)
        except LoadError:
            return False
        trace: list[Any] = []
        for _ in range(steps):
            life.step()
            if restarts:
                life.restart()
            trace.append([(each.uid(), each.status.name) for each in life.tree.nodes()])
            trace.append((life.enters, life.exits, [each.uid() for each in holders(life.tree)]))
        traces.append(trace)
    assert traces[0] == traces[1], f"seed {seed}"
    return True
