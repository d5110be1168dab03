# SPDX-License-Identifier: Apache-2.0
"""The stack in which previews run: beside the real one, in a ROS domain of its own.

It stays when a preview has ended, standing still, so that the next one need not wait for processes
to start; it goes down with the stack that it is a copy of. Nothing here needs ROS.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.preview.kinds import kind_of
from behavior_bringup.stacks.connection import SIMULATION
from behavior_bringup.stacks.description import (
    Scalar,
    StackDescription,
    load_stack,
    resolve,
    stack_file,
)
from behavior_bringup.stacks.environment import machine_kind
from behavior_bringup.stacks.stack import Stack, stop
from behavior_bringup.stacks.state import StackState

_PATIENCE = 400.0
"""[s] The machine has the real stack to run, too; a process that ends is noticed at once."""
_OWN = ("journal", "tree_nodes", "console_address", "memory")
"""Arguments that name files of one stack."""
_RECORDED = "recording"
"""Argument for the file that the simulation's motion is recorded to."""
_FIXED: Mapping[str, Scalar] = {
    "headless": True,
    "console": False,
    # What cameras see is computed from the truth anyway, at many times the cost.
    "cameras": False,
    "groot2_port": 0,
    # What is recorded, and orders from elsewhere, are the original's.
    "record": False,
    "black_box": 0.0,
    "mqtt": "",
    # Until it is used it shall not take the processor from the others.
    "speed": 1.0,
}


@dataclass(frozen=True)
class CopyStack:
    """The copy of a stack."""

    original: Stack
    world: str
    """Of the stack that it runs."""
    arguments: Mapping[str, Scalar]
    busy_speed: float = 1.0
    """Times real time at most while one of its programs computes."""

    @property
    def stack(self) -> Stack:
        """As a stack like any other."""
        return Stack(f"{self.original.name}.preview")

    @property
    def recording(self) -> Path:
        """File for what its simulation records."""
        return self.stack.folder / "motion.npz"

    @property
    def motions(self) -> Path:
        """File for the motions that its skills planned in the last preview."""
        return self.stack.folder / "motions.json"

    @property
    def start_state(self) -> Path:
        """File for the state that its world is put into."""
        return self.stack.folder / "start.json"

    @property
    def is_warm(self) -> bool:
        """Whether it is up, all of it, just as it would be started now."""
        state = self.stack.state()
        return (
            state is not None
            and not state.stopping
            and state.world == self.world
            and all(process.running for process in state.processes.values())
            and all(state.arguments.get(key) == value for key, value in self.arguments.items())
        )

    @property
    def world_name(self) -> str:
        """Name of the world that its simulation is told to simulate."""
        description = load_stack(stack_file(self.world))
        processes = resolve(description, environment=machine_kind(), arguments=self.arguments)
        nodes = (node for process in processes for node in process.nodes)
        return str(next(node for node in nodes if node.name == SIMULATION).parameters["world"])

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Nobody else uses the copy meanwhile.

        Raises:
            BringupError: somebody does.
        """
        with (self.stack.folder / "in_use").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BringupError(
                    f"Another preview of the stack '{self.original.name}' runs: wait for its end"
                ) from error
            yield

    def bring_up(self, *, fresh: bool) -> bool:
        """Have it up and ready, and this process in its ROS domain.

        Args:
            fresh: start it anew, even if it is up already.

        Returns:
            Whether it was up already.

        Raises:
            BringupError: it does not come up.
        """
        from behavior_bringup.stacks.environment import enter_domain
        from behavior_bringup.stacks.session import bring_up

        if self.is_warm and not fresh:
            state = self.stack.state()
            assert state is not None
            enter_domain(state.domain)
            return True
        stop(self.stack)
        bring_up(
            self.stack,
            world=self.world,
            arguments=self.arguments,
            beside=self.original,
            patience=_PATIENCE,
        )
        return False


def copy_of(original: Stack, state: StackState, world: str = "") -> CopyStack:
    """The copy of a stack that is up.

    Args:
        original: the stack.
        state: of it.
        world: of the simulated stack that stands for it; empty: its own.

    Raises:
        UsageError: that stack has no simulated world, or one that cannot be put into a state.
    """
    world = world or state.world
    description = load_stack(stack_file(world))
    if not _simulates(description):
        raise UsageError(
            f"The stack of '{world}' has no simulated world to copy: name one that has, with"
            " --world"
        )
    if _RECORDED not in description.arguments:
        raise UsageError(
            f"The world of '{world}' cannot be copied: its stack has no argument '{_RECORDED}', by"
            " which the robot's motion is kept (docs/preview.md). Any tree can be simulated by"
            " 'behavior tree run --rules'"
        )
    copy = CopyStack(original, world, {})
    wanted = {**state.arguments, **_FIXED, _RECORDED: str(copy.recording)}
    if world != state.world:
        wanted.pop("world", None)
    known = description.arguments.keys() - set(_OWN)
    arguments = {key: wanted[key] for key in wanted if key in known}
    speed = float(state.arguments.get("speed", 1.0))
    return CopyStack(original, world, arguments, kind_of(world).computed * speed)


def _simulates(description: StackDescription) -> bool:
    return any(SIMULATION in process.nodes for process in description.processes.values())
