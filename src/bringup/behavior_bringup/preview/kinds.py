# SPDX-License-Identifier: Apache-2.0
"""What differs between the worlds that are copied: arms among objects, and robots that drive."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.navigation import (
    NavigationObserver,
    NavigationSetter,
    navigation_world,
)
from behavior_bringup.preview.observer import Observer
from behavior_bringup.preview.setting import CopySetter, ObjectsSetter
from behavior_bringup.preview.start_state import CopiedWorld, copied_world
from behavior_bringup.stacks.connection import SIMULATION
from behavior_bringup.stacks.description import load_stack, stack_file
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.track import Track
from behavior_sim.recordings.motion_summary import MotionSummary, summarize
from behavior_sim.recordings.recording import Recording
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.resources import find_navigation_world, find_world


class Observing(Protocol):
    """Tells what a running stack believes."""

    def state(self) -> LiveState:
        """What it believes now."""


class Kind(Protocol):
    """A kind of world."""

    has_scene: bool
    """Whether its stack has a scene, whose stamps tell the time."""
    computed: float
    """Part of the time that programs compute in the copy, which goes by there."""

    def observer(self, client: StackClient) -> Observing:
        """Listens to a stack from now on."""

    def setter(self, client: StackClient, observer: Observing) -> CopySetter:
        """Sets a copy."""

    def world(self, live: LiveState, name: str) -> CopiedWorld:
        """How the copy of the world of that name is to be set."""

    def summary(self, recording: Path, begin: float) -> MotionSummary:
        """What the robot did in a recording from a time on [s]."""


class ObjectsKind:
    """Arms among objects, with physics."""

    has_scene = True
    # An execution that is approved does the previewed motions instead of planning, and no copy runs
    # beside it.
    computed = 0.25

    def observer(self, client: StackClient) -> Observer:
        """Listens to joints and scene."""
        return Observer(client)

    def setter(self, client: StackClient, observer: Observing) -> CopySetter:
        """Sets world and scene."""
        assert isinstance(observer, Observer)
        return ObjectsSetter(client, observer)

    def world(self, live: LiveState, name: str) -> CopiedWorld:
        """Joints and objects.

        Raises:
            BringupError: the scene's poses are not in the world's frame.
        """
        if live.frame != "world":
            raise BringupError(
                f"The scene tells poses in the frame '{live.frame}', the simulated world has"
                " 'world'"
            )
        return copied_world(live, load_world(find_world(name)))

    def summary(self, recording: Path, begin: float) -> MotionSummary:
        """Path of the tool, touches and clearance."""
        return summarize(Recording.load(recording), begin=begin)


class NavigationKind:
    """A robot that drives by a map."""

    has_scene, computed = False, 1.0

    def observer(self, client: StackClient) -> NavigationObserver:
        """Listens to localizer, grid, map and autonomy."""
        return NavigationObserver(client)

    def setter(self, client: StackClient, observer: Observing) -> CopySetter:
        """Sets world, map and operator."""
        assert isinstance(observer, NavigationObserver)
        return NavigationSetter(client, observer)

    def world(self, live: LiveState, name: str) -> CopiedWorld:
        """Pose, tile, frames and what is seen."""
        return navigation_world(live, load_navigation_world(find_navigation_world(name)))

    def summary(self, recording: Path, begin: float) -> MotionSummary:
        """Path of the robot, touches and clearance."""
        return Track.load(recording).summary(begin=begin)


def kind_of(world: str) -> Kind:
    """The kind of the world that a stack simulates.

    Args:
        world: of the stack.
    """
    for process in load_stack(stack_file(world)).processes.values():
        node = process.nodes.get(SIMULATION)
        if node is not None and node.node.startswith("behavior_sim.navigation."):
            return NavigationKind()
    return ObjectsKind()
