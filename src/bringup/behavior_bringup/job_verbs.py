# SPDX-License-Identifier: Apache-2.0
"""What the verbs do that disturb worlds, demonstrate and evaluate."""

from __future__ import annotations

import argparse

from rich.console import Console

from behavior_bringup.connection import SIMULATION, enter
from behavior_bringup.description import Scalar
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.missions import mission_named
from behavior_bringup.navigation.disturbing import fields_of
from behavior_bringup.stack import free_stack
from behavior_bringup.terminal import say, sentence

NAVIGATION = "navigation"
"""Name of the tour through the navigation world, which is no mission of the catalogue."""


def disturb(options: argparse.Namespace) -> int:
    """Move an object of the simulated world, out of the gripper too, push it, or take it away."""
    from behavior_bringup.client import StackClient

    enter(options.stack, SIMULATION)
    with StackClient() as client:
        if options.push:
            client.push(options.object, options.push)
            say(f"Pushed '{options.object}'")
            return 0
        client.displace(options.object, options.to)
    where = f"to {', '.join(f'{value:g}' for value in options.to)} m" if options.to else "away"
    say(f"Put '{options.object}' {where}")
    return 0


def disturb_navigation(options: argparse.Namespace) -> int:
    """Block a way, lose the robot, move a goal, let planners or map loads fail, add people."""
    from behavior_msgs.srv import DisturbNavigation

    from behavior_bringup.client import StackClient
    from behavior_sim.navigation.messages import pose_message
    from behavior_sim.navigation.poses import Pose

    fields = fields_of(options)
    request = DisturbNavigation.Request(pose=pose_message(Pose(*fields.pop("place"))), **fields)
    enter(options.stack, SIMULATION)
    with StackClient() as client:
        answer = client.call(DisturbNavigation, "/simulation/disturb_navigation", request)
    if answer.code != 0:
        raise BringupError(sentence(answer.message))
    say(sentence(answer.message))
    return 0


def demo(options: argparse.Namespace) -> int:
    """Bring a stack up, run a mission with live progress, judge it by the truth, and draw it."""
    if options.mission == NAVIGATION:
        return _demo_navigation(options)
    mission = mission_named(options.mission)
    from behavior_bringup.demo import DemoOptions, run_demo

    choice = DemoOptions(
        speed=options.speed,
        seed=options.seed,
        cameras=options.cameras,
        viewer=options.viewer,
        out=options.out,
    )
    return 0 if run_demo(mission, choice, Console()) else 1


def _demo_navigation(options: argparse.Namespace) -> int:
    from behavior_bringup.navigation.demo import TourOptions, run_navigation_demo

    if options.viewer:
        raise UsageError(f"The stack of '{NAVIGATION}' has no viewer: leave --viewer away")
    choice = TourOptions(speed=options.speed, seed=options.seed, out=options.out)
    return 0 if run_navigation_demo(choice, Console()) else 1


def evaluate(options: argparse.Namespace) -> int:
    """Run a mission from many seeded start states and print how often it succeeds.

    Every episode resets the world; with --disturb something happens meanwhile that makes the job
    harder: things are moved or taken away, a door is pushed shut.
    """
    if options.json and options.json.is_dir():
        raise BringupError(f"--json needs a file, but {options.json} is a folder")
    if options.mission == NAVIGATION:
        return _evaluate_navigation(options)
    mission = mission_named(options.mission)
    from behavior_bringup import evaluation
    from behavior_bringup.session import temporary_stack

    console = Console()
    stack = free_stack("evaluate")
    arguments: dict[str, Scalar] = {
        "world": mission.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "cameras": options.cameras,
    }
    with temporary_stack(stack, world=mission.world, arguments=arguments, respawn=True) as (
        client,
        ready,
    ):
        say(f"The stack is up in ROS domain {client.domain}")
        report = evaluation.evaluate(
            client,
            stack,
            ready,
            mission,
            episodes=options.episodes,
            seed=options.seed,
            disturb=options.disturb,
            on_record=lambda record: say(evaluation.record_line(record)),
        )
    evaluation.print_report(report, console)
    if options.json:
        report.write(options.json)
    return 0


def _evaluate_navigation(options: argparse.Namespace) -> int:
    from behavior_bringup import evaluation
    from behavior_bringup.navigation.demo import STACK, WORLD
    from behavior_bringup.navigation.evaluation import evaluate_navigation
    from behavior_bringup.session import temporary_stack
    from behavior_sim.navigation.config import load_navigation_world
    from behavior_sim.resources import find_navigation_world

    console = Console()
    stack = free_stack("evaluate")
    arguments: dict[str, Scalar] = {"speed": options.speed, "seed": options.seed}
    with temporary_stack(stack, world=STACK, arguments=arguments, respawn=True) as (client, ready):
        say(f"The stack is up in ROS domain {client.domain}")
        report = evaluate_navigation(
            client,
            stack,
            ready,
            load_navigation_world(find_navigation_world(WORLD)),
            episodes=options.episodes,
            seed=options.seed,
            disturb=options.disturb,
            on_record=lambda record: say(evaluation.record_line(record)),
        )
    evaluation.print_report(report, console)
    if options.json:
        report.write(options.json)
    return 0
