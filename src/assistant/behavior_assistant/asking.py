# SPDX-License-Identifier: Apache-2.0
"""What `behavior ask` does."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from rich.console import Console

from behavior_assistant.assembly import audit_of, make_catalogue
from behavior_assistant.chat import Model, model_of
from behavior_assistant.checked_trees import name_mistake
from behavior_assistant.composing import compose
from behavior_assistant.episodes import MOST_EPISODES, SimulatedWorld, episode_line, summary
from behavior_assistant.errors import LanguageModelError
from behavior_assistant.proposals import Proposals
from behavior_assistant.settings import settings_from
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.terminal import say, sentence
from behavior_packages.folders import proposals_folder


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What an instruction needs, so that a test can do without a simulation."""

    model: Model
    proposals: Proposals
    world: Callable[[], AbstractContextManager[SimulatedWorld]]
    """Brings the simulated world up, in which trees are tried."""
    say: Callable[[str], None]
    episodes: int = 5
    attempts: int = 3


def ask(instruction: str, mission: str, asking: Asking) -> tuple[bool, str]:
    """Have a tree written and tried; it is proposed with how it did, and never run.

    Args:
        instruction: in plain words.
        mission: name of the proposal's mission.
        asking: what is needed.

    Returns:
        Whether there is a proposal, and its identifier or why there is none, in a sentence.

    Raises:
        LanguageModelError: there is no tree without a fault.
        BringupError: the simulation breaks.
    """
    with asking.world() as world:
        composed = compose(
            instruction,
            model=asking.model,
            checker=world.checker(),
            objects=world.objects(),
            attempts=asking.attempts,
        )
        if composed.tree is None:
            return False, f"there is no tree: {composed.explanation}"
        asking.say(composed.explanation)
        asking.say(composed.tree.xml)
        found = world.run(
            composed.tree, asking.episodes, lambda episode: asking.say(episode_line(episode))
        )
    trial = summary(found)
    asking.say(sentence(trial))
    proposal = asking.proposals.add(
        author="behavior ask",
        mission=mission,
        tree=composed.tree,
        reason=instruction,
        trial=f"{trial}; attempts: {composed.attempts}",
    )
    return True, f"it waits for you: behavior proposals approve {proposal.id}"


def ask_and_propose(options: argparse.Namespace, world: str) -> tuple[bool, str]:
    """`ask`, with what the command line names.

    Raises:
        BringupError: it cannot be done.
    """
    from behavior_assistant.simulated_stack import simulated_stack

    if options.episodes > MOST_EPISODES:
        raise UsageError(f"--episodes is {MOST_EPISODES} at most")
    if mistake := name_mistake(options.mission, make_catalogue(options.stack).names()):
        raise UsageError(mistake)
    folder, console = proposals_folder(), Console()
    try:
        settings = settings_from()
        if options.script:
            settings = replace(settings, script=str(options.script))
        asking = Asking(
            model=model_of(settings),
            proposals=Proposals(folder, audit_of(folder)),
            world=lambda: simulated_stack(world, speed=0.0),
            say=lambda text: say(text, console),
            episodes=options.episodes,
            attempts=options.attempts,
        )
        return ask(options.instruction, options.mission, asking)
    except LanguageModelError as error:
        raise BringupError(sentence(str(error))) from error
