# SPDX-License-Identifier: Apache-2.0
"""Random trees with their history, for `conformance_kit`."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

from conformance_scripts import Scripts

SHORT_MS = 10
LONG_MS = 1_000_000
CONTROLS = (
    *("Sequence", "AsyncSequence", "SequenceWithMemory", "ReactiveSequence", "Fallback"),
    *("AsyncFallback", "ReactiveFallback", "Parallel", "ParallelAll", "IfThenElse", "WhileDoElse"),
    *("Switch2", "Switch3", "Switch4", "Switch5", "Switch6"),
)
DECORATORS = (
    *("Inverter", "ForceSuccess", "ForceFailure", "KeepRunningUntilFailure", "RunOnce"),
    *("RetryUntilSuccessful", "Repeat", "Precondition", "LoopInt", "LoopString", "LoopBool"),
    *("LoopDouble", "Deco", "Deco", "Delay", "Timeout", "SkipUnlessUpdated", "WaitValueUpdate"),
)
RESTARTING = ("ReactiveSequence", "ReactiveFallback", "WhileDoElse", "KeepRunningUntilFailure")
"""Together with yielding nodes these, and loops, may ask for another tick for ever."""
CALM_CONTROLS = tuple(tag for tag in CONTROLS if tag not in RESTARTING)
CALM_DECORATORS = tuple(
    tag for tag in DECORATORS if tag not in RESTARTING and not tag.startswith("Loop")
)
ENDING_CONTROLS = ("Sequence", "AsyncSequence", "SequenceWithMemory", "Fallback", "AsyncFallback")
ENDING_DECORATORS = ("Inverter", "ForceSuccess", "ForceFailure", "RetryUntilSuccessful", "Repeat")
"""With leaves that end, these end."""
LOOP_VALUES = {"LoopInt": "{li}", "LoopString": "{ls}", "LoopBool": "{lb}", "LoopDouble": "{ld}"}
LOOP_QUEUES = {"LoopBool": ["true;false", "1;0;1"], "LoopDouble": ["0.5;2", "1;2.25;3"]}
BEFORE = ("_failureIf", "_successIf", "_skipIf", "_while")
AFTER = ("_onHalted", "_onFailure", "_onSuccess", "_post")
RUNS = ("num_cycles", "num_attempts")
GETTERS = ("get_int", "get_double", "get_bool", "get_string")
# What callbacks may return besides a status. Numbers that are no status become an invalid C++ enum
# value upstream: undefined, left out. So is "halt tree", a callback that halts its own tree within
# the tick: specialised ticks of the nodes above do not all notice it as upstream's do.
ODD_RESULTS = (
    *("name", "True", "False", "int", "bad", "object", "None", "raise", "IDLE", "RUNNING"),
    *("output", "halt"),
)


@dataclass
class Case:
    """One random tree with its history."""

    seed: int
    xml: str
    steps: list[tuple[str, Any]]
    results: dict[str, list[str]]
    """What each leaf and simple decorator returns, call by call, again and again."""
    writes: dict[str, list[tuple[str, str, Any]]] = field(default_factory=dict)
    """What some leaves do with their blackboard at each call: method, key, value."""
    timed: bool = False
    """True if timers expire within the steps."""
    main: str | None = None
    """Tree to create after the document was registered; None creates from the text at once."""
    board: list[tuple[str, str, Any]] | None = None
    """Writes to an external blackboard that all instances share; None: each makes its own."""
    parent: bool = False
    """True if the external blackboard has a parent, which gets the writes."""
    instances: int = 1
    """Trees made from the same factory."""


class Generator:
    """Makes cases; every choice comes from one random stream."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.r = random.Random(seed)
        self.leaves = 0
        self.results: dict[str, list[str]] = {}
        self.writes: dict[str, list[tuple[str, str, Any]]] = {}
        self.trees: dict[str, str] = {}
        self.timed = False
        self.timers = self.r.random() < 0.06
        self.conditions = self.r.random() < 0.6
        self.subtrees = self.r.randrange(4)
        self.endless = self.r.random() < 0.5
        self.finite = not self.endless and self.r.random() < 0.4
        self.wild = self.r.choice([0.0, 0.0, 0.05, 0.2])
        self.scripts = Scripts(self.r, self.wild)

    def case(self) -> Case:
        r = self.r
        for number in range(self.subtrees, 0, -1):
            self.trees[f"T{number}"] = self.node(r.randrange(1, 4), number)
        main = self.node(r.randrange(1, 5), 0)
        trees = "".join(f'<BehaviorTree ID="{k}">{v}</BehaviorTree>' for k, v in self.trees.items())
        xml = (
            '<root BTCPP_format="4" main_tree_to_execute="Main">'
            f'<BehaviorTree ID="Main">{main}</BehaviorTree>{trees}{self.models()}</root>'
        )
        case = Case(self.seed, xml, [], self.results, self.writes)
        if r.random() < 0.2:
            case.main = "Main"
        if r.random() < 0.15:
            # One write per key: the types rules of a blackboard are those of the tree that has it,
            # and before there is one, those of default mode.
            case.board = list(
                {write[1].strip("@"): write for write in [self.write(), self.write()]}.values()
            )
            case.parent = r.random() < 0.3
        if r.random() < 0.08 and not self.timed:
            case.instances = 2
        case.timed = self.timed
        case.steps = self.steps()
        return case

    def steps(self) -> list[tuple[str, Any]]:
        r = self.r
        steps: list[tuple[str, Any]] = [("write", ("set_int", "a", r.randrange(4)))]
        steps += [("write", ("set_int", "b", r.randrange(4)))]
        steps += [("write", ("set_double", "c", 0.5)), ("write", ("set_string", "s", "x"))]
        for _ in range(r.randrange(3, 12)):
            dice = r.random()
            if dice < 0.72:
                steps.append(("tick", None))
            elif dice < 0.80 and not self.endless:
                # Else a node without end would tick for ever.
                steps.append(("run" if self.finite else "tick_once", None))
            elif dice < 0.89:
                steps.append(("halt", None))
            elif dice < 0.90:
                steps.append((r.choice(["halt_root", "execute_root"]), None))
            else:
                steps.append(("write", self.write()))
        return steps

    def write(self) -> tuple[str, str, Any]:
        """Something done with a blackboard: method, key, value."""
        r = self.r
        if r.random() < 0.7 or not self.wild:
            return "set_int", r.choice("ab"), r.randrange(4)
        key = r.choice(["a", "b", "c", "d", "s", "f", "q", "fresh", "@a", "@g", "_p", "li"])
        value: Any = {
            "set_int": r.randrange(-2, 4),
            "set_double": r.choice([0.0, 1.0, 2.5, -1.0, 1e20]),
            "set_bool": r.random() < 0.5,
            "set_string": r.choice(["x", "1", "2.5", "true", "", "1;2;3", "SUCCESS", "0x1", "-7"]),
        }
        method = r.choice([*value, *GETTERS, "unset"])
        return method, key, value.get(method)

    def models(self) -> str:
        """A TreeNodesModel with ports and defaults of some SubTrees."""
        r = self.r
        if not self.subtrees or r.random() < 0.85:
            return ""
        ports = "".join(
            f"<{r.choice(['input_port', 'output_port', 'inout_port'])} name={quoteattr(name)}"
            + r.choice(['default="{b}"', 'default="7"', 'default="{=}"', "", 'default="t"']).join(
                [" ", "/>"]
            )
            for name in r.sample(["a", "b", "p", "s"], r.randrange(3))
        )
        return f'<TreeNodesModel><SubTree ID="T1">{ports}</SubTree></TreeNodesModel>'

    # -- nodes

    def node(self, depth: int, tree: int) -> str:
        dice = self.r.random()
        if depth <= 0 or dice < 0.2:
            return self.leaf(tree)
        if dice < 0.62:
            return self.control(depth - 1, tree)
        if dice < 0.92 or tree >= self.subtrees:
            return self.decorator(depth - 1, tree)
        return self.subtree(tree)

    def element(self, tag: str, children: str, ports: dict[str, Any]) -> str:
        """An element with conditions, now and then with a name or in the explicit form."""
        r = self.r
        attributes = {key: str(value) for key, value in ports.items()}
        if self.conditions and r.random() < 0.25:
            attributes |= {name: self.scripts.condition() for name in BEFORE if r.random() < 0.25}
            for name in AFTER:
                if r.random() < 0.25:
                    # Upstream runs _onHalted in a destructor: an error there ends the process.
                    safe = f"h := {r.randrange(9)}"
                    attributes[name] = safe if name == "_onHalted" else self.scripts.statement()
        if "name" not in attributes and r.random() < 0.05:
            attributes["name"] = r.choice(["n1", "n 2", tag, "a/b", "x.y"])
        kind = None
        if r.random() < 0.03 and tag != "SubTree":
            kind = r.choice(["Action", "Condition", "Control", "Decorator"])
        start = tag if kind is None else f'{kind} ID="{tag}"'
        text = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
        if not children:
            return f"<{start}{text}/>"
        return f"<{start}{text}>{children}</{kind or tag}>"

    def children(self, depth: int, tree: int, low: int, high: int) -> str:
        return "".join(self.node(depth, tree) for _ in range(self.r.randint(low, high)))

    def control(self, depth: int, tree: int) -> str:
        r = self.r
        calm = ENDING_CONTROLS if self.finite else CALM_CONTROLS
        tag = r.choice(CONTROLS if self.endless else calm)
        ports: dict[str, Any] = {}
        low, high = 1, 4
        if tag == "Parallel":
            if r.random() < 0.7:
                ports["success_count"] = r.choice([-3, -2, -1, 0, 1, 2, 3, "{a}"])
            if r.random() < 0.7:
                ports["failure_count"] = r.choice([-2, -1, 0, 1, 2, "{b}"])
        elif tag == "ParallelAll" and r.random() < 0.7:
            ports["max_failures"] = r.choice([-2, -1, 0, 1, 2, "{a}"])
        elif tag in ("IfThenElse", "WhileDoElse"):
            low, high = 2, 3
        elif tag.startswith("Switch"):
            low = high = int(tag[-1]) + 1
            if r.random() < 0.9:
                ports["variable"] = r.choice(["{a}", "{s}", "{b}", "1", "{nothing}", "{c}", "{@a}"])
            for case in range(1, high):
                if r.random() < 0.9:
                    values = ["0", "1", "2", "x", "1.0", "{b}", "1x", " 2", "5e-1", ""]
                    ports[f"case_{case}"] = r.choice(values)
        if self.r.random() < self.wild / 4:
            low, high = 1, 5
        return self.element(tag, self.children(depth, tree, low, high), ports)

    def decorator(self, depth: int, tree: int) -> str:
        r = self.r
        calm = ENDING_DECORATORS if self.finite else CALM_DECORATORS
        tag = r.choice(DECORATORS if self.endless else calm)
        ports: dict[str, Any] = {}
        if tag == "RetryUntilSuccessful":
            ports["num_attempts"] = self.runs(["{n}"])
        elif tag == "Repeat":
            ports["num_cycles"] = self.runs(["{b}"])
        elif tag == "RunOnce" and r.random() < 0.5:
            ports["then_skip"] = r.choice(["true", "false", "0", "1", "{f}"])
        elif tag == "Precondition":
            ports["if"] = self.scripts.condition()
            if r.random() < 0.7:
                ports["else"] = r.choice(["SUCCESS", "FAILURE", "SKIPPED", "RUNNING", "{e}"])
        elif tag.startswith("Loop"):
            ports = self.loop(tag)
        elif tag == "Deco":
            ports["name"] = self.name()
            self.results[ports["name"]] = self.decorations()
        elif tag == "Delay":
            ports["delay_msec"] = self.duration()
        elif tag == "Timeout":
            ports["msec"] = self.duration(zero=True)
        elif tag in ("SkipUnlessUpdated", "WaitValueUpdate"):
            ports["entry"] = r.choice(["{a}", "{b}", "b", "{zz}", "@a", "{s}"])
        return self.element(tag, self.node(depth, tree), ports)

    def runs(self, entries: list[str]) -> int | str:
        if not self.endless:
            return self.r.choice([0, 1, 2, 3])
        return self.r.choice([-1, 0, 1, 2, 3, 3, *entries])

    def loop(self, tag: str) -> dict[str, Any]:
        r = self.r
        queue = r.choice(LOOP_QUEUES.get(tag, ["1;2;3", "4", "1;2", ""]))
        ports = {"queue": "{q}" if r.random() < 0.2 else queue}
        if r.random() < 0.5:
            ports["if_empty"] = r.choice(["SUCCESS", "FAILURE", "SKIPPED", "RUNNING"])
        if r.random() < 0.7:
            ports["value"] = LOOP_VALUES[tag]
        return ports

    def duration(self, zero: bool = False) -> int:
        if zero and self.r.random() < 0.3:
            return 0
        if self.timers and self.r.random() < 0.6:
            self.timed = True
            return SHORT_MS
        return LONG_MS

    def subtree(self, tree: int) -> str:
        r = self.r
        target = r.randint(tree + 1, self.subtrees)
        ports: dict[str, Any] = {"ID": f"T{target}"}
        for key in ("a", "b", "s", "p", "q"):
            if r.random() < 0.4:
                values = [
                    "{a}",
                    "{b}",
                    "{s}",
                    "{=}",
                    "7",
                    "text",
                    "{c}",
                    "{@a}",
                    "{fresh}",
                    "",
                    "=",
                ]
                ports[key] = r.choice(values)
        if r.random() < 0.5:
            ports["_autoremap"] = r.choice(["true", "1", "false"])
        if r.random() < 0.2:
            ports["name"] = r.choice(["n1", "n2", f"T{target}", "x y"])
        return self.element("SubTree", "", ports)

    # -- leaves

    def name(self) -> str:
        self.leaves += 1
        return f"L{self.leaves}"

    def leaf(self, tree: int) -> str:
        r = self.r
        dice = r.random()
        if dice < 0.6:
            return self.callback()
        if dice < 0.68:
            return self.element(r.choice(["AlwaysSuccess", "AlwaysFailure"]), "", {})
        if dice < 0.78:
            return self.element("Script", "", {"code": self.scripts.code()})
        if dice < 0.88:
            return self.element("ScriptCondition", "", {"code": self.scripts.condition()})
        if dice < 0.92:
            value = r.choice(["3", "x", "{a}", "{s}", "2.5", "{zz}", "true", "1;2", "{q}", "{=}"])
            keys = ["a", "b", "s", "fresh", "{s}", "c", "q", "@a", "@g", "f", "_p", "e"]
            return self.element("SetBlackboard", "", {"value": value, "output_key": r.choice(keys)})
        if dice < 0.94:
            return self.element("UnsetBlackboard", "", {"key": r.choice(["d", "fresh", "s", "q"])})
        if dice < 0.97:
            entry = r.choice(["{a}", "{b}", "s", "{zz}", "@a", "{f}"])
            return self.element("WasEntryUpdated", "", {"entry": entry})
        if self.finite:
            return self.element("AlwaysSuccess", "", {})
        return self.element("Sleep", "", {"msec": self.duration(zero=True)})

    def callback(self) -> str:
        """A leaf of the user."""
        r = self.r
        tag = r.choice(["Act", "Cond", "State", "State", "Bare"])
        name = self.name()
        options = ["SUCCESS", "SUCCESS", "FAILURE"]
        if tag in ("State", "Bare"):
            options += ["RUNNING", "RUNNING"]
        elif tag == "Cond" and r.random() < 0.1:
            options.append("RUNNING")
        if r.random() < 0.3:
            options.append("SKIPPED")
        self.results[name] = [r.choice(options) for _ in range(r.randint(1, 6))]
        if self.finite:
            self.results[name].append("SUCCESS")
        if r.random() < self.wild / 2:
            self.results[name].append(r.choice(ODD_RESULTS))
        if r.random() < 0.1 + self.wild:
            self.writes[name] = [self.write() for _ in range(r.randint(1, 3))]
        return self.element(tag, "", {"name": name})

    def decorations(self) -> list[str]:
        """Results of a simple decorator; ``child`` passes that of the child on."""
        r = self.r
        if r.random() < 0.6 or not self.endless:
            return ["child"]
        options = ["child", "SUCCESS", "FAILURE", "RUNNING", "SKIPPED"]
        return [r.choice(options) for _ in range(r.randint(1, 4))]
