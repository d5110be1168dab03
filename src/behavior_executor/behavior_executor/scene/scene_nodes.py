# SPDX-License-Identifier: Apache-2.0
"""Tree nodes that look at the scene. All of them see the same snapshot within one tick."""

from __future__ import annotations

import math
import random
from typing import ClassVar, Protocol

from behavior_executor.scene_view import Matrix, SceneSnapshot
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    StatefulActionNode,
    SyncActionNode,
    ports_list,
)


class Scene(Protocol):
    """Where the nodes look; the scene manager is one."""

    @property
    def snapshot(self) -> SceneSnapshot | None:
        """The snapshot of this tick, None while there is no fresh one."""

    @property
    def now(self) -> float:
        """Node time of this tick [s]."""

    @property
    def rng(self) -> random.Random:
        """Source of all randomness."""

    def receive_frames(self, *names: str) -> None:
        """Have frames received from now on: some node will ask for them, and for these at least."""

    def frame_pose(self, name: str, at: float | None = None) -> Matrix | None:
        """Where a frame is that is no object, or was at a time [s], 4x4 in the frame of the scene
        [m]; None: unknown.
        """


class UnseenScene:
    """A scene that never shows: for factories of which only the nodes' ports are asked."""

    snapshot: SceneSnapshot | None = None
    now = 0.0

    def __init__(self) -> None:
        """Make it."""
        self.rng = random.Random(0)

    def receive_frames(self, *names: str) -> None:
        """Nothing."""

    def frame_pose(self, name: str, at: float | None = None) -> Matrix | None:
        """Unknown."""
        return None


class SceneWaiter(StatefulActionNode):
    """Looks in each tick, until it has seen what it waits for or its patience is at its end.

    Derived classes look in `on_running`.
    """

    patience_input: ClassVar[str] = "patience"
    """Input with the time [s] that it waits."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene
        self._passed = Elapsed(lambda: scene.now)

    def on_start(self) -> NodeStatus:
        """Look."""
        self._passed = Elapsed(lambda: self._scene.now)
        return self.on_running()

    @property
    def waited(self) -> float:
        """Since it was started [s]."""
        return self._passed()

    def wait_or_fail(self, reason: str) -> NodeStatus:
        """RUNNING until patience is at its end, then FAILURE for this reason."""
        if self.waited <= self.get_input(self.patience_input):
            return NodeStatus.RUNNING
        self.set_failure_reason(reason)
        return NodeStatus.FAILURE


class SceneObserver(SceneWaiter):
    """Looks at the scene; waits for a fresh one, and fails when it stays away."""

    def on_running(self) -> NodeStatus:
        """Look."""
        snapshot = self._scene.snapshot
        if snapshot is not None:
            return self.look(snapshot)
        return self.wait_or_fail(
            f"no fresh scene for {self.waited:.1f} s: do the camera and the scene node run?"
        )

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Take in a snapshot."""
        raise NotImplementedError


class SceneAction(SyncActionNode):
    """Computes something of what the scene shows now; fails without a fresh one."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene

    def tick(self) -> NodeStatus:
        """Look, and compute."""
        snapshot = self._scene.snapshot
        if snapshot is not None:
            return self.look(snapshot)
        self.set_failure_reason("no fresh scene")
        return NodeStatus.FAILURE

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Take in a snapshot."""
        raise NotImplementedError


def patience_port() -> PortInfo:
    """The port that every `SceneObserver` has."""
    return InputPort("patience", float, default=5.0, description="[s] to wait for a fresh scene")


class WhereIs(SceneObserver):
    """Tells where an object is, as seen from another one that stands upright."""

    ports = ports_list(
        InputPort("object_name", str, description="object of the scene"),
        InputPort("reference", str, description="object of the scene"),
        patience_port(),
        OutputPort("x", float, description="[m] of the object's centre from the reference's"),
        OutputPort("y", float, description="[m] along the reference's y axis"),
        OutputPort("z", float, description="[m] upwards"),
        OutputPort("turn", float, description="[rad] about the vertical, -pi..pi"),
        OutputPort("held", bool, description="it is in the gripper"),
        OutputPort("seen", bool, description="it is seen now, not just remembered"),
    )

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Tell; waits for what the scene does not have, the arm may just be before it."""
        names = self.get_input("object_name"), self.get_input("reference")
        target, reference = (snapshot.objects.get(name) for name in names)
        if target is None or reference is None:
            absent = [name for name in names if name not in snapshot.objects]
            known = ", ".join(sorted(snapshot.objects)) or "nothing"
            return self.wait_or_fail(f"the scene has no {' and no '.join(absent)}; it has {known}")
        for axis, value in zip("xyz", target.seen_from(reference), strict=True):
            self.set_output(axis, value)
        turn = target.yaw - reference.yaw
        self.set_output("turn", math.atan2(math.sin(turn), math.cos(turn)))
        self.set_output("held", target.held)
        self.set_output("seen", not target.stale)
        return NodeStatus.SUCCESS


class _WaitForGripper(SceneWaiter):
    """Waits until the scene says the right thing about an object and the gripper."""

    patience_input = "timeout"
    wanted: ClassVar[bool]
    """Whether the object shall be held."""

    ports = ports_list(
        InputPort("object_name", str, description="object of the scene"),
        InputPort("timeout", float, default=2.0, description="[s]"),
    )

    def on_running(self) -> NodeStatus:
        """Look."""
        name, snapshot = self.get_input("object_name"), self._scene.snapshot
        seen = {} if snapshot is None else snapshot.objects
        held = [each.name for each in seen.values() if each.held]  # several arms hold several
        if snapshot is not None and (name in held) is self.wanted:
            return NodeStatus.SUCCESS
        done, but = ("picked", "not in") if self.wanted else ("placed", "still in")
        instead = f", which holds {' and '.join(held)}" if held and name not in held else ""
        return self.wait_or_fail(
            f"{name} was {done}, but the scene says it is {but} the gripper{instead}"
        )


class WaitUntilHeld(_WaitForGripper):
    """Waits until the scene says that an object moves with the gripper."""

    wanted = True


class WaitUntilReleased(_WaitForGripper):
    """Waits until the scene says that an object does not move with the gripper."""

    wanted = False
