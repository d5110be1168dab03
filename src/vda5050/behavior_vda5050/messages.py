# SPDX-License-Identifier: Apache-2.0
"""Messages of VDA5050 2.0, chapter 6, with the names of the standard in JSON and Python's here.

Lengths are in metres, angles in radians, times in ISO 8601 with UTC. Fields that a vehicle does not
know are passed over, as the standard asks.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, FailFast, Field, ValidationError
from pydantic.alias_generators import to_camel

from behavior_vda5050.limits import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ACTIONS_HERE,
    MOST_NODES,
    MOST_PARAMETERS,
    MOST_POINTS,
    MOST_REFERENCES,
)

VERSION = "2.0.0"

UInt32 = Annotated[int, Field(ge=0, lt=2**32)]
_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]*$"
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=_PRINTABLE)]
Label = Annotated[str, Field(max_length=LONGEST_NAME, pattern=_PRINTABLE)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class _Message(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False, frozen=True
    )

    def text(self) -> str:
        """As JSON, without what is not set."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


class Header(_Message):
    """What every message begins with (6.5)."""

    header_id: UInt32
    timestamp: datetime
    version: Label
    manufacturer: Label
    serial_number: Label


class BlockingType(StrEnum):
    """What may happen beside an action (6.8.2)."""

    NONE = "NONE"
    """Driving and other actions."""
    SOFT = "SOFT"
    """Other actions, but no driving."""
    HARD = "HARD"
    """Nothing."""


class ActionParameter(_Message):
    """One value for an action."""

    key: Name
    value: Any = None


class Action(_Message):
    """Something to do at a node, on an edge, or at once."""

    action_type: Name
    action_id: Name
    action_description: Text | None = None
    blocking_type: BlockingType = BlockingType.HARD
    action_parameters: Annotated[
        tuple[ActionParameter, ...], Field(max_length=MOST_PARAMETERS), FailFast()
    ] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """Values by key."""
        return {each.key: each.value for each in self.action_parameters}


Actions = Annotated[tuple[Action, ...], Field(max_length=MOST_ACTIONS_HERE), FailFast()]


class NodePosition(_Message):
    """Where a node is."""

    x: float
    y: float
    theta: float | None = None
    allowed_deviation_x_y: Annotated[float, Field(ge=0.0)] | None = Field(
        default=None, alias="allowedDeviationXY"
    )
    allowed_deviation_theta: Annotated[float, Field(ge=0.0)] | None = None
    map_id: Label = ""
    map_description: Text | None = None


class Node(_Message):
    """A place to pass."""

    node_id: Name
    sequence_id: UInt32
    node_description: Text | None = None
    released: bool
    node_position: NodePosition | None = None
    actions: Actions = ()


class ControlPoint(_Message):
    """Of a trajectory."""

    x: float
    y: float
    weight: float = 1.0


class Trajectory(_Message):
    """A NURBS curve; passed on in the state, driven as a straight line."""

    degree: float
    knot_vector: Annotated[tuple[float, ...], Field(max_length=MOST_POINTS), FailFast()]
    control_points: Annotated[tuple[ControlPoint, ...], Field(max_length=MOST_POINTS), FailFast()]


class Edge(_Message):
    """The way between two nodes."""

    edge_id: Name
    sequence_id: UInt32
    edge_description: Text | None = None
    released: bool
    start_node_id: Name
    end_node_id: Name
    max_speed: float | None = None
    trajectory: Trajectory | None = None
    actions: Actions = ()


class Order(Header):
    """Nodes and edges to drive along (6.6)."""

    order_id: Name
    order_update_id: UInt32
    zone_set_id: Label | None = None
    nodes: Annotated[tuple[Node, ...], Field(min_length=1, max_length=MOST_NODES), FailFast()]
    edges: Annotated[tuple[Edge, ...], Field(max_length=MOST_NODES), FailFast()] = ()


class InstantActions(Header):
    """Actions to be done at once (6.9)."""

    actions: Actions = Field(
        validation_alias=AliasChoices("actions", "instantActions"), min_length=1
    )


class ActionStatus(StrEnum):
    """Where an action is in its life (6.11)."""

    WAITING = "WAITING"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"
    FAILED = "FAILED"

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self in (ActionStatus.FINISHED, ActionStatus.FAILED)


class ActionState(_Message):
    """What has become of an action."""

    action_id: str
    action_type: str | None = None
    action_description: str | None = None
    action_status: ActionStatus
    result_description: str | None = None


class NodeState(_Message):
    """A node that is still to be passed."""

    node_id: str
    sequence_id: int
    node_description: str | None = None
    released: bool
    node_position: NodePosition | None = None


class EdgeState(_Message):
    """An edge that is still to be driven."""

    edge_id: str
    sequence_id: int
    edge_description: str | None = None
    released: bool
    trajectory: Trajectory | None = None


class AgvPosition(_Message):
    """Where the vehicle is."""

    position_initialized: bool
    localization_score: float | None = None
    x: float
    y: float
    theta: float
    map_id: str


class Velocity(_Message):
    """[m/s], [rad/s] in the vehicle's frame."""

    vx: float = 0.0
    vy: float = 0.0
    omega: float = 0.0


class BatteryState(_Message):
    """Of the vehicle."""

    battery_charge: float
    """[%]"""
    battery_voltage: float | None = None
    """[V]"""
    charging: bool


class OperatingMode(StrEnum):
    """Who is in control (6.10.6)."""

    AUTOMATIC = "AUTOMATIC"
    SEMIAUTOMATIC = "SEMIAUTOMATIC"
    MANUAL = "MANUAL"
    SERVICE = "SERVICE"
    TEACHIN = "TEACHIN"


class ErrorLevel(StrEnum):
    """What an error means for the vehicle."""

    WARNING = "WARNING"
    """It can go on."""
    FATAL = "FATAL"
    """Somebody has to help."""


class ErrorReference(_Message):
    """What an error is about."""

    reference_key: str
    reference_value: str


class Error(_Message):
    """Something that went wrong (6.10.5)."""

    error_type: str
    error_references: tuple[ErrorReference, ...] = ()
    error_description: str | None = None
    error_level: ErrorLevel = ErrorLevel.WARNING


class EStop(StrEnum):
    """Kind of emergency stop in force."""

    AUTOACK = "AUTOACK"
    MANUAL = "MANUAL"
    REMOTE = "REMOTE"
    NONE = "NONE"


class SafetyState(_Message):
    """Of the vehicle."""

    e_stop: EStop = EStop.NONE
    field_violation: bool = False


class State(Header):
    """All that a master control must know (6.10)."""

    order_id: str
    order_update_id: int
    zone_set_id: str | None = None
    last_node_id: str
    last_node_sequence_id: int
    node_states: tuple[NodeState, ...]
    edge_states: tuple[EdgeState, ...]
    agv_position: AgvPosition | None = None
    velocity: Velocity | None = None
    loads: tuple[dict[str, Any], ...] = ()
    driving: bool
    paused: bool
    new_base_request: bool
    distance_since_last_node: float | None = None
    action_states: tuple[ActionState, ...]
    battery_state: BatteryState
    operating_mode: OperatingMode
    errors: tuple[Error, ...]
    information: tuple[dict[str, Any], ...] = ()
    safety_state: SafetyState


class ConnectionState(StrEnum):
    """Of the vehicle to the broker (6.14)."""

    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    CONNECTIONBROKEN = "CONNECTIONBROKEN"


class Connection(Header):
    """Whether the vehicle is there; retained, and the last will."""

    connection_state: ConnectionState


class Visualization(Header):
    """Position and velocity more often than the state (6.13)."""

    agv_position: AgvPosition | None = None
    velocity: Velocity | None = None


class AgvAction(_Message):
    """An action that the vehicle can do, for its factsheet."""

    action_type: str
    action_description: str = ""
    action_scopes: tuple[str, ...]
    """Of INSTANT, NODE, EDGE."""


class Factsheet(Header):
    """What the vehicle is (6.15)."""

    type_specification: dict[str, Any]
    physical_parameters: dict[str, Any]
    protocol_limits: dict[str, Any]
    protocol_features: dict[str, Any]
    agv_geometry: dict[str, Any]
    load_specification: dict[str, Any]


_Any = TypeVar("_Any", bound=Header)


def parse(kind: type[_Any], text: str | bytes) -> _Any:
    """A message from its JSON.

    Raises:
        ProtocolError: ``validationError`` with one reference per field that is wrong.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        # Without the inputs: that of a missing field is all of the message.
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        references = tuple(
            ErrorReference(
                reference_key=(".".join(map(str, each["loc"])) or "message")[:LONGEST_NAME],
                reference_value=each["type"],
            )
            for each in wrong[:MOST_REFERENCES]
        )
        text = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong[:8])
        raise ProtocolError("validationError", text, references) from error


class ProtocolError(Exception):
    """A message that is refused, with the error that the state reports."""

    def __init__(self, kind: str, text: str, references: tuple[ErrorReference, ...] = ()) -> None:
        """Keep the error.

        Args:
            kind: errorType of the standard.
            text: plain words.
            references: what it is about.
        """
        if len(text) > LONGEST_TEXT:
            text = f"{text[: LONGEST_TEXT - 4]} ..."
        super().__init__(text)
        self.error = Error(
            error_type=kind,
            error_references=references[:MOST_REFERENCES],
            error_description=text,
        )


def references(**values: object) -> tuple[ErrorReference, ...]:
    """References of an error: ``references(node_id="a")`` is about ``nodeId``."""
    return tuple(
        ErrorReference(reference_key=to_camel(key), reference_value=str(value)[:LONGEST_NAME])
        for key, value in values.items()
    )


def now_utc() -> datetime:
    """The time for a header."""
    return datetime.now(UTC)
