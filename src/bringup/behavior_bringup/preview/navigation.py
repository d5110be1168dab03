# SPDX-License-Identifier: Apache-2.0
"""What differs where the robot drives by a map: how it is observed, and how a copy is set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from behavior_msgs.msg import AutonomyLevel, LocalizationResult
from behavior_msgs.srv import SetAutonomyLevel
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.qos import QoSProfile
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage

from behavior_bringup.client import SERVICE_TIMEOUT, StackClient
from behavior_bringup.conversion import sequence_action
from behavior_bringup.errors import BringupError
from behavior_bringup.missions.following import follow
from behavior_bringup.missions.mission_steps import Step
from behavior_bringup.preview.base_state import BelievedBase, seen_beside_map
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.setting import CopySetter
from behavior_bringup.preview.start_state import CopiedWorld
from behavior_motion.planar_pose import Pose2D
from behavior_ros import QOS_COMMAND, QOS_LATCHED
from behavior_sim.navigation import messages
from behavior_sim.navigation.config import NavigationConfig
from behavior_sim.navigation.state import NavigationState

_LOOK = 3.0
"""[s] of wall time for what a stack tells only where somebody listens."""
_SETTLED = 20.0
"""[s simulated] within which the copy is as autonomous as the real stack."""
_LOADED = 60.0
"""[s simulated] for a tile."""


class NavigationObserver:
    """Listens to a robot that drives, through a client, whenever that works."""

    def __init__(self, client: StackClient) -> None:
        """Listen from now on."""
        self._client = client
        self._newest: dict[str, Any] = {}
        self._frames: dict[str, Pose2D] = {}
        for kind, topic, qos in (
            (LocalizationResult, "localization/result", QOS_COMMAND),
            (Odometry, "odom", QOS_COMMAND),
            (OccupancyGrid, "map", QOS_LATCHED),
            (OccupancyGrid, "egm/obstacles", QOS_LATCHED),
            (AutonomyLevel, "autonomy/level", QOS_LATCHED),
        ):
            client.listen(kind, topic, self._taker(topic), qos)
        client.listen(TFMessage, "/tf", self._take_transforms, QoSProfile(depth=100))

    def state(self) -> LiveState:
        """What the stack believes from now on: a place that is older does not count.

        Raises:
            BringupError: place, speed, map or autonomy is not told.
        """
        for topic in ("localization/result", "odom"):
            self._newest.pop(topic, None)
        for topic in ("localization/result", "odom", "map", "autonomy/level"):
            if not self._client.wait(lambda t=topic: t in self._newest, SERVICE_TIMEOUT):  # type: ignore[misc]
                raise BringupError(
                    f"Nothing is told on {topic} in ROS domain {self._client.domain}: is the stack"
                    " up, and its simulation not paused? 'behavior status' tells"
                )
        self._client.wait(lambda: "egm/obstacles" in self._newest, _LOOK)
        place, level = self._newest["localization/result"], self._newest["autonomy/level"]
        twist = self._newest["odom"].twist.twist
        pose = messages.pose_from(place.pose.pose)
        base = BelievedBase(
            pose=(pose.x, pose.y, pose.yaw),
            tile=place.map_id,
            located=place.status == LocalizationResult.GOOD,
            seen=self._seen(),
            frames={name: (at.x, at.y, at.yaw) for name, at in self._frames.items()},
            autonomous=level.selected == AutonomyLevel.AUTONOMOUS,
            switch_held=level.deadman_alive or not level.deadman_enabled,
        )
        speed = max(abs(twist.linear.x), abs(twist.angular.z))
        return LiveState(joints={}, frame=messages.MAP, speed=speed, base=base)

    def is_autonomous(self, wanted: BelievedBase) -> bool:
        """Whether choice and switch are told to be as wanted."""
        level = self._newest.get("autonomy/level")
        return (
            level is not None
            and (level.selected == AutonomyLevel.AUTONOMOUS) == wanted.autonomous
            and (level.deadman_alive or not level.deadman_enabled) == wanted.switch_held
        )

    def _seen(self) -> dict[str, tuple[tuple[float, float, float, float], ...]]:
        shown, seen = self._newest["map"], self._newest.get("egm/obstacles")
        if seen is None or _geometry(seen) != _geometry(shown):
            return {}  # nothing is seen yet on this map
        origin = shown.info.origin.position
        return seen_beside_map(
            _cells(seen), _cells(shown), (origin.x, origin.y), shown.info.resolution
        )

    def _taker(self, topic: str) -> Any:
        def take(message: Any) -> None:
            self._newest[topic] = message

        return take

    def _take_transforms(self, message: TFMessage) -> None:
        for each in message.transforms:
            if each.header.frame_id == messages.MAP and each.child_frame_id != messages.ODOM:
                at, turn = each.transform.translation, each.transform.rotation
                yaw = 2.0 * float(np.arctan2(turn.z, turn.w))
                self._frames[each.child_frame_id] = Pose2D(at.x, at.y, yaw)


def _geometry(grid: OccupancyGrid) -> tuple[float, ...]:
    at = grid.info.origin.position
    return (grid.info.width, grid.info.height, round(at.x, 3), round(at.y, 3))


def _cells(grid: OccupancyGrid) -> Any:
    return np.array(grid.data).reshape(grid.info.height, grid.info.width) > 0


class NavigationSetter(CopySetter):
    """Sets a copy of a navigation world."""

    def __init__(self, client: StackClient, observer: NavigationObserver) -> None:
        """Work through that client, and see what the copy believes by the observer."""
        super().__init__(client)
        self._observer = observer

    def set(self, live: LiveState, world: CopiedWorld, file: str, seed: int = 0) -> list[str]:
        """World, map, and the operator's choice as the real stack has them."""
        base, client = live.base, self._client
        assert base is not None
        held = SetBool.Request(data=True)
        client.call(SetBool, "operator/hold", held)
        before = self._observer.state().base
        client.reset(seed=seed, layout=file)
        if before is not None and before.tile != base.tile:
            # Its executor goes by the tile that it has loaded itself.
            self._choose(replace(base, autonomous=True, switch_held=True))
            self._load(base.tile)
            client.reset(seed=seed, layout=file)
        client.call(SetBool, "operator/hold", SetBool.Request(data=base.switch_held))
        if self._choose(base):
            return []
        return [f"the copy's autonomy is not as the operator has chosen within {_SETTLED:g} s"]

    def _choose(self, base: BelievedBase) -> bool:
        wanted = AutonomyLevel.AUTONOMOUS if base.autonomous else AutonomyLevel.MANUAL
        request = SetAutonomyLevel.Request(level=wanted)
        self._client.call(SetAutonomyLevel, "autonomy/set_level", request)
        return self._client.wait_simulated(
            lambda: self._observer.is_autonomous(base), limit=_SETTLED
        )

    def _load(self, tile: str) -> None:
        action = self._client.give(sequence_action([Step(load_map=tile)]))
        ending = follow(self._client, action, simulated_limit=_LOADED)
        if not ending.succeeded:
            raise BringupError(f"The copy does not load the tile '{tile}': {ending.text}")


def navigation_world(live: LiveState, config: NavigationConfig) -> CopiedWorld:
    """The state of a world in which the robot is where it believes to be."""
    base = live.base
    assert base is not None
    obstacles = {
        f"{name}/{index}": part
        for name, parts in base.seen.items()
        for index, part in enumerate(parts)
    }
    notes = []
    if config.people:
        names = ", ".join(sorted(config.people))
        notes.append(
            f"where people are is not told: in the copy {names} walk as the world's description"
            " has them, from the beginning of their ways"
        )
    if base.seen:
        notes.append(
            f"what is seen beside the map, in {len(base.seen)} places, stands still in the copy;"
            " what is not seen is not in it"
        )
    if not base.located:
        notes.append("the robot is not localized: the copy begins where it was believed last")
    if not base.autonomous:
        notes.append("the operator has not chosen that the autonomy drives: nor in the copy")
    if not base.switch_held:
        notes.append("the deadman switch is not held: nor in the copy")
    frames = {name: pose for name, pose in base.frames.items() if name in config.frames}
    return CopiedWorld(
        state=NavigationState(
            robot=base.pose,
            tile=base.tile or config.start.tile,
            located=base.located,
            obstacles=obstacles,
            frames=frames,
        ),
        notes=notes,
    )
