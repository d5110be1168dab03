# SPDX-License-Identifier: Apache-2.0
"""How well a language model turns 30 instructions into trees: `language_trees.yaml`.

Each instruction goes to the model as `behavior ask` would send it, with the nodes of a symbolic
world of blocks. The tree must hold together; then it is ticked, also from start states that the
model has not seen, and judged by where the blocks are at the end, which ones were touched, in which
order, and by its status. Some instructions must be refused.

Usage::

    python benchmarks/language_trees.py            # the model of BEHAVIOR_LANGUAGE_MODEL_URL
    python benchmarks/language_trees.py --stub     # known answers: are the judges right?
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from block_world import BlockWorld, make_factory
from pydantic import BaseModel, ConfigDict, Field

from behavior_assistant.chat import Model, model_of
from behavior_assistant.checked_trees import CheckedTree, TreeChecker
from behavior_assistant.composing import compose
from behavior_assistant.errors import LanguageModelError, UnusableAnswerError
from behavior_assistant.script import Script
from behavior_assistant.settings import settings_from
from behavior_bringup.evaluation.statistics import wilson
from behavior_tree import BehaviorTreeError, NodeStatus

FILE = Path(__file__).with_suffix(".yaml")
MOST_TICKS = 200

Verdict = Literal["right", "wrong", "refused", "unusable"]


class Expectation(BaseModel):
    """What must be true at the end."""

    model_config = ConfigDict(extra="forbid")

    status: str = "SUCCESS"
    at: dict[str, str] = {}
    """Where blocks are."""
    held: str | None = None
    """Empty: nothing; None: whatever."""
    untouched: list[str] = []
    order: list[str] | None = None
    """All grasps, in order."""
    least_grasps: int = 0
    most_grasps: int = 1000


class Case(BaseModel):
    """A start state, what goes wrong, and what is expected."""

    model_config = ConfigDict(extra="forbid")

    start: dict[str, str]
    slips: dict[str, int] = {}
    interventions: dict[int, dict[str, str]] = {}
    expect: Expectation = Expectation()

    def world(self) -> BlockWorld:
        """A world in the start state."""
        return BlockWorld(
            places=dict(self.start), slips=dict(self.slips), interventions=dict(self.interventions)
        )


class Instruction(BaseModel):
    """One instruction with its judge, and known answers."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: str
    instruction: str
    refuse: bool = False
    cases: list[Case] = Field(min_length=1)
    right: str = ""
    wrong: list[str] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of an instruction."""

    id: str
    kind: str
    verdict: Verdict
    expected: Verdict
    why: str
    attempts: int = 0
    xml: str = field(default="", repr=False)

    @property
    def passed(self) -> bool:
        """Whether the model did as it should."""
        return self.verdict == self.expected


def load(file: Path = FILE) -> list[Instruction]:
    """The instructions of a file; raises ValidationError."""
    return [Instruction.model_validate(each) for each in yaml.safe_load(file.read_text("utf-8"))]


def make_checker() -> TreeChecker:
    """Checks trees against the nodes of the block world."""
    return TreeChecker(lambda: make_factory(BlockWorld({})), [])


def answer_one(instruction: Instruction, model: Model, checker: TreeChecker) -> Result:
    """Have a model answer an instruction, and judge what it answers.

    Raises:
        LanguageModelError: the model cannot be reached.
    """
    expected: Verdict = "refused" if instruction.refuse else "right"

    def result(verdict: Verdict, why: str, **more: Any) -> Result:
        return Result(
            id=instruction.id,
            kind=instruction.kind,
            verdict=verdict,
            expected=expected,
            why=why,
            **more,
        )

    objects = instruction.cases[0].world().objects()
    try:
        composed = compose(instruction.instruction, model=model, checker=checker, objects=objects)
    except UnusableAnswerError as error:
        return result("unusable", str(error))
    if composed.tree is None:
        return result("refused", composed.explanation, attempts=composed.attempts)
    faults = [why for case in instruction.cases if (why := judge(composed.tree, case))]
    verdict: Verdict = "wrong" if faults or instruction.refuse else "right"
    why = "; ".join(faults) or ("it should be refused" if instruction.refuse else "")
    return result(verdict, why, attempts=composed.attempts, xml=composed.tree.xml)


def judge(tree: CheckedTree, case: Case) -> str:
    """What is wrong with a tree in one start state, in words; empty: nothing."""
    world = case.world()
    try:
        status = run(tree, world)
    except BehaviorTreeError as error:
        return f"the tree broke: {error}"
    return "; ".join(faults_of(world, status, case))


def run(tree: CheckedTree, world: BlockWorld) -> NodeStatus:
    """Tick a tree on a world until it ends, or for so many ticks."""
    made = make_factory(world).create_tree_from_text(tree.xml)
    status = NodeStatus.RUNNING
    for _ in range(MOST_TICKS):
        status = made.tick_exactly_once()
        if status is not NodeStatus.RUNNING:
            break
        world.pass_time()
    made.halt_tree()
    return status


def faults_of(world: BlockWorld, status: NodeStatus, case: Case) -> list[str]:
    """What is not as expected at the end."""
    expect, found = case.expect, []
    if status.name != expect.status:
        found.append(f"the tree ended with {status.name}, not {expect.status}")
    for block, place in expect.at.items():
        if world.places.get(block) != place:
            found.append(f"{block} is on {world.places.get(block)}, not on {place}")
    if expect.held is not None and world.held != expect.held:
        found.append(f"the hand holds '{world.held}', not '{expect.held}'")
    if touched := set(expect.untouched) & set(world.picked):
        found.append(f"touched {', '.join(sorted(touched))}")
    if expect.order is not None and world.picked != expect.order:
        found.append(f"grasped {world.picked}, not {expect.order}")
    if not expect.least_grasps <= len(world.picked) <= expect.most_grasps:
        found.append(f"grasped {len(world.picked)} times")
    return found


def whole(inside: str) -> str:
    """A tree of the known answers."""
    return f'<root BTCPP_format="4"><BehaviorTree ID="Main">{inside}</BehaviorTree></root>'


def known_answer(inside: str) -> Script:
    """A model that gives one tree whatever it is asked; of nothing it makes a refusal."""
    answer = {"can_be_done": bool(inside), "explanation": "known"}
    return Script([(".", [{**answer, "xml": whole(inside)} if inside else answer])])


def try_judges(instructions: Sequence[Instruction]) -> list[str]:
    """What the judges say wrongly of known answers; none: they are right in both directions."""
    checker, mistakes = make_checker(), []
    for each in instructions:
        right = answer_one(each, known_answer("" if each.refuse else each.right), checker)
        if not right.passed:
            mistakes.append(f"{each.id}: a right answer counts as {right.verdict}: {right.why}")
        mistakes += [
            f"{each.id}: a wrong answer counts as right: {inside}"
            for inside in each.wrong
            if answer_one(each, known_answer(inside), checker).passed
        ]
    return mistakes


def report(results: Sequence[Result]) -> str:
    """What came out, as lines."""
    lines = [f"{r.id:20} {'ok' if r.passed else 'FAULT':6} {r.verdict:9} {r.why}" for r in results]
    for kind in dict.fromkeys(each.kind for each in results):
        of_kind = [each for each in results if each.kind == kind]
        lines.append(f"{kind:10} {sum(r.passed for r in of_kind)} of {len(of_kind)}")
    done = sum(each.passed for each in results)
    sure = wilson(done, len(results))
    lines.append(
        f"all        {done} of {len(results)}"
        f" (95 % confidence: {100 * sure.low:.0f} to {100 * sure.high:.0f} %)"
    )
    return "\n".join(lines)


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stub", action="store_true", help="known answers: are the judges right?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    options = parser.parse_args()
    instructions = load()
    if options.stub:
        mistakes = try_judges(instructions)
        answers = sum(1 + len(each.wrong) for each in instructions)
        print("\n".join(mistakes) or f"the judges are right about all {answers} known answers")
        return 1 if mistakes else 0
    try:
        model = model_of(settings_from())
        checker = make_checker()
        results = [answer_one(each, model, checker) for each in instructions]
    except LanguageModelError as error:
        print(f"{error}; or take --stub", file=sys.stderr)
        return 1
    print(report(results))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in results], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
