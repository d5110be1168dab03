# SPDX-License-Identifier: Apache-2.0
"""The navigation world as ROS nodes in one process.

The node itself owns the clock and what only a simulation can: resets, disturbances, figures. Its
companions are what a robot has: base driver, localizer, planners, map loader, an operator.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any

from behavior_msgs.msg import Maneuver, Metric, Metrics, PlannerOperationMode
from behavior_msgs.srv import DisturbNavigation, ResetWorld
from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from behavior_ros import (
    ERROR,
    OK,
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    WARN,
    DiagnosticsPublisher,
    ParameterError,
    ParameterSpec,
    create_transform_broadcaster,
    declare_all,
    read_only,
    run,
    seconds,
    to_time,
)
from behavior_sim.navigation import messages
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.entities import (
    EvidenceNode,
    LocalizerNode,
    PathPlannerNode,
    SpeedDecisionNode,
    TrajectoryPlannerNode,
)
from behavior_sim.navigation.host import EntityNode, Host
from behavior_sim.navigation.operator import Habits, OperatorNode
from behavior_sim.navigation.path_planner import Reason
from behavior_sim.navigation.servers import (
    BaseNode,
    MapLoaderNode,
    RoutePlannerNode,
    SemanticRegionsNode,
)
from behavior_sim.navigation.state import NavigationState
from behavior_sim.navigation.system import TIMESTEP, NavigationSystem, TruthEvent
from behavior_sim.navigation.track import TrackRecorder
from behavior_sim.navigation.tracker import TrajectoryCode
from behavior_sim.navigation.world import UnknownName
from behavior_sim.node.heard_followers import BUSY_SPEED, HeardFollowers
from behavior_sim.node.lead import Lead
from behavior_sim.node.stepper import Stepper
from behavior_sim.recordings.recording import RecordingError
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_navigation_world
from behavior_sim.worlds.state_file import SUFFIX, StateError
from behavior_tree.shown_text import reason_text

SUCCESS, UNKNOWN, INVALID = 0, 101, 102
_CHUNK = 2
"""Time steps between two looks at the pace."""
_REMINDER = 0.1
"""[s] of wall time between two publications of a time that stands still."""

PARAMETERS = [
    read_only("world", "", "Name of the world, or its YAML file."),
    ParameterSpec(
        "speed", 1.0, "Simulated seconds per second; 0: as fast as possible.", range=(0.0, 1000.0)
    ),
    BUSY_SPEED,
    read_only("seed", 0, "Of all noise.", range=(0, 2**31 - 1)),
    read_only("clock_rate", 12.5, "Of /clock [Hz, simulated].", range=(1.0, 50.0)),
    ParameterSpec(
        "max_lead",
        # The base obeys commands that are so old: from 0.4 s on it weaves.
        0.2,
        "Time ahead of the executor, by the stamps of mode and maneuvers, at which the world waits "
        "[s].",
        range=(0.1, 1000.0),
    ),
    read_only(
        "localization_noise", 0.015, "Standard deviation of the tracked pose [m].", range=(0.0, 1.0)
    ),
    read_only("loading_delay", 1.0, "Loading a tile takes [s].", range=(0.0, 600.0)),
    read_only(
        "reroute_patience",
        3.0,
        "Time that a way may be blocked before another route is recommended [s].",
        range=(0.0, 600.0),
    ),
    read_only(
        "recording", "", "File that simulation/save_recording writes; empty: nothing is recorded."
    ),
    read_only("autostart", True, "Localizer, egm, rpp, sdm and tp start active."),
    read_only(
        "operator_holds_deadman", True, "The operator holds the deadman switch from the beginning."
    ),
    read_only(
        "operator_chooses_autonomous", False, "The operator chooses once that the autonomy drives."
    ),
    read_only(
        "operator_presses_again",
        False,
        "The operator releases a deadman switch that is held in vain, and presses it again.",
    ),
]


class NavigationSimulationNode(Node):  # type: ignore[misc] # rclpy has no type information
    """The simulated world, its clock, and the process that all its nodes live in.

    Args:
        node_name: its name.
        **kwargs: passed on to ``rclpy.node.Node``.

    Raises:
        FileNotFoundError: no such world.
        ParameterError: the world's description is wrong.
    """

    def __init__(self, node_name: str = "simulation", **kwargs: Any) -> None:
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        try:
            config = load_navigation_world(find_navigation_world(values["world"]))
        except WorldError as error:
            raise ParameterError(f"parameter world: {error}") from error
        self._lock = threading.RLock()
        self._system = NavigationSystem(
            config,
            seed=values["seed"],
            localization_noise=values["localization_noise"],
            loading_delay=values["loading_delay"],
            patience=values["reroute_patience"],
        )
        self._recording: str = values["recording"]
        self._track = TrackRecorder()
        self._lead = Lead(values["max_lead"])
        self._reminded_at, self._told_at = -math.inf, 0.0
        self._stepper = Stepper(
            self._advance, speed=values["speed"], on_error=self._on_error, hold=self._hold
        )
        self._followers = HeardFollowers(self, values, self._stepper.nudge)
        self._clock_every = max(1, round(1.0 / (values["clock_rate"] * TIMESTEP)))
        self._create_interfaces()
        self._create_nodes(values)
        self.add_post_set_parameters_callback(self._on_parameters)
        self._measured = (time.monotonic(), 0.0)
        self._system.republish_maps()
        self._stepper.start()
        self.get_logger().info(
            f"world {config.name} with tiles {', '.join(config.tiles)}, seed {values['seed']}, "
            "speed " + (f"{values['speed']:g}" if values["speed"] else "as fast as possible")
        )

    def destroy_node(self) -> None:
        """Stop the time, and go."""
        self._stepper.stop()
        super().destroy_node()

    def _create_interfaces(self) -> None:
        self._clock_publisher = self.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        self._metrics = self.create_publisher(Metrics, "behavior/metrics", QOS_EVENT_LOG)
        self._diagnostics = DiagnosticsPublisher(self, "world", "simulation")
        self.create_service(DisturbNavigation, "simulation/disturb_navigation", self._on_disturb)
        self.create_service(ResetWorld, "simulation/reset", self._on_reset)
        self.create_service(SetBool, "simulation/pause", self._on_pause)
        if self._recording:
            self._system.on(TruthEvent, self._record)
            self.create_service(Trigger, "simulation/save_recording", self._on_save)
        steady = RosClock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0, self._measure, clock=steady)

        self.create_subscription(
            PlannerOperationMode, "planner_operation_mode", self._follow, QOS_LATCHED
        )
        self.create_subscription(Maneuver, "maneuver", self._follow, QOS_COMMAND)

    def _create_nodes(self, values: dict[str, Any]) -> None:
        host = Host(
            node=self,
            system=self._system,
            lock=self._lock,
            transforms=create_transform_broadcaster(self),
        )
        self.entities: list[EntityNode] = [
            LocalizerNode(host),
            EvidenceNode(host),
            PathPlannerNode(host),
            SpeedDecisionNode(host),
            TrajectoryPlannerNode(host),
        ]
        BaseNode(host)
        RoutePlannerNode(host)
        SemanticRegionsNode(host)
        MapLoaderNode(host)
        OperatorNode(
            host,
            Habits(
                holds=values["operator_holds_deadman"],
                chooses_autonomous=values["operator_chooses_autonomous"],
                presses_again=values["operator_presses_again"],
            ),
        )
        for entity in self.entities:
            entity.start(values["autostart"])

    # -- in the simulation's thread

    def _hold(self, now: float) -> float:
        """How long to wait for the executor, and for who follows the clock [s, wall]."""
        # Who follows has come to the time that was told last, at most.
        followed = self._followers.wait(now, ahead=now - self._told_at)
        wait = max(self._lead.wait(now), followed)
        if wait > 0.0 and time.monotonic() - self._reminded_at > _REMINDER:
            # Who has not heard the time yet could not catch up.
            self._reminded_at = time.monotonic()
            self._clock_publisher.publish(Clock(clock=to_time(now)))
        return min(wait, _REMINDER)

    def _follow(self, message: Any) -> None:
        stamp = seconds(message.header.stamp)
        if stamp > 0.0:  # else its sender knows no time
            self._lead.follow(stamp)
            self._stepper.nudge()

    def _advance(self) -> float:
        system = self._system
        self._followers.begin_step(system.now)
        with self._lock:
            for _ in range(_CHUNK):
                system.step()
                if system.steps % self._clock_every == 0:
                    self._told_at = system.now
                    self._clock_publisher.publish(Clock(clock=to_time(system.now)))
                if system.steps % round(1.0 / TIMESTEP) == 0:
                    self._metrics.publish(self._figures())
            return system.now

    def _figures(self) -> Metrics:
        world = self._system.world
        error = self._system.estimate.distance_to(world.robot.x, world.robot.y)
        counters = {
            "collisions": float(world.collisions),
            "touched_by_people": float(world.touches),
        }
        gauges = {"distance_driven": (world.distance, "m"), "localization_error": (error, "m")}
        return Metrics(
            header=messages.header(self._system.now),
            component="navigation_world",
            metrics=[
                *(Metric(name=name, kind=Metric.COUNTER, value=v) for name, v in counters.items()),
                *(
                    Metric(name=name, kind=Metric.GAUGE, value=v, unit=unit)
                    for name, (v, unit) in gauges.items()
                ),
            ],
        )

    def _on_error(self, error: Exception) -> None:
        self.get_logger().error(reason_text(f"the world stands still: {error}"))
        self._diagnostics.set(ERROR, f"the world stands still: {error}; restart the simulation")

    def _record(self, _: TruthEvent) -> None:
        self._track.record(self._system.now, self._system.world)

    # -- callbacks

    def _on_disturb(self, request: Any, response: Any) -> Any:
        try:
            with self._lock:
                response.message = self._disturb(request)
        except UnknownName as error:
            response.code, response.message = UNKNOWN, str(error)
        except ValueError as error:
            response.code, response.message = INVALID, str(error)
        return response

    def _disturb(self, request: Any) -> str:
        system, world, name = self._system, self._system.world, request.name
        pose = messages.pose_from(request.pose)
        numbers = (pose.x, pose.y, pose.yaw, request.duration, request.speed, *request.size)
        if not all(math.isfinite(number) for number in numbers) or request.duration < 0.0:
            raise ValueError("the request holds what is no number, or a negative duration")
        kind = request.kind
        if kind in (request.BLOCK, request.ADD_PERSON) and not name:
            raise ValueError("give a name, by which it can be taken away again")
        if kind == request.BLOCK:
            world.block(name, pose, (request.size[0], request.size[1]))
            return f"'{name}' stands at ({pose.x:.2f}, {pose.y:.2f})"
        if kind == request.UNBLOCK:
            world.unblock(name)
            return f"'{name}' is away" if name else "all obstacles are away"
        if kind == request.LOSE_LOCALIZATION:
            system.localizer.lose(system.now, request.duration)
            return "the localizer has lost the robot"
        if kind == request.MOVE_FRAME:
            world.move_frame(name, pose)
            return f"frame '{name}' is at ({pose.x:.2f}, {pose.y:.2f})"
        if kind == request.ADD_PERSON:
            world.add_person(name, pose, min(max(request.speed, 0.0), 3.0))
            return f"'{name}' walks"
        if kind == request.REMOVE_PERSON:
            world.remove_person(name)
            return f"'{name}' is gone"
        if kind == request.FAIL_MAP:
            system.loader.fail_next(name, request.cause)
            return f"the next {request.cause} loads of {name or 'any tile'} fail"
        return self._fail(request)

    def _fail(self, request: Any) -> str:
        kinds = {
            request.FAIL_PLANNER: ("planner", Reason),
            request.FAIL_TRAJECTORY: ("trajectory", TrajectoryCode),
            request.FAIL_ROUTE: ("route", None),
        }
        if request.kind not in kinds:
            raise ValueError(f"{request.kind} is no kind of disturbance: see DisturbNavigation")
        what, causes = kinds[request.kind]
        cause = int(request.cause)
        if causes is None:
            self._system.fail(what, 1, request.duration)
            return f"the route planner is silent for {request.duration:g} s"
        if cause not in set(causes) or cause == 0:
            known = ", ".join(f"{item.value} {item.name}" for item in causes if item.value)
            raise ValueError(f"cause {cause} is none of {known}")
        self._system.fail(what, cause, request.duration)
        return f"{what} fails with {causes(cause).name} for {request.duration:g} s"

    def _on_reset(self, request: Any, response: Any) -> Any:
        layout, state = request.layout, None
        if layout not in ("", "default") and not layout.endswith(SUFFIX):
            response.code = UNKNOWN
            response.message = (
                f"there is no layout '{layout}': choose default, or a file of a state"
            )
            return response
        try:
            if layout.endswith(SUFFIX):
                state = NavigationState.load(layout)
            with self._lock:
                self._system.reset(request.seed, state)
                self._track.clear()
        except (StateError, UnknownName) as error:
            response.code, response.message = INVALID, str(error)
            return response
        what = layout if state is not None else "start state"
        response.code, response.message = SUCCESS, f"{what} with seed {request.seed}"
        return response

    def _on_save(self, _request: Any, response: Any) -> Any:
        try:
            with self._lock:
                count = self._track.save(self._recording)
        except (OSError, RecordingError) as error:
            response.success, response.message = False, str(error)
        else:
            response.success = True
            response.message = f"{count} places of the robot are in {self._recording}"
        return response

    def _on_pause(self, request: Any, response: Any) -> Any:
        self._stepper.paused = request.data
        response.success = True
        response.message = "paused" if request.data else "running"
        return response

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        changed = {parameter.name: parameter.value for parameter in parameters}
        self._stepper.speed = changed.get("speed", self._stepper.speed)
        self._lead.limit = changed.get("max_lead", self._lead.limit)
        self._followers.take(changed)

    def _measure(self) -> None:
        """Report the speed reached."""
        self._followers.count()
        before, simulated = self._measured
        self._measured = (time.monotonic(), self._system.now)
        factor = (self._measured[1] - simulated) / max(self._measured[0] - before, 1e-3)
        wanted = self._stepper.speed
        level, message = OK, "paused" if self._stepper.paused else "running"
        if wanted and factor < 0.8 * wanted and not self._stepper.paused:
            level, message = WARN, "slower than asked for; this machine has no more to give"
        self._diagnostics.set(
            level, message, speed=wanted, real_time_factor=factor, simulated_time=self._system.now
        )


def main(args: list[str] | None = None) -> int:
    """Run the node until interrupted."""
    return int(run([NavigationSimulationNode], args))


if __name__ == "__main__":
    sys.exit(main())
