# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the simulated world.

Offers what a real cell's drivers offer (joint states, trajectory and gripper actions, detections)
and what only a simulation can: the clock, the truth, resets and disturbances. Physics and
publishing run in one thread (`Stepper`), which also does what callbacks ask for.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from behavior_msgs.msg import SceneObjectArray
from behavior_msgs.srv import DisturbWorld, ResetWorld
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
from vision_msgs.msg import Detection3DArray

from behavior_motion.robot.yaml_lines import with_lines
from behavior_ros import (
    ERROR,
    OK,
    QOS_COMMAND,
    QOS_LATCHED,
    WARN,
    DiagnosticsPublisher,
    ParameterError,
    ParameterSpec,
    create_static_transform_broadcaster,
    create_transform_broadcaster,
    declare_all,
    read_only,
    run,
    seconds,
)
from behavior_ros.messages.wire import reading
from behavior_ros.topics.background import create_background_subscription
from behavior_sim.control.base_controller import BaseController
from behavior_sim.control.gripper_controller import GripperController
from behavior_sim.control.joint_trajectory_controller import Tolerances
from behavior_sim.control.part import Part
from behavior_sim.goals import Goal, InvalidGoal, Outcome
from behavior_sim.node import messages
from behavior_sim.node.controller_action_server import ControllerActionServer
from behavior_sim.node.heard_followers import BUSY_SPEED, HeardFollowers
from behavior_sim.node.lead import Lead
from behavior_sim.node.stepper import Stepper
from behavior_sim.recordings.recording import MotionRecorder, RecordingError
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.detection import DetectorConfig
from behavior_sim.worlds.joint_group import Fingers
from behavior_sim.worlds.layouts import UnknownLayout
from behavior_sim.worlds.model import coordinate_names
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.robot import SimulatedBase, SimulatedSuction
from behavior_sim.worlds.state_file import SUFFIX, StateError
from behavior_sim.worlds.suction_cup import SuctionCup
from behavior_sim.worlds.variation import parse_factors
from behavior_sim.worlds.world import InvalidDisturbance, UnknownObject
from behavior_sim.worlds.world_parameter import world_of
from behavior_sim.worlds.world_state import WorldState
from behavior_tree.shown_text import reason_text

SUCCESS = 0
UNKNOWN = 101
INVALID = 102
STREAM_LEAD, STREAM_GAP = 0.01, 0.1
"""[s] of motion after a streamed trajectory from which on the next one is waited for, less than
between two joint states; and until which: then it was no stream."""
DRIVE_LEAD = 0.1
"""[s] of driving after a velocity from which on the next one is waited for: longer than from one to
the next, 50 ms, and what the pose needs that it answers."""
VELOCITY_LEAD = 0.05
"""[s] instead, after a step that went until the next one was due."""
UNDER_WAY = 0.1
"""[s] at most of a step where time goes faster than real time, programs that follow are waited for,
and base, arms and fingers are on their way: what they would see on between decides nothing, and
each look costs as much as the physics."""
OBJECTS_RATE = 10.0
"""[Hz] of the true state of the objects."""
FEEDBACK_RATE = 5.0
"""[Hz] of the actions' feedback."""
_STAYS = 0.01
"""[m] by which an object may come to rest elsewhere than where a state had it."""
ODOMETRY = "odom"
"""Fixed frame of a robot that drives; here it is the world's, and its odometry is the truth."""
ALIVE = 0.5
"""[s] of wall time after which a simulation that waits for others tells its joint states again: a
robot that stands still is not one whose driver is gone."""

_DETECTION = "detection_"
"""What parameters of the detector begin with beside their name there, some of them."""
_DETECTOR = {
    "position_noise": (1.0, "Standard deviation of detections of what is seen whole [m]."),
    "orientation_noise": (3.0, "Standard deviation of detections [rad]."),
    "detection_dropout": (1.0, "Probability that an object goes undetected."),
    "detection_latency": (10.0, "From picture to report [s]."),
    "minimum_visible": (
        1.0,
        "Part of an object that the world's cameras must see; 0: all is seen through everything.",
    ),
    "detection_confusion": (
        1.0,
        "Probability that an object is called by the name of another class.",
    ),
    "detection_doubles": (1.0, "Probability that an object is reported twice."),
}
"""The most each may be, and what it is."""


def _detector(values: Mapping[str, Any]) -> DetectorConfig:
    return DetectorConfig(**{name.removeprefix(_DETECTION): values[name] for name in _DETECTOR})


PARAMETERS = [
    read_only("world", "", "Name of the simulated world, or its YAML file."),
    ParameterSpec(
        "speed", 1.0, "Simulated seconds per second; 0: as fast as possible.", range=(0.0, 1000.0)
    ),
    BUSY_SPEED,
    read_only("seed", 0, "Of start state and noise.", range=(0, 2**31 - 1)),
    read_only("clock_rate", 50.0, "Of /clock [Hz, simulated].", range=(1.0, 500.0)),
    read_only("joint_state_rate", 50.0, "Of /joint_states [Hz].", range=(1.0, 500.0)),
    read_only(
        "detections_by_cameras",
        False,
        "Whether /detections is left to cameras and a detector, instead of the truth with noise.",
    ),
    read_only("camera_rate", 10.0, "Of /detections [Hz].", range=(0.1, 100.0)),
    read_only(
        "state_rate",
        50.0,
        "Of /simulation/state, which cameras draw, while somebody listens [Hz].",
        range=(0.1, 100.0),
    ),
    *(
        ParameterSpec(
            name,
            getattr(DetectorConfig(), name.removeprefix(_DETECTION)),
            about,
            range=(0.0, most),
        )
        for name, (most, about) in _DETECTOR.items()
    ),
    ParameterSpec(
        "max_lead",
        0.3,
        "Time ahead of /scene/objects, and of detections by cameras, at which the simulation waits"
        " [s].",
        range=(0.12, 1000.0),
    ),
    ParameterSpec(
        "variation",
        "",
        "What is different from the world's file from the next reset on: a JSON mapping of factors"
        " such as mass, friction, dropout (behavior_sim.worlds.variation); empty: nothing.",
    ),
    read_only("recording", "", "File that the motion is recorded to; empty: not."),
]


class _Due:
    """Says when it is time for something that happens at a rate, counted in physics steps."""

    def __init__(self, rate: float, timestep: float) -> None:
        self.period = max(1, round(1.0 / (rate * timestep)))
        self._next = 0

    def __call__(self, steps: int) -> bool:
        if steps < self._next:
            return False
        self._next = (steps // self.period + 1) * self.period
        return True


class SimulationNode(Node):  # type: ignore[misc]
    """The simulated world as a ROS node.

    Args:
        node_name: its name.
        **kwargs: passed on to ``rclpy.node.Node``.

    Raises:
        FileNotFoundError: no such world, or the robot's model is not installed.
        ParameterError: the world's description is wrong.
    """

    def __init__(self, node_name: str = "simulation", **kwargs: Any) -> None:
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        config = world_of(values["world"])
        try:
            self._simulation = Simulation(config, seed=values["seed"], detector=_detector(values))
        except ValueError as error:  # names that its robot does not have, or what MuJoCo refuses
            where = find_world(values["world"])
            message = with_lines(f"{where}: {error}", where)
            raise ParameterError(f"parameter world: {message}") from error
        self._seed, self._variation = values["seed"], ""
        self._recording = values["recording"]
        if self._recording:
            self._simulation.recorder = MotionRecorder(config)
        # Pictures that are late by themselves do not mean that somebody is behind.
        self._camera_latency = max((c.noise.latency for c in config.cameras.values()), default=0.0)
        self._published_at = time.monotonic()
        self._lead, self._camera_lead = Lead(values["max_lead"]), Lead(values["max_lead"])
        self._stream_lead, self._stream_end = Lead(STREAM_LEAD), 0.0
        self._drive_lead = Lead(DRIVE_LEAD)
        self._newest_step = 0.0
        self._stepper = Stepper(
            self._advance, speed=values["speed"], on_error=self._on_error, hold=self._hold
        )
        self._followers = HeardFollowers(self, values, self._stepper.nudge)
        self._create_publishers(values)
        self._create_servers()
        self.add_post_set_parameters_callback(self._on_parameters)
        self._diagnostics = DiagnosticsPublisher(self, "physics", "mujoco")
        self._measured = (time.monotonic(), self._simulation.time)
        self.create_timer(1.0, self._measure, clock=RosClock(clock_type=ClockType.STEADY_TIME))
        self._stepper.start()
        self.get_logger().info(
            f"world {config.name} with {', '.join(self._simulation.world.visible_objects)}, "
            f"seed {self._seed}, speed "
            + (f"{values['speed']:g}" if values["speed"] else "as fast as possible")
        )

    def destroy_node(self) -> None:
        """Stop the physics, save the recording, and go."""
        self._stepper.stop()
        if self._recording:
            self._save()
        super().destroy_node()

    # -- set-up -------------------------------------------------------------------------------

    def _create_publishers(self, values: dict[str, Any]) -> None:
        config = self._simulation.config
        newest = QoSProfile(depth=1)
        self._clock_publisher = self.create_publisher(Clock, "/clock", newest)
        self._joints_publisher = self.create_publisher(JointState, "joint_states", 10)
        self._detections_publisher = self.create_publisher(Detection3DArray, "detections", 10)
        self._objects_publisher = self.create_publisher(
            SceneObjectArray, "simulation/objects", newest
        )
        self._state_publisher = self.create_publisher(JointState, "simulation/state", newest)
        self._clock_message = Clock()
        self._joints_message = messages.JointStateMessage(self._simulation.world)
        self._make_object_messages()
        self._state_message = messages.StateMessage(coordinate_names(self._simulation.world.model))
        self._truthful = not values["detections_by_cameras"]
        rates = {
            "clock": values["clock_rate"],
            "joints": values["joint_state_rate"],
            "camera": values["camera_rate"],
            "state": values["state_rate"],
            "objects": OBJECTS_RATE,
            "feedback": FEEDBACK_RATE,
        }
        self._due = {name: _Due(rate, config.timestep) for name, rate in rates.items()}
        self._chunk = min(due.period for due in self._due.values())
        base = TransformStamped()
        drives = config.robot.base is not None
        base.header.frame_id = "world"
        base.child_frame_id = ODOMETRY if drives else config.robot.description.base_frame
        base.transform.rotation.w = 1.0
        self._static = create_static_transform_broadcaster(self)
        self._static.send([base])

        create_background_subscription(
            self, SceneObjectArray, "scene/objects", self._on_scene, QOS_LATCHED
        )
        if not self._truthful:
            self.create_subscription(Detection3DArray, "detections", self._on_detections, newest)

    def _make_object_messages(self) -> None:
        seen, robot = self._simulation.world.visible_objects, self._simulation.config.robot
        hands = {group.name: group.hand_link for group in robot.groups}
        self._detections_message = messages.DetectionsMessage(seen)
        self._objects_message = messages.ObjectsMessage(
            seen, hands, drives=self._simulation.base is not None
        )

    def _create_servers(self) -> None:
        self.create_service(ResetWorld, "simulation/reset", self._on_reset)
        self.create_service(DisturbWorld, "simulation/disturb", self._on_disturb)
        self.create_service(SetBool, "simulation/pause", self._on_pause)
        self.create_service(Trigger, "simulation/save_recording", self._on_save)
        simulation = self._simulation
        self._arm_servers: dict[str, ControllerActionServer] = {}
        self._gripper_servers: dict[str, ControllerActionServer] = {}
        for name, part in simulation.parts.items():
            self._arm_servers[name] = self._serve_arm(part)
            if part.gripper is not None and part.fingers is not None:
                self._gripper_servers[name] = self._serve_fingers(
                    part.config.gripper_action, part.gripper, part.fingers
                )
        if simulation.config.robot.base is not None and simulation.base is not None:
            self._serve_base(simulation.config.robot.base, simulation.base)
        if simulation.config.robot.suction is not None and simulation.world.cup is not None:
            self._serve_suction(simulation.config.robot.suction, simulation.world.cup)
        for name in simulation.faults.names:
            self.create_service(SetBool, f"simulation/fault/{name}", partial(self._on_fault, name))

    def _serve_arm(self, part: Part) -> ControllerActionServer:
        if part.config.arm_topic is not None:
            self._hear_command(
                JointTrajectory,
                part.config.arm_topic,
                partial(deserialize_message, message_type=JointTrajectory),
                partial(self._stream_trajectory, part),
                QoSProfile(depth=1),
            )
        return ControllerActionServer(
            self,
            FollowJointTrajectory,
            part.config.arm_action,
            post=self._stepper.post,
            start=partial(self._start_trajectory, part),
            cancel=lambda goal: part.arm.cancel(self._simulation.time, goal),
            result=messages.trajectory_result,
        )

    def _hear_command(
        self,
        message_type: Any,
        topic: str,
        read: Callable[[bytes], Any],
        command: Callable[[Any], None],
        qos: QoSProfile,
    ) -> None:
        """Obey what comes many times a second: in the background, as the next step waits for it."""

        def hear(data: bytes) -> None:
            try:
                wanted = read(data)
            except (ValueError, RuntimeError) as error:  # RuntimeError: rclpy cannot read it
                self.get_logger().warning(
                    reason_text(f"{topic}: a message was ignored: {error}"),
                    throttle_duration_sec=5.0,
                )
                return
            self._stepper.post(partial(command, wanted))

        create_background_subscription(self, message_type, topic, hear, qos)

    def _serve_fingers(
        self, action: str, controller: GripperController, fingers: Fingers
    ) -> ControllerActionServer:
        return ControllerActionServer(
            self,
            GripperCommand,
            action,
            post=self._stepper.post,
            start=partial(self._start_gripper, controller),
            cancel=controller.cancel,
            result=partial(messages.gripper_result, fingers),
        )

    def _serve_base(self, config: SimulatedBase, controller: BaseController) -> None:
        self._odometry = messages.OdometryMessage(config.frame)
        self._odometry_publisher = self.create_publisher(Odometry, "odom", 10)
        self._transforms = create_transform_broadcaster(self)

        command = partial(self._command_base, controller)
        self._hear_command(Twist, config.topic, messages.read_twist, command, QOS_COMMAND)

    def _serve_suction(self, config: SimulatedSuction, cup: SuctionCup) -> None:
        self._vacuum_publisher = self.create_publisher(Bool, config.vacuum, 10)

        def switch(request: Any, response: Any) -> Any:
            self._stepper.post(lambda: setattr(cup, "pump", request.data))
            response.success = True
            response.message = "the pump is on" if request.data else "the pump is off"
            return response

        self.create_service(SetBool, config.pump, switch)

    # -- in the simulation's thread -----------------------------------------------------------

    def _advance(self) -> float:
        simulation, due = self._simulation, self._due
        begin = simulation.time
        self._followers.begin_step(begin)
        self._go_on(self._step())
        self._newest_step = simulation.time - begin
        steps = simulation.world.steps
        nanoseconds = round(steps * simulation.config.timestep * 1e9)
        if due["clock"](steps):
            messages.fill_time(self._clock_message.clock, nanoseconds)
            self._clock_publisher.publish(self._clock_message)
        if due["joints"](steps):
            self._publish_joints(nanoseconds)
        if due["state"](steps) and self._state_publisher.get_subscription_count():
            self._state_publisher.publish(self._state_message.fill(simulation, nanoseconds))
        if due["camera"](steps) and self._truthful:
            simulation.take_picture()
        for frame in simulation.detector.due(simulation.time):
            self._detections_publisher.publish(
                self._detections_message.write(frame, simulation.detector.config)
            )
        if due["objects"](steps) and self._objects_publisher.get_subscription_count():
            self._objects_publisher.publish(self._objects_message.fill(simulation, nanoseconds))
        if due["feedback"](steps):
            self._publish_feedback(nanoseconds)
        return simulation.time

    def _go_on(self, steps: int) -> None:
        """Advance by so many physics steps, or until fingers stand, which somebody waits for."""
        while steps > 0:
            self._simulation.advance(min(self._chunk, steps))
            steps -= self._chunk
            if self._simulation.under_way() <= 0.0:
                return

    def _step(self) -> int:
        """Physics steps until the next look at what is due."""
        now, watched = self._simulation.time, 0.0 < self._stepper.speed <= 1.0
        if watched or self._followers.pace <= 0.0 or now < self._stream_end:
            return self._chunk
        ahead = min(UNDER_WAY, self._simulation.under_way())
        chunks = math.ceil(round(ahead / self._simulation.config.timestep, 6) / self._chunk)
        return self._chunk * max(1, chunks)

    def _hold(self, now: float) -> float:
        pause = self._wait_for_followers(now)
        if pause > 0.0 and time.monotonic() - self._published_at > ALIVE:
            self._publish_joints(round(now * 1e9))
        return min(pause, ALIVE)

    def _wait_for_followers(self, now: float) -> float:
        # While something moves, the next step may be computed beside them. When a motion has ended,
        # or the base's next velocity is due, what comes next is being decided.
        moves_alone = self._simulation.moving and not self._simulation.driven
        ahead = self._newest_step if moves_alone else 0.0
        return max(
            self._followers.wait(now, ahead=ahead),
            self._wait_for_sight(now),
            self._wait_for_stream(now),
            self._wait_for_drive(now),
        )

    def _wait_for_stream(self, now: float) -> float:
        """Who tells the arm its motion many times a second decides on it by what he sees."""
        return self._stream_lead.wait(now) if now < self._stream_end else 0.0

    def _wait_for_drive(self, now: float) -> float:
        """Who steers the base by where it is: else it drives on while the next velocity is due."""
        if not self._simulation.driven:
            return 0.0
        was_long = self._newest_step > 1.5 * self._chunk * self._simulation.config.timestep
        return self._drive_lead.wait(now + (DRIVE_LEAD - VELOCITY_LEAD if was_long else 0.0))

    def _wait_for_sight(self, now: float) -> float:
        if self._truthful:
            return self._lead.wait(now - self._simulation.detector.config.latency)
        seen = now - self._camera_latency
        return max(self._lead.wait(seen), self._camera_lead.wait(seen))

    def _publish_joints(self, nanoseconds: int) -> None:
        self._published_at = time.monotonic()
        self._joints_publisher.publish(self._joints_message.fill(self._simulation, nanoseconds))
        if self._simulation.base is not None:
            self._odometry_publisher.publish(self._odometry.fill(self._simulation, nanoseconds))
            self._transforms.send([self._odometry.transform])
        cup = self._simulation.world.cup
        if cup is not None and not cup.silent:
            self._vacuum_publisher.publish(Bool(data=bool(cup.held)))
        if cup is not None and cup.lost:
            self.get_logger().info(cup.lost)
            cup.lost = ""

    def _publish_feedback(self, nanoseconds: int) -> None:
        simulation = self._simulation
        for name, part in simulation.parts.items():
            if part.arm.goal is not None:
                self._arm_servers[name].publish_feedback(
                    messages.trajectory_feedback(part, simulation.time, nanoseconds)
                )
            if part.gripper is not None and part.fingers is not None and part.gripper.goal:
                self._gripper_servers[name].publish_feedback(
                    messages.gripper_feedback(part.fingers)
                )

    def _start_trajectory(self, part: Part, request: Any, on_done: Any) -> Goal:
        goal = self._begin_trajectory(
            part,
            request.trajectory,
            messages.parse_tolerances(request),
            partial(self._tell_end, on_done),
        )
        self._followers.tell_beginning()
        return goal

    def _tell_end(self, on_done: Any, outcome: Outcome) -> None:
        on_done(outcome)
        self._followers.tell_end()

    def _stream_trajectory(self, part: Part, message: JointTrajectory) -> None:
        try:
            self._begin_trajectory(part, message)
        except InvalidGoal as error:
            self.get_logger().warning(
                reason_text(f"{part.config.arm_topic}: {error}"),
                throttle_duration_sec=1.0,
            )
            return
        now = self._simulation.time
        end = (seconds(message.header.stamp) or now) + seconds(message.points[-1].time_from_start)
        self._stream_end = min(end, now + STREAM_GAP)
        self._stream_lead.follow(now)

    def _command_base(self, controller: BaseController, twist: NDArray[np.float64]) -> None:
        controller.command(self._simulation.time, twist)
        self._drive_lead.follow(self._simulation.time)

    def _begin_trajectory(
        self,
        part: Part,
        message: JointTrajectory,
        tolerances: Tolerances | None = None,
        on_done: Any = None,
    ) -> Goal:
        """Start a trajectory where it begins or, as ros2_control does, join it under way."""
        now, stamp = self._simulation.time, seconds(message.header.stamp)
        points = messages.parse_trajectory(message)
        # A stamp of 0 means now, and so does one of a trajectory that is over: catching up would
        # make the arm jump.
        over = not len(points.times) or stamp + points.times[-1] <= now
        start = now if stamp <= 0.0 or over else stamp
        return part.arm.start(
            start, points, tolerances, on_done=on_done, joined_at=max(0.0, now - start)
        )

    def _start_gripper(self, fingers: GripperController, request: Any, on_done: Any) -> Goal:
        command = request.command
        goal = fingers.start(
            self._simulation.time,
            command.position,
            command.max_effort,
            on_done=partial(self._tell_end, on_done),
        )
        self._followers.tell_beginning()
        return goal

    def _on_error(self, error: Exception) -> None:
        self.get_logger().fatal(reason_text(f"the physics failed and is paused: {error}"))
        self._diagnostics.set(ERROR, f"the physics failed: {error}; restart the simulation")

    # -- callbacks ----------------------------------------------------------------------------

    def _on_reset(self, request: Any, response: Any) -> Any:
        try:
            self._stepper.call(lambda: self._reset(request.seed, request.layout))
        except (UnknownLayout, UnknownObject, StateError) as error:
            response.code, response.message = UNKNOWN, str(error)
            return response
        except WorldError as error:
            response.code, response.message = INVALID, f"variation: {error}"
            return response
        except TimeoutError:
            response.code, response.message = INVALID, "the physics does not answer; restart it"
            return response
        self._seed = request.seed
        layout = request.layout or "default"
        response.code, response.message = SUCCESS, f"layout {layout} with seed {request.seed}"
        return response

    def _reset(self, seed: int, layout: str) -> None:
        """Into the start state of a layout, or of a file with one."""
        self._vary()
        if not layout.endswith(SUFFIX):
            self._simulation.reset(seed, layout)
            return
        for name, shift in self._simulation.restore(WorldState.load(layout), seed).items():
            if shift > _STAYS:
                self.get_logger().warning(
                    f"{name} did not stay where it was put: {shift:.3f} m off"
                )

    def _vary(self) -> None:
        """Be as the parameter wants it.

        Raises:
            WorldError: the world cannot be so; nothing is changed.
        """
        text = self.get_parameter("variation").value
        if text == self._variation:
            return
        self._simulation.vary(parse_factors(text), self._detector_config())
        self._make_object_messages()
        self._variation = text

    def _detector_config(self) -> DetectorConfig:
        """As the parameters have it."""
        return _detector({name: self.get_parameter(name).value for name in _DETECTOR})

    def _on_disturb(self, request: Any, response: Any) -> Any:
        try:
            self._stepper.call(lambda: self._disturb(request))
        except UnknownObject as error:
            response.code, response.message = UNKNOWN, str(error)
        except (InvalidDisturbance, ValueError) as error:
            response.code, response.message = INVALID, str(error)
        except TimeoutError:
            response.code, response.message = INVALID, "the physics does not answer; restart it"
        else:
            response.code, response.message = SUCCESS, f"disturbed {request.object}"
        return response

    def _disturb(self, request: Any) -> None:
        world, name = self._simulation.world, request.object
        if request.kind in (request.MOVE, request.DROP):
            world.move_object(name, messages.parse_pose(request.pose))
        elif request.kind == request.TAKE_AWAY:
            world.take_away(name)
        elif request.kind == request.PUSH:
            world.push(name, messages.parse_impulse(request.impulse))
        elif request.kind == request.RELEASE:
            world.release(name, messages.parse_pose(request.pose))
        else:
            raise InvalidDisturbance(f"{request.kind} is no kind of disturbance; see DisturbWorld")

    def _on_scene(self, data: bytes) -> None:
        with reading(data, "behavior_msgs/SceneObjectArray") as wire:
            stamp = wire.stamp()
        self._lead.follow(1e-9 * stamp)
        self._stepper.nudge()

    def _on_detections(self, detections: Detection3DArray) -> None:
        self._camera_lead.follow(seconds(detections.header.stamp))
        self._stepper.nudge()

    def _on_pause(self, request: Any, response: Any) -> Any:
        self._stepper.paused = request.data
        response.success = True
        response.message = "paused" if request.data else "running"
        return response

    def _on_fault(self, name: str, request: Any, response: Any) -> Any:
        try:
            self._stepper.call(lambda: self._simulation.faults.set(name, request.data))
        except TimeoutError:
            response.message = "the physics does not answer; restart it"
            return response
        response.success = True
        response.message = f"{name} fails" if request.data else f"{name} works again"
        return response

    def _on_save(self, _request: Any, response: Any) -> Any:
        response.success, response.message = self._save()
        return response

    def _save(self) -> tuple[bool, str]:
        recorder = self._simulation.recorder
        if recorder is None:
            return False, "nothing is recorded; start the simulation with the parameter 'recording'"
        try:
            recorder.recording().save(self._recording)
        except (RecordingError, OSError) as error:
            return False, f"the recording was not saved: {error}"
        return True, os.path.abspath(self._recording)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        changed = {parameter.name: parameter.value for parameter in parameters}
        if "max_lead" in changed:
            self._lead.limit = self._camera_lead.limit = changed["max_lead"]
        if "speed" in changed:
            self._stepper.speed = changed["speed"]
        self._followers.take(changed)
        if changed.keys() & _DETECTOR.keys():
            self._simulation.detector.config = self._detector_config()

    def _measure(self) -> None:
        """Report the speed reached, and see how many follow."""
        self._followers.count()
        before, simulated = self._measured
        self._measured = (time.monotonic(), self._simulation.time)
        factor = (self._measured[1] - simulated) / max(self._measured[0] - before, 1e-3)
        wanted, spawner = self._stepper.speed, self._simulation.spawner
        if self._simulation.world.unstable:
            level, message = ERROR, "the physics became unstable; reset the simulation"
        elif self._stepper.paused:
            level, message = OK, "paused"
        elif wanted and factor < 0.8 * wanted:
            level, message = WARN, "slower than asked for; this machine has no more to give"
        elif spawner is not None and spawner.exhausted:
            level, message = OK, f"running; all {spawner.count} objects have come, no more will"
        else:
            level, message = OK, "running"
        self._diagnostics.set(
            level,
            message,
            speed=wanted,
            real_time_factor=factor,
            simulated_time=self._simulation.time,
            seed=self._seed,
            faults=", ".join(self._simulation.faults.present) or "none",
        )


def main() -> int:
    """Run the node until interrupted."""
    return int(run([SimulationNode]))


if __name__ == "__main__":
    sys.exit(main())
