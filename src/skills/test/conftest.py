# SPDX-License-Identifier: Apache-2.0
import pytest
from fakes import ROBOT_FILE, FakeWorld

from behavior_motion import create_planner
from behavior_skills.arm.planning import PlanningWorld
from behavior_skills.interfaces import Hand


@pytest.fixture(scope="session")
def planner():
    return create_planner(ROBOT_FILE)


@pytest.fixture
def rig(planner):
    """World, planning world and hand of one test."""
    planner.scene.clear()
    world = FakeWorld(planner.robot)
    return world, PlanningWorld(planner, 0.0), Hand()
