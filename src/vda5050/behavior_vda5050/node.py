# SPDX-License-Identifier: Apache-2.0
"""The node ``vda5050_client``: a robot under a VDA5050 2.0 master control.

It gives missions to the executor by ``/mission/execute`` and takes what it tells from
``/localization/result``, ``/odom``, ``/battery_state``, ``/autonomy/level`` and ``/safety/status``.

Action types are mapped to behaviors by the parameter ``behaviors`` (entries ``type=mission``), or
to handlers that packages offer (``vda5050_actions``, see :mod:`behavior_packages`): a callable that
is given the node and returns an :class:`~behavior_vda5050.actions.ActionHandler`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping
from typing import Any

from behavior_msgs.msg import AutonomyLevel, LocalizationResult, SafetyStatus
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import BatteryState as BatteryMessage

from behavior_motion.planar_pose import wrapped, yaw_of
from behavior_packages import packages
from behavior_ros import (
    OK,
    QOS_LATCHED,
    QOS_SENSOR,
    WARN,
    DiagnosticsPublisher,
    MessageCache,
    ParameterError,
    ParameterSpec,
    declare_all,
    read_only,
    run,
)
from behavior_ros.node.closing import register_closable
from behavior_vda5050.actions import ActionHandler
from behavior_vda5050.broker import (
    PASSWORD_VARIABLE,
    Broker,
    BrokerError,
    Tls,
    read_password,
)
from behavior_vda5050.limits import (
    LONGEST_NAME,
    MESSAGES_PER_STEP,
    MOST_ACTIONS,
    MOST_ACTIONS_HERE,
    MOST_BYTES,
    MOST_ERRORS,
    MOST_INSTANT,
    MOST_NODES,
    MOST_PARAMETERS,
    MOST_POINTS,
    MOST_REFERENCES,
)
from behavior_vda5050.messages import (
    BatteryState,
    EStop,
    Factsheet,
    OperatingMode,
    SafetyState,
    State,
    Velocity,
    Visualization,
)
from behavior_vda5050.missions import BehaviorHandler, MissionDriver, Missions
from behavior_vda5050.mqtt_link import MqttLink
from behavior_vda5050.order_rules import Place
from behavior_vda5050.reading import Reader
from behavior_vda5050.vehicle import Condition, Vehicle, position_of

_CONTINUOUS = ("agv_position", "velocity", "battery_state")
"""What changes all the time, and is no reason for a state by itself."""
STEP = 0.1
"""[s] between two looks at what is to be done."""


def _parameters() -> list[ParameterSpec]:
    def text(name: str, default: str, description: str) -> ParameterSpec:
        return read_only(name, default, description)

    def number(name: str, default: float, description: str, high: float) -> ParameterSpec:
        return read_only(name, default, description, range=(0.0, high))

    return [
        text("host", "localhost", "host of the MQTT broker"),
        read_only("port", 0, "of the broker; 0: 8883 with TLS, 1883 without", range=(0, 65535)),
        text("username", "", "for the broker; empty: none"),
        text(
            "password_file",
            "",
            "file with the password in its first line, readable by its owner alone; empty: the "
            f"environment variable {PASSWORD_VARIABLE}, if it is set",
        ),
        read_only("tls", False, "encrypt the connection"),
        text("ca_file", "", "certificates that the broker's is checked by; empty: the system's"),
        text("certificate_file", "", "the vehicle's certificate; empty: it shows none"),
        text("key_file", "", "its private key; empty: it stands in certificate_file"),
        text("manufacturer", "behavior_suite", "third part of the topics"),
        text("serial_number", "robot", "fourth part of the topics"),
        text("interface_name", "uagv", "first part of the topics"),
        text("frame", "map", "frame in which node positions are given"),
        read_only(
            "behaviors", [""], "actions of orders that run a mission, as 'actionType=mission'"
        ),
        number("state_period", 5.0, "[s] between two states while nothing changes", 30.0),
        number("visualization_period", 0.0, "[s] between two visualizations; 0: none", 30.0),
        number("node_tolerance", 0.5, "[m] at which a node without a deviation is reached", 100.0),
        read_only(
            "localization_timeout",
            2.0,
            "[s] for which results of the localization and odometry count",
            range=(0.01, 60.0),
        ),
        text("series_name", "behavior_suite", "for the factsheet"),
        number("length", 0.6, "[m] of the vehicle, for the factsheet", 50.0),
        number("width", 0.5, "[m] of the vehicle, for the factsheet", 50.0),
        number("height", 0.5, "[m] of the vehicle, for the factsheet", 50.0),
        number("max_speed", 1.0, "[m/s], for the factsheet", 50.0),
        number("max_acceleration", 0.5, "[m/s2], for the factsheet", 50.0),
    ]


class Vda5050Client(Node):  # type: ignore[misc]
    """Carries out the orders of a master control."""

    def __init__(self, **kwargs: Any) -> None:
        """Connect to the broker; one that is not there yet is tried again and again.

        Args:
            kwargs: for ``rclpy.node.Node``.

        Raises:
            ParameterError: a parameter that must not be.
        """
        super().__init__("vda5050_client", **kwargs)
        values = self._values = declare_all(self, _parameters())
        self._missions = Missions(self)
        self._subscribe()
        self.vehicle = Vehicle(
            driver=MissionDriver(self._missions, frame=values["frame"], place=self._place),
            handlers=self._make_handlers(values["behaviors"]),
            condition=self.condition,
            tolerance=values["node_tolerance"],
        )
        reader = Reader(values["manufacturer"], values["serial_number"], self.vehicle.known_actions)
        try:
            self.link = MqttLink(
                _broker(values), read=reader.read, report=lambda text: self.get_logger().info(text)
            )
        except BrokerError as error:
            raise ParameterError(f"{self.get_name()}: {error}") from error
        self._diagnostics = DiagnosticsPublisher(self, "vda5050")
        self._published: tuple[object, ...] = ()
        self._published_at = self._seen_at = -1e9
        self._connections = 0
        self._closed = False
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(STEP, self._step, clock=steady)
        if values["visualization_period"] > 0.0:
            self.create_timer(values["visualization_period"], self._visualize, clock=steady)
        register_closable(self, self)

    def condition(self) -> Condition:
        """What is known of the vehicle now."""
        return Condition(
            place=self._place(),
            score=self._score(),
            velocity=self._velocity(),
            battery=self._battery_state(),
            mode=self._mode(),
            safety=self._safety_state(),
        )

    def begin_close(self) -> None:
        """Give the order up."""
        self._closed = True
        self.vehicle.shut_down()

    def closed(self) -> bool:
        """Whether the vehicle stands."""
        self.vehicle.step()
        return self.vehicle.idle

    def destroy_node(self) -> None:
        """Say OFFLINE, disconnect and destroy the node."""
        self._closed = True
        self.link.close()
        super().destroy_node()

    # -- the round -------------------------------------------------------------------------------

    def _step(self) -> None:
        if self._closed:
            return
        for message in self.link.received(MESSAGES_PER_STEP):
            self.vehicle.take(message)
        self.vehicle.step()
        self._publish_state()
        if self.vehicle.factsheet_wanted:
            self.vehicle.factsheet_wanted = False
            self.link.publish("factsheet", self._factsheet())
        self._report_health()

    def _report_health(self) -> None:
        text = "connected" if self.link.connected else "no connection to the MQTT broker"
        if not self._missions.ready:
            text += ", no executor"
        good = self.link.connected and self._missions.ready
        self._diagnostics.set(OK if good else WARN, text)

    def _publish_state(self) -> None:
        """Publish the state if something changed but where the vehicle is, or if it is due."""
        fields = self.vehicle.state_fields()
        event = tuple(v for k, v in fields.items() if k not in _CONTINUOUS)
        now = time.monotonic()
        new = event != self._published or self.link.connections != self._connections
        due = now - self._published_at >= self._values["state_period"]
        if self.link.connected and (new or due or self.vehicle.state_wanted):
            self._published, self._published_at = event, now
            self._connections = self.link.connections
            self.vehicle.state_wanted = False
            self.link.publish("state", State(**self.link.header("state"), **fields))

    def _visualize(self) -> None:
        condition = self.condition()
        self.link.publish(
            "visualization",
            Visualization(
                agv_position=position_of(condition),
                velocity=condition.velocity,
                **self.link.header("visualization"),
            ),
        )

    def _factsheet(self) -> Factsheet:
        values = self._values
        actions = [each.model_dump(by_alias=True) for each in self.vehicle.agv_actions()]
        return Factsheet(
            **self.link.header("factsheet"),
            type_specification={
                "seriesName": values["series_name"],
                "agvKinematic": "DIFF",
                "agvClass": "CARRIER",
                "maxLoadMass": 0.0,
                "localizationTypes": ["NATURAL"],
                "navigationTypes": ["AUTONOMOUS"],
            },
            physical_parameters={
                "speedMin": 0.0,
                "speedMax": values["max_speed"],
                "accelerationMax": values["max_acceleration"],
                "decelerationMax": values["max_acceleration"],
                "heightMax": values["height"],
                "width": values["width"],
                "length": values["length"],
            },
            protocol_limits={
                "maxStringLens": {"msgLen": MOST_BYTES, "idLen": LONGEST_NAME},
                "maxArrayLens": {
                    "order.nodes": MOST_NODES,
                    "order.edges": MOST_NODES - 1,
                    "node.actions": MOST_ACTIONS_HERE,
                    "edge.actions": MOST_ACTIONS_HERE,
                    "actions.actionsParameters": MOST_PARAMETERS,
                    "instantActions": MOST_ACTIONS_HERE,
                    "trajectory.knotVector": MOST_POINTS,
                    "trajectory.controlPoints": MOST_POINTS,
                    "state.nodeStates": MOST_NODES,
                    "state.edgeStates": MOST_NODES - 1,
                    "state.actionStates": MOST_ACTIONS + MOST_INSTANT,
                    "state.errors": MOST_ERRORS,
                    "error.errorReferences": MOST_REFERENCES,
                },
                "timing": {
                    "minOrderInterval": STEP,
                    "minStateInterval": STEP,
                    "defaultStateInterval": values["state_period"],
                },
            },
            protocol_features={"optionalParameters": [], "agvActions": actions},
            agv_geometry={},
            load_specification={},
        )

    # -- inputs ----------------------------------------------------------------------------------

    def _subscribe(self) -> None:
        age = self._values["localization_timeout"]
        self._localization: MessageCache[Any] = MessageCache(
            self, LocalizationResult, "localization/result", max_age=age, qos=QOS_SENSOR
        )
        self._odometry: MessageCache[Any] = MessageCache(
            self, Odometry, "odom", max_age=age, qos=QOS_SENSOR
        )
        self._battery: MessageCache[Any] = MessageCache(
            self, BatteryMessage, "battery_state", qos=QOS_SENSOR
        )
        self._level: MessageCache[Any] = MessageCache(
            self, AutonomyLevel, "autonomy/level", qos=QOS_LATCHED
        )
        self._safety: MessageCache[Any] = MessageCache(
            self, SafetyStatus, "safety/status", qos=QOS_LATCHED
        )

    def _place(self) -> Place | None:
        result = self._localization.latest()
        if result is None or result.status != LocalizationResult.GOOD:
            return None
        pose = result.pose.pose
        q = pose.orientation
        yaw = wrapped(yaw_of(q.x, q.y, q.z, q.w))
        if not all(map(math.isfinite, (pose.position.x, pose.position.y, yaw))):
            return None
        return Place(pose.position.x, pose.position.y, yaw, result.map_id)

    def _score(self) -> float | None:
        result = self._localization.latest()
        return min(1.0, max(0.0, result.score)) if result is not None else None

    def _velocity(self) -> Velocity:
        message = self._odometry.latest()
        if message is None:
            return Velocity()
        twist = message.twist.twist
        values = twist.linear.x, twist.linear.y, twist.angular.z
        if not all(map(math.isfinite, values)):
            return Velocity()
        return Velocity(vx=values[0], vy=values[1], omega=values[2])

    def _battery_state(self) -> BatteryState:
        """What a battery does not measure is NaN in its message, which JSON does not have."""
        message = self._battery.latest()
        if message is None:
            return BatteryState(battery_charge=100.0, charging=False)
        part, voltage = message.percentage, message.voltage
        return BatteryState(
            battery_charge=100.0 * min(1.0, max(0.0, part)) if math.isfinite(part) else 100.0,
            battery_voltage=voltage if math.isfinite(voltage) else None,
            charging=message.power_supply_status == BatteryMessage.POWER_SUPPLY_STATUS_CHARGING,
        )

    def _mode(self) -> OperatingMode:
        """Of the level; a halted vehicle keeps the mode that was selected."""
        message = self._level.latest()
        if message is None:
            return OperatingMode.AUTOMATIC
        level = message.effective
        level = message.selected if level == AutonomyLevel.HALTED else level
        return {
            AutonomyLevel.AUTONOMOUS: OperatingMode.AUTOMATIC,
            AutonomyLevel.TELEOPERATION: OperatingMode.SEMIAUTOMATIC,
        }.get(level, OperatingMode.MANUAL)

    def _safety_state(self) -> SafetyState:
        """A lost deadman ends by itself when the button is held again."""
        level, status = self._level.latest(), self._safety.latest()
        halted = level is not None and level.effective == AutonomyLevel.HALTED
        blocked = status is not None and not status.moving_allowed
        return SafetyState(
            e_stop=EStop.AUTOACK if halted else EStop.NONE, field_violation=blocked and not halted
        )

    def _make_handlers(self, behaviors: list[str]) -> dict[str, ActionHandler]:
        handlers: dict[str, ActionHandler] = {}
        warn = self.get_logger().error
        for offer, make in packages().load_all("vda5050_actions", warn):
            try:
                handlers[offer.name] = make(self)
            except Exception as error:  # a package may raise anything; the others shall be there
                warn(str(offer.failure(error)))
        for entry in filter(None, behaviors):
            kind, equals, mission = entry.partition("=")
            if not (equals and kind.strip() and mission.strip()):
                raise ParameterError(
                    f"parameter behaviors: '{entry}' must look like 'actionType=mission'"
                )
            handlers[kind.strip()] = BehaviorHandler(self._missions, mission.strip())
        return handlers


def _broker(values: Mapping[str, Any]) -> Broker:
    """Of the parameters.

    Raises:
        BrokerError: one that cannot be.
    """
    files = {name: values[name] for name in ("ca_file", "certificate_file", "key_file")}
    given = [name for name, file in files.items() if file]
    if given and not values["tls"]:
        raise BrokerError(f"{', '.join(given)} without encryption: set tls to true")
    return Broker(
        host=values["host"],
        port=values["port"],
        manufacturer=values["manufacturer"],
        serial_number=values["serial_number"],
        interface=values["interface_name"],
        username=values["username"],
        password=read_password(values["password_file"]),
        tls=Tls(**files) if values["tls"] else None,
    )


def main() -> int:
    """Run the node until it is told to stop."""
    return run([Vda5050Client])


if __name__ == "__main__":
    sys.exit(main())
