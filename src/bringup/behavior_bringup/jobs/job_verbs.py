# SPDX-License-Identifier: Apache-2.0
"""What the verbs do that disturb and demonstrate."""

from __future__ import annotations

import argparse

from rich.console import Console

from behavior_bringup.jobs.job_options import configured
from behavior_bringup.jobs.judges import job_named
from behavior_bringup.offers import default_of
from behavior_bringup.stacks.connection import SIMULATION, enter
from behavior_bringup.terminal import say

WATCHABLE = 4.0
"""Times real time: a demonstration that one can follow."""


def disturb(options: argparse.Namespace) -> int:
    """Move an object of the simulated world, out of the gripper too, push it, or take it away.

    With --fault a part of the cell fails until it is mended or the world is reset.
    """
    from behavior_bringup.client import StackClient

    enter(options.stack, SIMULATION)
    with StackClient(options.namespace) as client:
        if options.push:
            client.push(options.object, options.push)
            say(f"Pushed '{options.object}'")
            return 0
        if options.fault:
            say(client.let_fail(options.object, options.fault == "on"))
            return 0
        client.displace(options.object, options.to)
    where = f"to {', '.join(f'{value:g}' for value in options.to)} m" if options.to else "away"
    say(f"Put '{options.object}' {where}")
    return 0


def demo(options: argparse.Namespace) -> int:
    """Bring a stack up, run a mission with live progress, judge it by the truth, and draw it.

    Some jobs take options of their own, such as `behavior demo stack_bins --bins 6`.
    """
    name = options.mission or default_of("judges", "demo NAME")
    job = configured(job_named(name), options, evaluation=False)
    from behavior_bringup.jobs.demo import DemoOptions, run_demo

    choice = DemoOptions(
        world=options.world or job.world,
        namespace=options.namespace,
        speed=options.speed,
        seed=options.seed,
        cameras=options.cameras,
        console=options.console,
        base=options.out / name.rpartition("/")[2],
    )
    return 0 if run_demo(job, choice, Console()) else 1
