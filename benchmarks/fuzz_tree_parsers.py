# SPDX-License-Identifier: Apache-2.0
"""Throws mutated documents at the XML and script parsers of `behavior_tree` for a given time.

python benchmarks/fuzz_tree_parsers.py --target xml --seconds 600 --seed 1

An input is bad if anything but a `BehaviorTreeError` escapes, if it takes more than 2 s of the
processor (or 60 s by the clock: the machine may be busy), or if the memory keeps growing. Bad
inputs are written to ``--out``. The figures are printed as JSON; the exit code is 1 if there was a
bad input. Inputs are drawn from the seed alone, so a run can be repeated.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from xml.sax.saxutils import quoteattr

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    Blackboard,
    NodeStatus,
    PortDirection,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.decider import register_decider_nodes
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.quirks import MENDED, UPSTREAM_4_8
from behavior_tree.script import compile_script
from behavior_tree.stand_ins import make_factory
from behavior_tree.xml.edit import XmlEditor
from behavior_tree.xml.elements import CONDITION_ATTRIBUTES
from behavior_tree.xml.migrate import migrate

ROOT = Path(__file__).resolve().parents[1]
SLOW, STUCK = 2.0, 60.0
"""[s] of the processor, and by the clock, that one input may take."""
GROWTH = 64 * 2**20
"""[bytes] of resident memory by which the second half of a run may grow."""
MAX_INPUT = 200_000
WORDS = (
    *("<root", "<BehaviorTree", "<include", "<TreeNodesModel", "<Sequence>", "</Sequence>"),
    *("<Fallback>", "<SubTree", "<Inverter>", "</Inverter>", "<Action", "<Control", "<Switch2"),
    *('ID="', 'name="', 'path="', 'ros_pkg="', '_autoremap="', '_skipIf="', '_while="'),
    *('BTCPP_format="3"', 'BTCPP_format="4"', 'main_tree_to_execute="', "<!--", "-->", "<![CDATA["),
    *("]]>", "<?xml", "?>", "<!DOCTYPE", "<!ENTITY", "&amp;", "&lt;", "&#0;", "&#x110000;", "&a;"),
    *(
        "{=}",
        "{@",
        "{}",
        "}",
        '"',
        "'",
        "/>",
        "<",
        ">",
        "=",
        "{key}",
        "@",
        "\x00",
        "\x7f",
        "\ufffe",
    ),
    *("__shared_blackboard='true'", "<SequenceStar>", "<BlackboardCheckInt value_A='{a}'"),
    *("\ud800", "\U0001f600", "9" * 20, "-1", "1e999", "nan", "json:[", ";", "\r\n", "\t"),
)
SCRIPT_WORDS = (
    *(":=", "=", "+=", "-=", "*=", "/=", "+", "-", "*", "/", "..", "&", "|", "^", "~", "&&", "||"),
    *("!", "==", "!=", "<", ">", "<=", ">=", "?", ":", "(", ")", ";", "true", "false", "'text'"),
    *('"text"', "'", '"', "0x", "0xff", "1.5", "1.", ".5", "1e9", "1e999", str(2**63 - 1)),
    *(str(2**63), "a", "b", "s", "t_1", "@a", "@", "RED", "%", "\x00", "ä", "\n", "\t"),
)
CHILD_ROLES = {"Decider": "Case", "RLDS": "Rd", "StateMachine": "State"}
FITTING = {int: "2", Unsigned: "1", float: "0.5", bool: "true", str: "t", NodeStatus: "SUCCESS"}
VALUES = (
    "{a}",
    "{b}",
    "{=}",
    "{@a}",
    "1",
    "-1",
    "2",
    "0.5",
    "text",
    "true",
    "1;2;3",
    "SUCCESS",
    "",
)
SCRIPTS = (
    "battery := 80; speed = battery > 20 && !paused ? 1.5 : 0.2; label := 'v' .. speed",
    "a := 1; a += 2; b := a * 3 - -4 / (2 + 0.5)",
    "0 < a < 9 && s == 'text' || ~a & 3 | 4 ^ 5",
    "p := q := 4; s += 'x' .. 1.5; @g := a ? b : s",
    "m == RED ? 'red' : m != 0x1F ? 'other' : 'none'",
)


class Slow(Exception):
    """An input takes too long."""


def corpus() -> list[str]:
    """The repository's trees, and every document in the engine's tests."""
    found = [file.read_text() for file in sorted((ROOT / "trees").rglob("*.xml"))]
    for file in sorted((ROOT / "src/behavior_tree/test").rglob("*.py")):
        found += re.findall(r"<root\b.*?</root>", file.read_text(), re.S)
        found += [
            f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'
            for body in re.findall(r"'(<[A-Z].*>)'", file.read_text())
        ]
    return sorted(set(found))


def mutated(text: str, others: list[str], words: Sequence[str], draw: random.Random) -> str:
    """A text with one to eight changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.choice((0, 1, 3, 20, 200)))
        kind = draw.randrange(7)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:start] + draw.choice(words) + text[start:]
        elif kind == 2:
            text = text[:start] + draw.choice(words) + text[end:]
        elif kind == 3:
            text = text[:end] + text[start:end] * draw.choice((1, 2, 50, 2000)) + text[end:]
        elif kind == 4:
            text = text[:start] + chr(draw.choice((0, 9, 34, 39, 60, 127, 0xFFFF))) + text[end:]
        elif kind == 5:
            other = draw.choice(others)
            text = text[:start] + other[draw.randrange(len(other) + 1) :]
        else:
            swap = draw.randrange(len(text) + 1)
            text = text[:start] + text[swap : swap + 40] + text[end:]
        text = text[:MAX_INPUT]
    return text


def grown(draw: random.Random, *, networks: bool = False) -> str:
    """A document of a few trees that are mostly correct; ``networks``: with our own nodes."""
    factory = BehaviorTreeFactory()
    if networks:
        register_decider_nodes(factory)
        register_authoring_nodes(factory)
    manifests = list(factory.manifests().values())
    left = draw.choice((3, 10, 40))

    def attributes(manifest: TreeNodeManifest) -> str:
        text = ""
        for port in manifest.ports.values():
            if port.required or draw.random() < 0.4:
                key = draw.choice(("{a}", "{b}", "{=}", "{@a}"))
                value = draw.choice((key, FITTING.get(port.type, key)))
                if port.direction is PortDirection.OUTPUT:
                    value = key
                if port.name in manifest.script_ports:
                    value = draw.choice(SCRIPTS)
                text += f" {port.name}={quoteattr(value)}"
        if draw.random() < 0.2:
            text += f" {draw.choice(CONDITION_ATTRIBUTES)}={quoteattr(draw.choice(SCRIPTS))}"
        return text

    def node(tree: int, depth: int, role: str = "") -> str:
        nonlocal left
        left -= 1
        if not role and tree and draw.random() < 0.1:
            return f'<SubTree ID="T{draw.randrange(tree)}" x="{draw.choice(VALUES)}"/>'
        may_grow = left > 0 and depth < 8
        fitting = [each for each in manifests if role or may_grow or not each.min_children]
        alternatives = CHILD_ROLES.values()
        manifest = draw.choice(
            [each for each in fitting if (each.role if each.role in alternatives else "") == role]
        )
        tag = manifest.registration_id
        count = 0 if manifest.max_children == 0 else max(manifest.min_children, draw.randrange(4))
        count = min(count, manifest.max_children or count)
        wanted = CHILD_ROLES.get(manifest.role, "")
        below = "".join(node(tree, depth + 1, wanted) for _ in range(count))
        name = f' name="n{left}"' if role else ""
        return f"<{tag}{name}{attributes(manifest)}>{below}</{tag}>"

    trees = "".join(
        f'<BehaviorTree ID="T{index}">{node(index, 0)}</BehaviorTree>'
        for index in reversed(range(4))
    )
    return f'<root BTCPP_format="4" main_tree_to_execute="T3">{trees}</root>'


class XmlTarget:
    """Loads, builds, ticks once, lints, converts and edits documents."""

    def __init__(self) -> None:
        self.seeds = corpus()
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name) / "tree.xml"

    def draw(self, random_: random.Random) -> str:
        """An input."""
        text = (
            grown(random_, networks=random_.random() < 0.5)
            if random_.random() < 0.5
            else random_.choice(self.seeds)
        )
        if random_.random() < 0.1:
            return text
        return mutated(text, self.seeds, WORDS, random_)

    def __call__(self, text: str) -> str:
        """What came of it, in a word."""
        data = text.encode("utf-8", "surrogatepass")
        self._file.write_bytes(data)
        for consume in (migrate, XmlEditor):
            with contextlib.suppress(BehaviorTreeError):
                consume(data)
        factory = make_factory([self._file])
        return self._build(factory, text)

    def _build(self, factory: BehaviorTreeFactory, text: str) -> str:
        try:
            factory.register_behavior_tree_from_file(self._file)
        except BehaviorTreeError:
            self._text(text)
            return "refused"
        factory.load_warnings()
        result = "registered"
        for tree_id in factory.registered_behavior_trees()[:3]:
            try:
                tree = factory.create_tree(tree_id)
                tree.tick_exactly_once()
                tree.halt_tree()
                result = "ticked"
            except BehaviorTreeError:
                result = "not built"
        return result

    @staticmethod
    def _text(text: str) -> None:
        with contextlib.suppress(BehaviorTreeError):
            BehaviorTreeFactory(compat="4.8").create_tree_from_text(text)


class ScriptTarget:
    """Compiles scripts by both grammars and runs them."""

    seeds = list(SCRIPTS)

    def draw(self, random_: random.Random) -> str:
        """An input."""
        text = random_.choice(self.seeds)
        if random_.random() < 0.3:
            text = " ".join(random_.choice(SCRIPT_WORDS) for _ in range(random_.randrange(1, 30)))
        return mutated(text, self.seeds, SCRIPT_WORDS, random_)

    def __call__(self, text: str) -> str:
        """What came of it, in a word."""
        result = "refused"
        for quirks in (MENDED, UPSTREAM_4_8):
            board = Blackboard()
            board.types.enums["RED"] = 7
            for key, value in (("a", 1), ("b", 2.5), ("s", "text"), ("m", NodeStatus.SUCCESS)):
                board.set(key, value)
            try:
                script = compile_script(text, quirks)
            except BehaviorTreeError:
                continue
            result = "ran"
            for run in (script.run, script.test):
                try:
                    run(board)
                except BehaviorTreeError:
                    result = "failed"
        return result


def fuzz(
    target: XmlTarget | ScriptTarget,
    seed: int,
    out: Path,
    *,
    seconds: float = math.inf,
    inputs: float = math.inf,
) -> dict[str, object]:
    """Run inputs for a time [s], or so many; returns the figures."""
    draw, outcomes, bad = random.Random(seed), Counter[str](), 0
    begin = time.monotonic()
    slowest, halfway, memory = 0.0, 0, _resident()
    while (now := time.monotonic()) - begin < seconds and outcomes.total() < inputs:
        text, used = target.draw(draw), time.process_time()
        outcome, trouble = _watched(target, text)
        outcomes[outcome] += 1
        slowest = max(slowest, time.process_time() - used)
        if trouble:
            bad += 1
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{seed}-{bad}.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
            print(f"bad input {out}/{seed}-{bad}.txt: {trouble}", file=sys.stderr)
        if not halfway and now - begin > seconds / 2:
            gc.collect()
            halfway = _resident()
    gc.collect()
    growth = _resident() - halfway
    return {
        "inputs": outcomes.total(),
        "outcomes": dict(outcomes.most_common()),
        "bad": bad,
        "seconds": round(time.monotonic() - begin, 1),
        "slowest_cpu_s": round(slowest, 3),
        "resident_MiB": [round(each / 2**20, 1) for each in (memory, halfway, _resident())],
        "grows": growth > GROWTH,
    }


def _watched(target: Callable[[str], str], text: str) -> tuple[str, str]:
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    signal.setitimer(signal.ITIMER_REAL, STUCK)
    try:
        return target(text), ""
    except Slow:
        return "slow", f"too slow\n{traceback.format_exc(limit=-8)}"
    except Exception as error:
        return type(error).__name__, traceback.format_exc(limit=-8)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _resident() -> int:
    """Resident memory of this process [bytes]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def watch() -> None:
    """Have inputs that take too long interrupted, in the main thread."""
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _too_slow)


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise Slow


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=("xml", "script"), required=True)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    options = parser.parse_args()
    watch()
    target = XmlTarget() if options.target == "xml" else ScriptTarget()
    figures = fuzz(target, options.seed, options.out, seconds=options.seconds)
    print(json.dumps({"target": options.target, "seed": options.seed, **figures}, indent=1))
    return 1 if figures["bad"] or figures["grows"] else 0


if __name__ == "__main__":
    sys.exit(main())
