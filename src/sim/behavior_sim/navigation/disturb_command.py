# SPDX-License-Identifier: Apache-2.0
"""The command `disturb-navigation`: interferes with the simulated navigation world by hand."""

from __future__ import annotations

import argparse
from typing import Any

from behavior_packages.argument_types import count, length, positive

REASONS = ("no_path", "start_occupied", "goal_occupied", "timeout", "off_route", "no_map")
"""Of the path planner, `PathPlannerHealth` 1 to 6."""
STATUSES = (
    "constraint_failed",
    "invalid_trajectory",
    "line_search_failed",
    "unsatisfied_constraints",
    "cost_failed",
    "out_of_memory",
)
"""Of the trajectory planner, `TrajectoryStatus` 1 to 6."""

_KINDS = {
    "block": 0,
    "unblock": 1,
    "lose-localization": 2,
    "move-frame": 3,
    "fail-planner": 4,
    "fail-trajectory": 5,
    "fail-map": 6,
    "silence-routes": 7,
    "add-person": 8,
    "remove-person": 9,
}
"""DisturbNavigation's kinds; importing the message would cost every command its time."""


def add_disturbances(parser: argparse.ArgumentParser) -> None:
    """Add one command for each kind of disturbance to the parser of the verb."""
    kinds = parser.add_subparsers(title="commands", metavar="WHAT", required=True)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        made = kinds.add_parser(name, help=text)
        made.set_defaults(kind=name)
        return made

    def place(made: argparse.ArgumentParser, *, turned: bool) -> None:
        made.add_argument("x", type=length, help="[m] in the map")
        made.add_argument("y", type=length, help="[m] in the map")
        if turned:
            made.add_argument("yaw", type=length, nargs="?", default=0.0, help="[rad] (0)")

    def lasting(made: argparse.ArgumentParser, default: float) -> None:
        made.add_argument(
            "--duration", type=positive, default=default, metavar="S", help=f"({default:g} s)"
        )

    block = add("block", "put an obstacle somewhere")
    block.add_argument("name", help="by which it can be taken away again")
    place(block, turned=False)
    block.add_argument("--size", nargs=2, type=positive, default=(1.0, 1.0), metavar=("DX", "DY"))
    add("unblock", "take an obstacle away").add_argument(
        "name", nargs="?", default="", help="all without it"
    )
    lose = add("lose-localization", "let the localizer lose the robot")
    lose.add_argument(
        "--duration", type=positive, default=0.0, metavar="S", help="in vain until then"
    )
    frame = add("move-frame", "put a frame, and goals in it, elsewhere")
    frame.add_argument("name", help="e.g. cart")
    place(frame, turned=True)
    planner = add("fail-planner", "let the path planner fail")
    planner.add_argument("cause", choices=REASONS)
    lasting(planner, 5.0)
    trajectory = add("fail-trajectory", "let the trajectory planner fail")
    trajectory.add_argument("cause", choices=STATUSES)
    lasting(trajectory, 5.0)
    tile = add("fail-map", "let the next loads of a tile fail")
    tile.add_argument("name", nargs="?", default="", help="any tile without it")
    tile.add_argument("--times", type=count, default=1, metavar="N", help="(1)")
    lasting(add("silence-routes", "let the route planner be silent"), 10.0)
    person = add("add-person", "have somebody walk about")
    person.add_argument("name")
    place(person, turned=True)
    person.add_argument("--speed", type=positive, default=0.8, metavar="M/S", help="(0.8)")
    add("remove-person", "have somebody go").add_argument("name")


def fields_of(options: argparse.Namespace) -> dict[str, Any]:
    """The request's fields for what was typed; `place` stands for the pose: x, y, yaw."""
    causes = {"fail-planner": REASONS, "fail-trajectory": STATUSES}.get(options.kind)
    fields: dict[str, Any] = {
        "kind": _KINDS[options.kind],
        "name": getattr(options, "name", ""),
        "size": list(getattr(options, "size", (0.0, 0.0))),
        "duration": getattr(options, "duration", 0.0),
        "speed": getattr(options, "speed", 0.0),
        "cause": getattr(options, "times", 0),
        "place": tuple(getattr(options, axis, 0.0) for axis in ("x", "y", "yaw")),
    }
    if causes is not None:
        fields["cause"] = causes.index(options.cause) + 1
    return fields


class DisturbNavigation:
    """Block a way, lose the robot, move a goal, let planners or map loads fail, add people."""

    help = "interfere with the simulated navigation world"
    node = "simulation"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One command for each kind."""
        add_disturbances(parser)

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Ask the simulation; whether it did it, and its words."""
        from behavior_msgs.srv import DisturbNavigation as Service

        from behavior_motion.planar_pose import Pose2D
        from behavior_sim.navigation.messages import pose_message

        fields = fields_of(options)
        request = Service.Request(pose=pose_message(Pose2D(*fields.pop("place"))), **fields)
        answer = stack.call(Service, "simulation/disturb_navigation", request)
        return answer.code == 0, str(answer.message)


COMMAND = DisturbNavigation()
