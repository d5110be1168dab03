# SPDX-License-Identifier: Apache-2.0
"""The command `behavior`, and the same verbs for `ros2 bt`.

Exit codes: 0 done, 1 it did not work, 2 the request was wrong. Every error is one sentence.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from rich.console import Console

from behavior_bringup import argument_types, verbs
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.navigation.disturbing import add_disturbances
from behavior_bringup.scene_cli import add_scene
from behavior_bringup.tree_nodes import register_suite_nodes
from behavior_tree.cli import add_commands

WATCHABLE = 4.0
"""Times real time: a demonstration that one can follow."""

FAST = 8.0
"""Times real time: as fast as the whole stack keeps up with on 2 cores.

The simulation can go faster (0), and waits when the scene lags behind; but planning then takes ever
more of the simulated time, and the robot reacts late.
"""

_EXAMPLES = """\
examples:
  behavior up                          bring the stack up in the background
  behavior mission run stack_blocks    run a mission and watch it
  behavior down                        stop everything
  behavior demo                        all of that in one go, with a picture
  behavior evaluate stack_blocks --episodes 20 --json out/evaluation.json
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}: see '{self.prog} --help'")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = _Parser(
        prog="behavior",
        description="Brings robot behavior stacks up and drives them.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_verbs(parser)
    return guarded(lambda: dispatch(parser, parser.parse_args(arguments)))


def guarded(action: Callable[[], int]) -> int:
    """Run an action; turn its errors and Ctrl-C into a sentence and an exit code."""
    errors = Console(stderr=True)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return action()
    except UsageError as error:
        errors.print(f"behavior: {error}", highlight=False, markup=False, soft_wrap=True)
        return 2
    except BringupError as error:
        errors.print(f"behavior: {error}", highlight=False, markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        errors.print("behavior: interrupted", highlight=False)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        signal.signal(signal.SIGTERM, previous)


def dispatch(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run the verb that was chosen, or show the help."""
    run: Callable[[argparse.Namespace], int] | None = getattr(options, "run", None)
    if run is None:
        parser.print_help()
        return 0
    return run(options)


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add every verb to a parser; `dispatch` runs the one that was chosen."""
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_up(subparsers)
    _add_down(subparsers)
    _add_status(subparsers)
    _add_kill(subparsers)
    _add_mission(subparsers)
    _add_tree(subparsers)
    add_scene(subparsers)
    _add_disturb(subparsers)
    _add_disturb_navigation(subparsers)
    _add_demo(subparsers)
    _add_evaluate(subparsers)


# MissionAction's types; importing the message would cost every command its time.
_CONTROLS = {"pause": 5, "resume": 6, "cancel": 7}

_Subparsers = argparse._SubParsersAction  # the only name that argparse gives it


def _add_up(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    up = subparsers.add_parser("up", help="bring a stack up", description=verbs.up.__doc__)
    up.add_argument("--world", default="block_stacking", metavar="NAME", help="which world")
    up.add_argument(
        "arguments",
        nargs="*",
        type=argument_types.assignment,
        metavar="NAME:=VALUE",
        help="further arguments of the stack, see the head of its file in config/stacks",
    )
    screen = up.add_mutually_exclusive_group()
    screen.add_argument("--viewer", action="store_true", help="serve a view for the browser")
    screen.add_argument("--headless", action="store_true", help="open no window at all")
    up.add_argument(
        "--port",
        type=argument_types.port,
        default=8080,
        metavar="N",
        help="port of the viewer (8080)",
    )
    _add_speed(up, default=1.0)
    _add_seed(up)
    _add_cameras(up)
    up.add_argument("--respawn", action="store_true", help="restart processes that end")
    where = up.add_mutually_exclusive_group()
    where.add_argument(
        "--foreground", action="store_true", help="show the output, stop with Ctrl-C"
    )
    where.add_argument("--detach", action="store_true", help="in the background (the default)")
    up.set_defaults(run=verbs.up)


def _add_down(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    down = subparsers.add_parser(
        "down", help="stop the stack and all that belongs to it", description=verbs.down.__doc__
    )
    down.add_argument("--all", action="store_true", help="also stacks of running demonstrations")
    down.set_defaults(run=verbs.down)


def _add_status(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    status = subparsers.add_parser(
        "status", help="say what is up", description=verbs.status.__doc__
    )
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(run=verbs.status)


def _add_kill(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    kill = subparsers.add_parser(
        "kill", help="kill one process, as a fault test", description=verbs.kill.__doc__
    )
    kill.add_argument("process", help="its name as 'behavior status' prints it")
    kill.set_defaults(run=verbs.kill)


def _add_mission(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    mission = subparsers.add_parser("mission", help="run, list, pause or cancel missions")
    actions = mission.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run = actions.add_parser(
        "run", help="run a mission to its end", description=verbs.mission_run.__doc__
    )
    run.add_argument("name", help="as 'behavior mission list' prints it")
    run.add_argument(
        "--param",
        action="append",
        default=[],
        type=argument_types.parameter,
        metavar="KEY=VALUE",
        help="for the tree's blackboard; may be given again",
    )
    _add_timeout(run)
    run.set_defaults(run=verbs.mission_run)
    _add_driving(actions)
    listing = actions.add_parser("list", help="list the missions that the executor can run")
    listing.set_defaults(run=verbs.mission_list)
    _add_history(actions)
    for name, kind in _CONTROLS.items():
        help_ = f"{name} the running mission, or the one named"
        control = actions.add_parser(name, help=help_, description=verbs.mission_control.__doc__)
        control.add_argument("action_id", nargs="?", default="", help="as 'history' prints it")
        control.set_defaults(run=verbs.mission_control, kind=kind)


def _add_driving(actions: _Subparsers[argparse.ArgumentParser]) -> None:
    navigate = actions.add_parser(
        "navigate", help="drive to a pose", description=verbs.mission_navigate.__doc__
    )
    navigate.add_argument("x", type=argument_types.length, metavar="X", help="[m]")
    navigate.add_argument("y", type=argument_types.length, metavar="Y", help="[m]")
    navigate.add_argument(
        "yaw", type=argument_types.length, metavar="YAW", nargs="?", default=0.0, help="[rad]"
    )
    navigate.set_defaults(run=verbs.mission_navigate)
    route = actions.add_parser(
        "route", help="drive along points", description=verbs.mission_route.__doc__
    )
    route.add_argument(
        "points", nargs="+", type=argument_types.point, metavar="X,Y[,YAW]", help="[m], [rad]"
    )
    route.set_defaults(run=verbs.mission_route)
    load_map = actions.add_parser(
        "load-map", help="load a map", description=verbs.mission_load_map.__doc__
    )
    load_map.add_argument("map", help="its name")
    load_map.set_defaults(run=verbs.mission_load_map)
    sequence = actions.add_parser(
        "sequence", help="do the steps of a file", description=verbs.mission_sequence.__doc__
    )
    sequence.add_argument("file", type=Path, help="YAML; see docs/missions.md")
    sequence.set_defaults(run=verbs.mission_sequence)
    for parser in (navigate, route):
        parser.add_argument("--frame", default="map", help="of the coordinates (map)")
    for parser in (navigate, route, load_map, sequence):
        _add_timeout(parser)


def _add_history(actions: _Subparsers[argparse.ArgumentParser]) -> None:
    history = actions.add_parser(
        "history", help="list what became of missions", description=verbs.mission_history.__doc__
    )
    history.add_argument("--unfinished", action="store_true", help="only those that have not ended")
    history.add_argument(
        "--limit", type=argument_types.count, default=20, metavar="N", help="how many at most (20)"
    )
    history.set_defaults(run=verbs.mission_history)


def _add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=argument_types.positive,
        metavar="S",
        help="cancel after so many seconds (wall time)",
    )


def _add_tree(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    text = "check, draw, convert, run and replay behavior trees"
    tree = subparsers.add_parser("tree", help=text, description=f"{text}; needs no stack")
    add_commands(tree, extend=register_suite_nodes)


def _add_disturb(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    disturb = subparsers.add_parser(
        "disturb", help="interfere with the simulated world", description=verbs.disturb.__doc__
    )
    disturb.add_argument("object", help="e.g. blue_block")
    how = disturb.add_mutually_exclusive_group()
    how.add_argument(
        "--to",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        help="[m] of its centre in the world frame; without it the object is taken away",
    )
    how.add_argument(
        "--push",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        help="impulse [N s] on it in the world frame, e.g. on door_panel",
    )
    disturb.set_defaults(run=verbs.disturb)


def _add_disturb_navigation(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    disturb = subparsers.add_parser(
        "disturb-navigation",
        help="interfere with the simulated navigation world",
        description=verbs.disturb_navigation.__doc__,
    )
    add_disturbances(disturb)
    disturb.set_defaults(run=verbs.disturb_navigation)


def _add_demo(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    demo = subparsers.add_parser(
        "demo", help="run a mission in a stack of its own", description=verbs.demo.__doc__
    )
    demo.add_argument(
        "name",
        nargs="?",
        default="stack_blocks",
        help="a mission (stack_blocks by default), or navigation",
    )
    _add_speed(demo, default=WATCHABLE)
    _add_seed(demo)
    _add_cameras(demo)
    demo.add_argument("--viewer", action="store_true", help="serve a view for the browser")
    demo.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for pictures (out)"
    )
    demo.set_defaults(run=verbs.demo)


def _add_evaluate(subparsers: _Subparsers[argparse.ArgumentParser]) -> None:
    evaluate = subparsers.add_parser(
        "evaluate", help="measure how often a mission succeeds", description=verbs.evaluate.__doc__
    )
    evaluate.add_argument("name", help="e.g. stack_blocks")
    evaluate.add_argument(
        "--episodes", type=argument_types.count, default=20, metavar="N", help="how many (20)"
    )
    _add_seed(evaluate)
    _add_cameras(evaluate)
    _add_speed(evaluate, default=FAST)
    evaluate.add_argument("--disturb", action="store_true", help="disturb every episode")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    evaluate.set_defaults(run=verbs.evaluate)


def _add_speed(parser: argparse.ArgumentParser, *, default: float) -> None:
    parser.add_argument(
        "--speed",
        type=argument_types.speed,
        default=default,
        metavar="X",
        help=f"of the simulation, times real time; 0: as fast as possible ({default:g})",
    )


def _add_cameras(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cameras",
        action="store_true",
        help="perceive through simulated cameras instead of true poses with noise",
    )


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=argument_types.seed,
        default=0,
        metavar="N",
        help="of the start state and the noise (0)",
    )


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
