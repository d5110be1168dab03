# SPDX-License-Identifier: Apache-2.0
"""Tree nodes about bins that are stacked on a pallet; see `behavior_jobs.bins`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from geometry_msgs.msg import PoseStamped, Vector3

from behavior_executor.scene.scene_nodes import Scene, SceneWaiter, patience_port
from behavior_executor.scene_view import Matrix, SceneBody, SceneSnapshot
from behavior_jobs.bins import (
    PITCH,
    PRESETS,
    WAVERS,
    BinFloor,
    BinSight,
    BinWatch,
    PickRegion,
    PlaceAim,
    RetryFunnel,
    bin_below,
    clears_station,
    on_opposite_sides,
    pallet_places,
    turned,
    with_the_base,
)
from behavior_jobs.poses import is_near, stamped
from behavior_ros import pose_to_matrix
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    SyncActionNode,
    TreeNode,
    ports_list,
)

STEADY = (0.004, 0.03)
"""[m] and `rotation_gap` by which a grasp seems to move though its bin rests."""
DRIFTS = 0.1
"""[m] at most, by which a bin that moves has moved since it was seen last."""
RECENT = 0.3
"""[s] ago, what was seen shows where the bin is now."""
AT_GRASP = 0.015
"""[m] of the tool beside the grasp: as near as noise lets it be."""
FINE = 0.001
"""[m] in which the aim at a place moves."""
TOO_FAR = 10
"""Looks in a row at a bin below that is out of place, after which no bin is put there."""
PALLET = "pallet"
"""Name of the pallet in the scene."""
BRUSHES = 0.4
"""[m] between the centres of bins that may touch each other."""
DIGITS = 4
"""Of a target's position [m]."""
STEP = 0.05
"""[m] in which stand-offs are given: a goal is sent anew for each."""


def _watch_port() -> PortInfo:
    return InputPort("watch", BinWatch, description="monitors by ObserveBins")


def _sight_port() -> PortInfo:
    return InputPort("sight", BinSight, description="what ObserveBins sees")


def _crossing_port() -> PortInfo:
    return OutputPort("crossing", bool, description="the way leads past the middle")


class ChooseNumbers(SyncActionNode):
    """Writes the numbers of a version of the behaviour."""

    ports = ports_list(
        InputPort("preset", str, default="isaac_6", description=" or ".join(PRESETS)),
        OutputPort("pick_wait_ms", int, description="at rest on a bin before it is sucked"),
        OutputPort("lift_ms", int, description="going up with a bin before it is decided"),
        OutputPort("place_approach", float, description="[m] stand-off above a place"),
        OutputPort("place_capped", bool, description="never longer than the way left"),
        OutputPort("release_ms", int, description="of drawing back from the flip station"),
        OutputPort("release_within", float, description="[m] from where it draws back to"),
    )

    def tick(self) -> NodeStatus:
        """Write them."""
        preset: str = self.get_input("preset")
        if preset not in PRESETS:
            raise ValueError(f"there is no preset '{preset}': choose {' or '.join(PRESETS)}")
        numbers = PRESETS[preset]
        self.set_output("pick_wait_ms", round(1e3 * numbers.pick_wait))
        self.set_output("lift_ms", round(1e3 * numbers.lift_time))
        self.set_output("place_approach", numbers.place_approach)
        self.set_output("place_capped", numbers.place_capped)
        self.set_output("release_ms", round(1e3 * numbers.release_time))
        self.set_output("release_within", numbers.release_within)
        return NodeStatus.SUCCESS


class ObserveBins(SyncActionNode):
    """The monitors: which bin is dealt with, how it is gripped, whether it is, what is stacked.

    Without a fresh scene all stays as it was seen last; FAILURE when it stays away, and when bin
    after bin is lost from the tool.
    """

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Ports; lengths in metres in the frame of the scene, the robot's base."""
        region = PickRegion()
        return ports_list(
            InputPort("bins", int, default=36, description="how many shall be stacked"),
            InputPort("class_id", str, default="bin", description="what the detector calls a bin"),
            InputPort("suction", bool, description="the tool sucks, and something sticks to it"),
            InputPort("heard", bool, default=True, description="suction is what the sensor says"),
            InputPort("base", float, default=-0.066, description="[m] bin's floor over its centre"),
            InputPort("gap", float, default=0.0075, description="[m] of the tool from the floor"),
            InputPort("first_height", float, default=-0.51874, description="[m] of the tool"),
            InputPort("pitch", float, default=PITCH, description="[m] from layer to layer"),
            InputPort("columns", list[float], default="1.05;0.84;0.63", description="x [m]"),
            InputPort("rows", list[float], default="-0.62;-0.31;0", description="y [m]"),
            InputPort("layers", int, default=4, description="of the pallet"),
            InputPort("x", list[float], default="-0.4;0.4", description="[m] where bins arrive"),
            InputPort("y", list[float], default="0;0.7", description="[m] where bins arrive"),
            InputPort("reach", float, default=region.reach, description="[m] from the base"),
            InputPort("fallen", float, default=region.fallen, description="[m] height"),
            InputPort("max_losses", int, default=3, description="bins in a row lost on the way"),
            InputPort("tool_frame", str, default="tool", description="frame of the tool"),
            patience_port(),
            OutputPort("watch", BinWatch, description="for other nodes"),
            OutputPort("sight", BinSight, description="for other nodes"),
            OutputPort("active", str, description="bin that is dealt with, empty: none"),
            OutputPort("needs_flip", bool, description="its opening is up"),
            OutputPort("reached", bool, description="the tool is at its grasp"),
            OutputPort("attached", bool, description="it sticks to the tool"),
            OutputPort("complete", bool, description="all bins are stacked"),
            OutputPort("progress", float, description="part that is stacked, 0..1"),
            OutputPort("summary", str, description="one line"),
        )

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene
        scene.receive_frames()
        self._watch: BinWatch | None = None
        self._sight = BinSight()
        self._seen_at = self._heard_at = -math.inf

    def tick(self) -> NodeStatus:
        """Look."""
        now = self._scene.now
        if self._watch is None:
            self._watch, self._seen_at, self._heard_at = self._new_watch(), now, now
        self._seen_at, self._heard_at = min(self._seen_at, now), min(self._heard_at, now)
        if self.get_input("heard"):
            self._heard_at = now
        snapshot = self._scene.snapshot
        tool = self._scene.frame_pose(self.get_input("tool_frame"))
        if snapshot is not None and tool is not None:
            self._seen_at = now
            self._observe(self._watch, snapshot, tool)
        self._write(self._watch, self._sight)
        trouble = self._trouble(self._watch, now)
        self.set_failure_reason(trouble)
        return NodeStatus.FAILURE if trouble else NodeStatus.SUCCESS

    def _trouble(self, watch: BinWatch, now: float) -> str:
        """Why it cannot go on; empty: it can."""
        patience, blind, deaf = self.get_input("patience"), self._seen_at, self._heard_at
        if now - blind > patience:
            return (
                f"no fresh scene with '{self.get_input('tool_frame')}' for {now - blind:.1f} s: do "
                "the camera, the scene node and the robot's drivers run?"
            )
        if now - deaf > patience:
            return (
                f"the vacuum sensor has been silent for {now - deaf:.1f} s: see whether the "
                "gripper's driver runs"
            )
        if watch.losses >= self.get_input("max_losses"):
            return (
                f"{watch.losses} bins in a row were lost on the way: see whether the pump, the cup "
                "and the bins' floors are sound"
            )
        return ""

    def _new_watch(self) -> BinWatch:
        wanted = self.get_input("bins")
        places = pallet_places(
            self.get_input("columns"),
            self.get_input("rows"),
            self.get_input("layers"),
            pitch=self.get_input("pitch"),
            first=self.get_input("first_height"),
        )
        if not 1 <= wanted <= len(places):
            raise ValueError(f"bins is {wanted}: give 1..{len(places)}, the pallet's places")
        return BinWatch(
            BinFloor(self.get_input("base"), self.get_input("gap")),
            places,
            replace(
                PickRegion(),
                x=self._interval("x"),
                y=self._interval("y"),
                reach=self.get_input("reach"),
                fallen=self.get_input("fallen"),
            ),
        )

    def _interval(self, port: str) -> tuple[float, float]:
        numbers = self.get_input(port)
        if len(numbers) != 2 or numbers[0] >= numbers[1]:
            raise ValueError(f"{port} must be low;high [m], not {numbers}")
        return numbers[0], numbers[1]

    def _observe(self, watch: BinWatch, snapshot: SceneSnapshot, tool: Matrix) -> None:
        bins = bins_of(snapshot, self.get_input("class_id"))
        self._sight = watch.look(
            bins,
            tool,
            suction=self.get_input("suction"),
            now=self._scene.now,
            stamp=snapshot.stamp,
            stale=[name for name in bins if snapshot.objects[name].stale],
            tool_then=self._scene.frame_pose(self.get_input("tool_frame"), snapshot.stamp),
        )

    def _write(self, watch: BinWatch, sight: BinSight) -> None:
        active, count, wanted = sight.active, len(watch.stacked), self.get_input("bins")
        self.set_output("watch", watch)
        self.set_output("sight", sight)
        self.set_output("active", active.name if active else "")
        self.set_output("needs_flip", active is not None and active.needs_flip)
        self.set_output("reached", active is not None and active.is_grasp_reached)
        self.set_output("attached", active is not None and active.is_attached)
        self.set_output("complete", count >= wanted)
        self.set_output("progress", min(count / wanted, 1.0))
        parts = [f"{count} of {wanted} bins stacked"]
        if active is not None:
            way = "opening up" if active.needs_flip else "opening down"
            parts.append(f"{'carries' if active.is_attached else 'next'} {active.name}, {way}")
        self.set_output("summary", " | ".join(parts))


class WaitForBin(SceneWaiter):
    """Waits while there is no bin to take; FAILURE with what is known of it after a time."""

    ports = ports_list(
        _sight_port(),
        InputPort("patience", float, default=60.0, description="[s] without a bin to take"),
    )

    def on_running(self) -> NodeStatus:
        """Wait."""
        sight: BinSight = self.get_input("sight")
        if sight.active is not None:
            return NodeStatus.SUCCESS
        why = sight.trouble() or (
            "see whether the conveyor runs or is jammed, and whether the camera sees where it ends"
        )
        return self.wait_or_fail(f"no bin to take for {self.waited:.0f} s: {why}")


class ConfirmBin(SceneWaiter):
    """Waits until the active bin has been seen with the tool at it; FAILURE where it is beside the
    tool: it has moved while the camera did not see it.
    """

    ports = ports_list(
        _sight_port(),
        InputPort("patience", float, default=5.0, description="[s] without a look at the bin"),
    )
    _since = math.inf
    """[s] when a look must have been at the earliest."""

    def on_start(self) -> NodeStatus:
        """Look."""
        self._since = self._scene.now - RECENT
        return super().on_start()

    def on_running(self) -> NodeStatus:
        """Wait."""
        self._since = min(self._since, self._scene.now)  # the clock may be set back
        sight: BinSight = self.get_input("sight")
        if sight.active is None:
            self.set_failure_reason("there is no bin to grip")
            return NodeStatus.FAILURE
        name = sight.active.name
        if sight.bins[name].last_seen < self._since:
            return self.wait_or_fail(f"{name} has not been seen for {self.waited:.1f} s")
        beside = math.dist(sight.active.grasp[:2, 3], sight.tool[:2, 3])
        if beside <= AT_GRASP:
            return NodeStatus.SUCCESS
        self.set_failure_reason(f"{name} is {1e3 * beside:.0f} mm beside the tool: it has moved")
        return NodeStatus.FAILURE


class AimAtBin(SyncActionNode):
    """Where the tool goes to grip the active bin: it stays until the bin has moved beyond noise.

    In each tick also whether obstacles must be heeded on the way there.
    """

    ports = ports_list(
        _sight_port(),
        InputPort("frame", str, default="world", description="of the scene"),
        InputPort("flip_approach", float, default=0.3, description="[m] into an open bin"),
        InputPort("approach_length", float, default=0.1, description="[m] onto a turned one"),
        OutputPort("pose", PoseStamped, description="of the tool"),
        OutputPort("approach", Vector3, description="[m] in the axes of that pose"),
        _crossing_port(),
        OutputPort("station", bool, description="the flip station is an obstacle"),
    )

    def __init__(self, name: str, config: NodeConfig) -> None:
        """Make the node, as the factory does."""
        super().__init__(name, config)
        self._target = np.full((4, 4), math.inf)
        self._aimed_at = ""
        """Name of the bin."""

    def tick(self) -> NodeStatus:
        """Aim."""
        sight: BinSight = self.get_input("sight")
        active, tool = sight.active, sight.tool
        if active is None:
            self.set_failure_reason("there is no bin to grip")
            return NodeStatus.FAILURE
        # The next bin lies where the last one lay, but may be turned: it is gripped as suits it.
        if active.name == self._aimed_at and is_near(active.grasp, self._target, DRIFTS):
            wanted = with_the_base(turned(active.grasp, self._target), beyond=WAVERS)
        else:
            wanted = with_the_base(active.grasp)
        self._aimed_at = active.name
        if not is_near(wanted, self._target, *STEADY):
            self._target = wanted
        target = self._target
        longest = self.get_input("flip_approach" if active.needs_flip else "approach_length")
        distance = float(np.linalg.norm(tool[:3, 3] - target[:3, 3]))
        self.set_output("pose", stamped(self.get_input("frame"), target, digits=DIGITS))
        self.set_output("approach", Vector3(z=min(longest, in_steps(distance))))
        self.set_output("crossing", on_opposite_sides(tool[:3, 3], target[:3, 3]))
        self.set_output("station", not clears_station(tool, target))
        return NodeStatus.SUCCESS


class CrossesMiddle(SyncActionNode):
    """Tells whether the way from the tool to a target leads past the middle; always SUCCESS."""

    ports = ports_list(
        _sight_port(),
        InputPort("target", PoseStamped, description="[m] in the frame of the scene"),
        _crossing_port(),
    )

    def tick(self) -> NodeStatus:
        """Tell."""
        sight: BinSight = self.get_input("sight")
        position = pose_to_matrix(self.get_input("target").pose)[:3, 3]
        self.set_output("crossing", on_opposite_sides(sight.tool[:3, 3], position))
        return NodeStatus.SUCCESS


class ChoosePlace(SyncActionNode):
    """Chooses the first free place of the pallet, and begins to aim at it."""

    ports = ports_list(
        _watch_port(),
        InputPort("adjust", bool, default=True, description="move over the bin below"),
        InputPort("gain", float, default=0.1, description="of the error, with each look"),
        InputPort("gate", float, default=0.02, description="[m] misaligned: not corrected"),
        InputPort("approach_length", float, default=0.35, description="[m] stand-off"),
        InputPort("capped", bool, default=True, description="never longer than the way left"),
        InputPort("retry_length", float, default=0.15, description="[m] at least, in retries"),
        OutputPort("aim", PlaceAim, description="for AimAtPlace"),
        OutputPort("funnel", RetryFunnel, description="for AimAtPlace"),
    )
    """`place_capped` and lengths as ChooseNumbers gives them."""

    def tick(self) -> NodeStatus:
        """Choose."""
        watch: BinWatch = self.get_input("watch")
        number = watch.next_place()
        if number is None:
            self.set_failure_reason("the pallet is full: ask for fewer bins, or clear it")
            return NodeStatus.FAILURE
        gain = self.get_input("gain") if self.get_input("adjust") else 0.0
        self.set_output("aim", PlaceAim(watch.places[number], gain, self.get_input("gate")))
        funnel = RetryFunnel(
            self.get_input("approach_length"),
            self.get_input("retry_length"),
            capped=self.get_input("capped"),
        )
        self.set_output("funnel", funnel)
        return NodeStatus.SUCCESS


class AimAtPlace(SyncActionNode):
    """Where the tool sets its bin down, moved with each new look until it is right over the bin
    below. FAILURE where that stands too far off, and when the bin was pushed aside too often.
    """

    ports = ports_list(
        _sight_port(),
        InputPort("frame", str, default="world", description="of the scene"),
        InputPort("aim", PlaceAim, description="by ChoosePlace"),
        InputPort("funnel", RetryFunnel, description="by ChoosePlace"),
        InputPort("max_pushes", int, default=3, description="times that it may be pushed off"),
        OutputPort("pose", PoseStamped, description="of the tool"),
        OutputPort("approach", Vector3, description="[m] in the frame of the scene"),
        OutputPort("may_touch", list[str], description="pallet and bins at the place"),
        OutputPort("feel", bool, description="it was pushed aside: look where the tool is"),
        _crossing_port(),
    )

    def __init__(self, name: str, config: NodeConfig) -> None:
        """Make the node, as the factory does."""
        super().__init__(name, config)
        self._looked = -math.inf
        self._target = np.full((4, 4), math.inf)

    def tick(self) -> NodeStatus:
        """Aim."""
        sight: BinSight = self.get_input("sight")
        aim: PlaceAim = self.get_input("aim")
        funnel: RetryFunnel = self.get_input("funnel")
        held = sight.bins[sight.active.name] if sight.active is not None else None
        under = bin_below(aim.place, sight.stacked, sight.bins)
        if held is not None and sight.stamp != self._looked:
            self._looked = sight.stamp
            tool, carried = sight.tool[:3, 3], held.pose[:3, 3]
            if under is not None:
                aim.adjust(tool, carried, under.pose[:3, 3])
            else:
                aim.centre(tool, carried)
        if not is_near(aim.pose(), self._target, FINE):
            self._target = aim.pose()
        target = self._target
        length = in_steps(funnel.stand_off(sight.tool, target))
        self.set_output("pose", stamped(self.get_input("frame"), target, digits=DIGITS))
        self.set_output("approach", Vector3(z=-length))
        self.set_output("feel", funnel.feels)
        self.set_output("may_touch", [PALLET, *_around(aim, sight)])
        self.set_output("crossing", aim.crossing(sight.tool[:3, 3]))
        trouble = self._trouble(aim, funnel, held, under)
        self.set_failure_reason(trouble)
        return NodeStatus.FAILURE if trouble else NodeStatus.SUCCESS

    def _trouble(
        self, aim: PlaceAim, funnel: RetryFunnel, held: SceneBody | None, under: SceneBody | None
    ) -> str:
        """Why no bin can be placed there; empty: one can."""
        if held is not None and under is not None and aim.gain and aim.too_far >= TOO_FAR:
            if aim.is_in_place(under.pose[:3, 3]):
                return f"{held.name} hangs beside the tool"
            x, y = 1e3 * (under.pose[:2, 3] - aim.place[:2])
            return f"{under.name} below is {x:.0f};{y:.0f} mm off its place: straighten the stack"
        most = self.get_input("max_pushes")
        if funnel.pushes < most:
            return ""
        return f"the bin was pushed off its place {most} times: clear the pallet there"


def _around(aim: PlaceAim, sight: BinSight) -> list[str]:
    """Stacked bins that a bin may brush against at its place."""
    there = [sight.bins[name] for name in sight.stacked if name in sight.bins]
    return [bin.name for bin in there if math.dist(bin.pose[:2, 3], aim.place[:2]) < BRUSHES]


class LiftTarget(SyncActionNode):
    """Where the tool is, a little higher."""

    ports = ports_list(
        _sight_port(),
        InputPort("frame", str, default="world", description="of the scene"),
        InputPort("height", float, description="[m] upwards"),
        InputPort("least", float, default=-9.0, description="[m] height that it gets to"),
        OutputPort("pose", PoseStamped, description="of the tool"),
    )

    def tick(self) -> NodeStatus:
        """Compute."""
        sight: BinSight = self.get_input("sight")
        target = np.array(sight.tool)
        target[2, 3] = max(target[2, 3] + self.get_input("height"), self.get_input("least"))
        self.set_output("pose", stamped(self.get_input("frame"), target, digits=DIGITS))
        return NodeStatus.SUCCESS


class NoteBin(SyncActionNode):
    """Notes what no sensor tells: that the bin on the tool is let go, or stands on the pallet."""

    ports = ports_list(_watch_port(), InputPort("event", str, description="letting_go or placed"))

    def tick(self) -> NodeStatus:
        """Note it."""
        watch: BinWatch = self.get_input("watch")
        events = {"letting_go": watch.letting_go, "placed": watch.placed}
        event: str = self.get_input("event")
        if event not in events:
            raise ValueError(f"event is '{event}', give {' or '.join(events)}")
        events[event]()
        return NodeStatus.SUCCESS


def bins_of(snapshot: SceneSnapshot, class_id: str) -> dict[str, SceneBody]:
    """The bins of a snapshot by name, lost ones left out."""
    return {
        name: snapshot.bodies[name]
        for name, seen in snapshot.objects.items()
        if seen.class_id == class_id and name in snapshot.bodies
    }


def in_steps(length: float) -> float:
    """A length [m], rounded up."""
    return math.ceil(length / STEP - 1e-9) * STEP


NODES: tuple[type[TreeNode], ...] = (
    ChooseNumbers,
    AimAtBin,
    CrossesMiddle,
    ChoosePlace,
    AimAtPlace,
    LiftTarget,
    NoteBin,
)
"""Nodes that see what ObserveBins has seen."""
