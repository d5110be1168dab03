# SPDX-License-Identifier: Apache-2.0
"""Missions that can be demonstrated and evaluated come from packages."""

import pytest

from behavior_bringup.errors import UsageError
from behavior_bringup.jobs.judges import job_named, known_jobs, mission_of_world
from behavior_bringup.stacks.description import load_stack, stack_file


def test_every_tree_that_runs_on_its_own_in_a_simulated_world_has_a_judge() -> None:
    assert set(known_jobs()) == {
        "decider_stack_blocks",
        "fetch_through_doors",
        "insert_shelf",
        "navigation",
        "open_door",
        "pass_door",
        "pick_frozen",
        "sort_balls",
        "stack_bins",
        "stack_blocks",
    }


@pytest.mark.parametrize(
    "name", ["open_door", "insert_shelf", "pass_door", "fetch_through_doors", "sort_balls"]
)
def test_each_mission_has_its_world(name: str) -> None:
    job = job_named(name)
    assert job.name == name
    assert mission_of_world(job.world) == name
    stack = load_stack(stack_file(job.world))
    assert stack.arguments["world"].default == job.world
    assert set(stack.processes) >= {"simulation", "skills", "executor"}


def test_what_has_no_judge_is_answered_with_what_has() -> None:
    listed = "choose one of decider_stack_blocks, fetch_through_doors, insert_shelf, nav"
    with pytest.raises(UsageError, match=listed):
        job_named("model")
