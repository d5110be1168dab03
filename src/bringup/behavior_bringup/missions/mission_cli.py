# SPDX-License-Identifier: Apache-2.0
"""The verbs of `behavior mission`: what they take."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.arguments.options import add_connection, add_json, add_parameters, add_verb
from behavior_bringup.missions import mission_edit, mission_verbs

# MissionAction's types and policies; importing the message would cost every command its time.
_CONTROLS = {"pause": 5, "resume": 6, "cancel": 7}
POLICIES = {"default": 0, "reject": 1, "queue": 2, "replace": 3}


def add_mission(subparsers: Any) -> None:
    """Add `mission` with its commands to the command's subparsers."""
    mission = subparsers.add_parser("mission", help="run, list, show, pause or cancel missions")
    actions = mission.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(actions)
    _add_preflight(actions)
    _add_driving(actions)
    _add_listing(actions)
    for name, kind in _CONTROLS.items():
        help_ = f"{name} the running mission, or the one named"
        control = _command(actions, name, help_, mission_verbs.mission_control)
        control.add_argument("action_id", nargs="?", default="", help="as 'history' prints it")
        control.set_defaults(kind=kind)
    text = "step, stop or mend the run of a mission, leaf by leaf"
    control_run = _command(actions, "control", text, mission_verbs.mission_control_run)
    control_run.add_argument(
        "command", nargs="*", help="such as 'stop', 'step', 'retry NODE', 'release'"
    )
    add_json(control_run)
    _add_edit(actions)


def _add_edit(actions: Any) -> None:
    text = "edit the tree of a mission together with others, also while it runs"
    edit = _command(actions, "edit", text, mission_edit.mission_edit)
    mission_edit.add_arguments(edit)
    add_json(edit)


def _command(actions: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    parser = add_verb(actions, name, text, run)
    add_connection(parser)
    return parser


def _add_run(actions: Any) -> None:
    run = _command(actions, "run", "run a mission to its end", mission_verbs.mission_run)
    add_mission_name(run)
    _add_order(run)


def _add_preflight(actions: Any) -> None:
    text = "tell whether a mission could start now, and if not what is missing"
    preflight = _command(actions, "preflight", text, mission_verbs.mission_preflight)
    add_mission_name(preflight)
    add_json(preflight)


def add_mission_name(parser: argparse.ArgumentParser) -> None:
    """Which mission, and `--param`."""
    name = parser.add_argument(
        "mission", metavar="NAME", help="as 'behavior mission list' prints it"
    )
    completion.offer(name, completion.mission_names)
    add_parameters(parser)


def _add_driving(actions: Any) -> None:
    navigate = _command(actions, "navigate", "drive to a pose", mission_verbs.mission_navigate)
    navigate.add_argument("x", type=argument_types.length, metavar="X", help="[m]")
    navigate.add_argument("y", type=argument_types.length, metavar="Y", help="[m]")
    navigate.add_argument(
        "yaw", type=argument_types.length, metavar="YAW", nargs="?", default=0.0, help="[rad]"
    )
    route = _command(actions, "route", "drive along points", mission_verbs.mission_route)
    route.add_argument(
        "points", nargs="+", type=argument_types.point, metavar="X,Y[,YAW]", help="[m], [rad]"
    )
    load_map = _command(actions, "load-map", "load a map", mission_verbs.mission_load_map)
    load_map.add_argument("map", help="its name")
    sequence = _command(
        actions, "sequence", "do the steps of a file", mission_verbs.mission_sequence
    )
    sequence.add_argument("file", type=Path, help="YAML; see docs/missions.md")
    for parser in (navigate, route):
        parser.add_argument("--frame", default="map", help="of the coordinates (map)")
    for parser in (navigate, route, load_map, sequence):
        _add_order(parser)


def _add_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        default="default",
        help="if another mission runs: refuse this one, queue it, or let it replace the other;"
        " default: as the executor's second_mission_policy says",
    )
    parser.add_argument(
        "--priority",
        type=argument_types.priority,
        default=0,
        metavar="N",
        help="0 to 255; of the missions that wait, the higher one runs first (0)",
    )
    parser.add_argument(
        "--timeout",
        type=argument_types.positive,
        metavar="S",
        help="cancel after so many seconds (wall time)",
    )


def _add_listing(actions: Any) -> None:
    text = "list the missions that this stack can run"
    listing = _command(actions, "list", text, mission_verbs.mission_list)
    listing.add_argument("--all", action="store_true", help="also the others, and why they cannot")
    show = _command(actions, "show", "show one mission", mission_verbs.mission_show)
    name = show.add_argument("mission", metavar="NAME", help="as 'behavior mission list' prints it")
    completion.offer(name, completion.mission_names)
    history = _command(
        actions, "history", "list what became of missions", mission_verbs.mission_history
    )
    history.add_argument("--unfinished", action="store_true", help="only those that have not ended")
    history.add_argument(
        "--limit", type=argument_types.count, default=20, metavar="N", help="how many at most (20)"
    )
    for parser in (listing, show, history):
        add_json(parser)
