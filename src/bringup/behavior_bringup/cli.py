# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command `behavior`; `ros2 bt` hands its arguments over to it.

Exit codes: 0 done, 1 it did not work, 2 the request was wrong. Every error is one sentence.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console

from behavior_bringup.arguments.completion import complete
from behavior_bringup.commands.create import add_create
from behavior_bringup.commands.offered_commands import add_offered
from behavior_bringup.commands.packages_cli import add_packages
from behavior_bringup.commands.robot_cli import add_robot
from behavior_bringup.commands.stack_cli import add_stack_verbs
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation.cli import add_evaluate, joined
from behavior_bringup.jobs.job_cli import add_job_verbs
from behavior_bringup.missions.mission_cli import add_mission
from behavior_bringup.preview.cli import add_preview, add_preview_server
from behavior_bringup.scene.scene_cli import add_scene
from behavior_bringup.security.cli import add_security
from behavior_bringup.stacks.addressing import address
from behavior_bringup.suggestions import did_you_mean
from behavior_bringup.teaching.cli import add_teach
from behavior_bringup.terminal import say
from behavior_bringup.tree_nodes import register_suite_nodes
from behavior_bringup.version import version
from behavior_tree.cli import add_commands

_EXAMPLES = """\
examples:
  behavior up                          bring the stack up in the background
  behavior mission run NAME            run a mission and watch it
  behavior down                        stop everything
  behavior demo                        all of that in one go, with a picture
  behavior evaluate NAME --episodes 20 --json out/evaluation.json
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}: see '{self.prog} --help'")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Suggest the nearest of the choices."""
        if action.choices is not None and value not in action.choices:
            question = did_you_mean(str(value), action.choices)
            listed = f"choose from {', '.join(action.choices)}"
            raise argparse.ArgumentError(
                action, f"invalid choice: '{value}' ({question or listed})"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = _Parser(
        prog="behavior",
        description="Brings robot behavior stacks up and drives them.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"behavior {version()}")
    add_verbs(parser)
    complete(parser)
    return guarded(lambda: dispatch(parser, parsed(parser, arguments)))


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; verbs that have `extra` among their defaults get what nobody knows."""
    words = sys.argv[1:] if arguments is None else arguments
    options, extra = parser.parse_known_args(joined(words))
    if extra and not hasattr(options, "extra"):
        parser.error(f"unrecognized arguments: {' '.join(extra)}")
    options.extra = extra
    return options


def guarded(action: Callable[[], int]) -> int:
    """Run an action; turn its errors and Ctrl-C into a sentence and an exit code."""
    errors = Console(stderr=True)
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    # What was told to ignore Ctrl-C, such as a job in the background, goes on ignoring it.
    heeded = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    previous = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        return action()
    except BringupError as error:
        say(f"behavior: {error}", errors)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return _say_interrupted(errors)
    except RuntimeError:
        if not interrupted:
            raise
        # C++ in whose midst the signal came, such as rclpy's, makes an error of its own of it.
        return _say_interrupted(errors)
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _say_interrupted(errors: Console) -> int:
    say("behavior: interrupted", errors)
    return 130


def dispatch(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run the verb that was chosen, or show the help."""
    run: Callable[[argparse.Namespace], int] | None = getattr(options, "run", None)
    if run is None:
        parser.print_help()
        return 0
    address(options)
    return run(options)


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add every verb to a parser; `dispatch` runs the one that was chosen."""
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    add_stack_verbs(subparsers)
    add_mission(subparsers)
    add_preview(subparsers)
    add_preview_server(subparsers)
    add_scene(subparsers)
    add_robot(subparsers)
    _add_tree(subparsers)
    add_teach(subparsers)
    add_job_verbs(subparsers)
    add_evaluate(subparsers)
    add_security(subparsers)
    add_packages(subparsers)
    add_create(subparsers)
    add_offered(subparsers)


def _add_tree(subparsers: Any) -> None:
    text = "check, draw, convert, run and replay behavior trees"
    tree = subparsers.add_parser("tree", help=text, description=f"{text}; needs no stack")
    add_commands(tree, extend=register_suite_nodes)


if __name__ == "__main__":
    sys.exit(main())
