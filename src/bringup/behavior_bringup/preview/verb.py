# SPDX-License-Identifier: Apache-2.0
"""What `behavior preview` does."""

from __future__ import annotations

import argparse
import sys
import uuid
from typing import TYPE_CHECKING

from rich.console import Console

from behavior_bringup.stacks.stack import Stack
from behavior_bringup.terminal import say, say_verdict

if TYPE_CHECKING:
    from behavior_bringup.preview.live_state import LiveState
    from behavior_bringup.preview.report import Preview
    from behavior_bringup.preview.trees import MissionTrees


def preview(options: argparse.Namespace) -> int:
    """Run a mission in a copy of the simulated world, and tell how it went there.

    The real stack waits untouched. Exit code 0: it would succeed; with --approve: it did.
    """
    from behavior_bringup.missions.progress import ProgressDisplay
    from behavior_bringup.preview.ghost import shown_path
    from behavior_bringup.preview.run import PreviewOptions, preview_mission

    stack, console = Stack(options.stack), Console()
    with ProgressDisplay(console) as display:
        found = preview_mission(
            stack,
            options.mission,
            dict(options.param),
            PreviewOptions(
                limit=options.limit,
                world=options.world or "",
                fresh=options.fresh,
                namespace=options.namespace,
            ),
            display=display,
            say=display.note,
        )
    show(found, console)
    if options.json:
        found.write(options.json)
    if not found.success:
        return 1
    asked = sys.stdin.isatty() and console.is_terminal
    if not (options.approve or asked):
        return 0
    with shown_path(stack, found, options.namespace):
        if not may_run(stack, found, options, console, asked=asked):
            return 1 if options.approve else 0
        return execute(stack, found, options, console)


def show(found: Preview, console: Console) -> None:
    """Print a preview."""
    for line in found.lines():
        say(line, console)
    what = f"{found.mission} would {'succeed' if found.success else 'fail'}"
    say_verdict(found.success, f"{what} after {found.duration:.1f} s. {found.reason}", console)


def may_run(
    stack: Stack,
    found: Preview,
    options: argparse.Namespace,
    console: Console,
    *,
    asked: bool,
) -> bool:
    """Whether the mission may run for real: nothing has changed, or a person says so.

    Who takes his time to answer is asked again if something has changed meanwhile.
    """
    now = _look(stack, found, options.namespace)
    changed = _changes((found.begin, found.trees), now, options.tolerance)
    for line in changed:
        say(f"Changed since: {line}.", console)
    if options.approve and not changed:
        return True
    if not asked:
        say("It is not run: what was previewed would not happen. Preview it again.", console)
        return False
    question = f"Run {found.mission} for real? [y/N] "
    while console.input(question, markup=False).strip().lower() in ("y", "yes"):
        told, now = now, _look(stack, found, options.namespace)
        changed = _changes(told, now, options.tolerance)
        if not changed:
            return True
        for line in changed:
            say(f"Changed while you decided: {line}.", console)
    return False


def _look(stack: Stack, found: Preview, namespace: str) -> tuple[LiveState, MissionTrees]:
    from behavior_bringup.preview.run import observed, trees_now

    return observed(stack, namespace), trees_now(stack, found, namespace)


def _changes(
    before: tuple[LiveState, MissionTrees], now: tuple[LiveState, MissionTrees], distance: float
) -> list[str]:
    """What is not as it was in world and trees, a sentence each."""
    from behavior_bringup.preview.differences import Tolerances, differences
    from behavior_bringup.preview.trees import tree_changes

    changed = differences(before[0], now[0], Tolerances(distance=distance))
    return [*changed, *tree_changes(before[1], now[1])]


def execute(stack: Stack, found: Preview, options: argparse.Namespace, console: Console) -> int:
    """Run the mission for real, and tell where it went otherwise than previewed.

    Trees are looked at once more: the executor tells of edits since it has accepted the mission,
    and one may have come between the last look and that.
    """
    from behavior_bringup.preview.agreement import agreement
    from behavior_bringup.preview.motions import handed_over
    from behavior_bringup.preview.run import observed, run_for_real, trees_now
    from behavior_bringup.preview.trees import tree_changes

    mission = uuid.uuid4().hex[:12]
    with handed_over(stack, mission, found.motions_text, options.namespace) as choices:
        outcome = run_for_real(stack, found, mission, options.namespace, console)
    for line in tree_changes(found.trees, trees_now(stack, found, options.namespace)):
        say(f"Changed since the preview: {line}.", console)
    for line in choices.lines():
        say(line, console)
    end = observed(stack, options.namespace)
    for line in agreement(found, outcome.duration, end):
        say(line, console)
    say_verdict(outcome.succeeded, f"{found.mission}: {outcome.message}", console)
    return 0 if outcome.succeeded else 1


def preview_server(options: argparse.Namespace) -> int:
    """Serve the action /mission/preview until Ctrl-C: goals and results are those of
    /mission/execute, and each goal is previewed as 'behavior preview' does.
    """
    from behavior_bringup.preview.server import PreviewServer
    from behavior_bringup.security.policy import enclave_arguments
    from behavior_bringup.stacks.connection import EXECUTOR, enter
    from behavior_ros import run

    enter(options.stack, EXECUTOR)
    arguments = ["--ros-args", *enclave_arguments("operator")]
    if options.namespace:
        arguments += ["-r", f"__ns:={options.namespace}"]
    say("Previews are served on mission/preview until Ctrl-C.")
    return run([lambda: PreviewServer(options.stack)], args=arguments)
