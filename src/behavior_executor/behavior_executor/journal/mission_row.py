# SPDX-License-Identifier: Apache-2.0
"""A mission as the journal keeps it, and its records. No ROS."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from behavior_executor.missions.mission import Code, Mission, MissionRequest, State
from behavior_executor.missions.request_text import request_from_text, request_to_text

_TEXT_ROOM = 160
"""[bytes] for the text of a change, where there is no room for more."""
PLACE_ROOM = 48
"""[bytes] of a record's checksum, place and line break."""
_CHANGES = 3
"""Of a mission beside those by its steps: started, paused or resumed, ended."""


class MissionRow(NamedTuple):
    """What is kept of a mission; immutable."""

    number: int
    """By arrival; never used again, other than identifiers."""
    action_id: str
    parts: int
    """Trees that it consists of."""
    state: int
    code: int
    text: str
    steps_done: int
    interruptions: int
    accepted: float
    started: float | None
    ended: float | None
    request: str
    """As JSON; empty: it was lost."""

    @classmethod
    def of(cls, mission: Mission, number: int) -> MissionRow:
        """What there is to keep of a mission now."""
        request = mission.request
        return cls(
            number=number,
            action_id=request.action_id,
            parts=len(request.parts),
            state=int(mission.state),
            code=int(mission.code),
            text=mission.text,
            steps_done=mission.steps_done,
            interruptions=mission.interruptions,
            accepted=mission.accepted_at,
            started=mission.started_at,
            ended=mission.ended_at,
            request=request_to_text(request),
        )

    @property
    def is_final(self) -> bool:
        """Whether the mission has ended."""
        return self.state >= State.FINISHED

    @property
    def essence(self) -> tuple[int, int, int]:
        """What is worth a record when it changes."""
        return self.state, self.steps_done, self.interruptions

    def updated(self, mission: Mission) -> MissionRow:
        """What there is to keep now; the request stays, and the first start."""
        return self._replace(
            state=int(mission.state),
            code=int(mission.code),
            text=mission.text,
            steps_done=mission.steps_done,
            interruptions=mission.interruptions,
            started=mission.started_at if self.started is None else self.started,
            ended=mission.ended_at,
        )

    def mission(self) -> Mission:
        """The mission.

        Raises:
            ValueError: the row makes none.
        """
        request = request_from_text(self.request) if self.request else None
        return Mission(
            request=request or MissionRequest(self.action_id, name="lost"),
            accepted_at=self.accepted,
            state=State(self.state),
            code=Code(self.code),
            text=self.text,
            started_at=self.started,
            ended_at=self.ended,
            steps_done=self.steps_done,
            interruptions=self.interruptions,
        )

    def full(self) -> bytes:
        """The record of everything."""
        return b'%s,"request":%s}' % (self.change()[:-1], self.request.encode() or b"null")

    def change(self, *, short: bool = False) -> bytes:
        """The record of a change; `short`: of at most `change_room` bytes, by cutting the text."""
        plain = self._asdict()
        del plain["request"]
        if not short:
            return json.dumps(plain, separators=(",", ":")).encode()
        whole = json.dumps(self.text)
        cut = self.text[: _TEXT_ROOM // 12]  # a character may become two escapes of six
        plain["text"] = self.text if len(whole) <= _TEXT_ROOM else cut + "..."
        return json.dumps(plain, separators=(",", ":")).encode()

    @property
    def change_room(self) -> int:
        """[bytes] That any short change of this mission takes in the file, at most."""
        bare = self._replace(text="", state=0, code=0, started=1e18 / 3, ended=1e18 / 3)
        return len(bare.change()) + _TEXT_ROOM + PLACE_ROOM + 24  # counters may get longer

    @property
    def reserve(self) -> int:
        """[bytes] For all its changes; the last of them may take `change_room`."""
        return self.change_room * (self.parts + _CHANGES)

    def without_request(self) -> MissionRow:
        """The end of a mission of which nobody knows any more what it was."""
        return self._replace(
            state=int(State.FAILED),
            code=int(Code.SHUTDOWN),
            text="its request was lost with a damaged part of the journal; send it again",
            ended=self.started or self.accepted,
        )


def row_from(plain: dict[str, Any], before: MissionRow | None) -> MissionRow:
    """The row after a record, by what it was before.

    Raises:
        ValueError: the record makes no row.
    """
    request = before.request if before is not None else ""
    if plain.get("request"):
        request = json.dumps(plain["request"], separators=(",", ":"))
    try:
        row = MissionRow(**{**plain, "request": request})
        row.mission()
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"no mission: {type(error).__name__}: {error}") from error
    return row
