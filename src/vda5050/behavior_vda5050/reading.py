# SPDX-License-Identifier: Apache-2.0
"""Messages of a master control: measured, parsed and checked before the vehicle sees them.

All of it works on its own, so that it can be done in the thread where messages come in.
"""

from __future__ import annotations

from dataclasses import dataclass

from behavior_vda5050.limits import MOST_BYTES, MOST_PARTS
from behavior_vda5050.messages import (
    VERSION,
    Header,
    InstantActions,
    Order,
    ProtocolError,
    parse,
    references,
)
from behavior_vda5050.order_rules import check_form

Message = Order | InstantActions | ProtocolError
"""What came; one that is refused is the reason for that."""


@dataclass(frozen=True)
class Reader:
    """Reads the messages for one vehicle."""

    manufacturer: str
    serial_number: str
    known_actions: frozenset[str]
    """Types of actions that orders may ask for."""

    def read(self, topic: str, payload: bytes) -> Message:
        """A message, or why it is refused.

        Args:
            topic: last part of its topic, ``order`` or ``instantActions``.
            payload: its JSON.
        """
        kind: type[Order | InstantActions] = Order if topic == "order" else InstantActions
        try:
            _measure(topic, payload)
            message = parse(kind, payload)
            self._check_header(message)
            if isinstance(message, Order):
                check_form(message, known_actions=self.known_actions)
        except ProtocolError as error:
            return error
        return message

    def _check_header(self, header: Header) -> None:
        """Refuse what another vehicle or another protocol is meant by.

        Raises:
            ProtocolError: validationError.
        """
        wanted = VERSION.partition(".")[0]
        if header.version.partition(".")[0] != wanted:
            text = f"version '{header.version}': this vehicle speaks {VERSION}"
            raise ProtocolError("validationError", text, references(version=header.version))
        for name, got, own in (
            ("manufacturer", header.manufacturer, self.manufacturer),
            ("serial_number", header.serial_number, self.serial_number),
        ):
            if got != own:
                text = f"the message is for {name.replace('_', ' ')} '{got}', this is '{own}'"
                raise ProtocolError("validationError", text, references(**{name: got}))


def _measure(topic: str, payload: bytes) -> None:
    """Refuse what is too large to be read in a few milliseconds.

    Raises:
        ProtocolError: validationError.
    """
    parts = payload.count(b"{") + payload.count(b"[") if len(payload) <= MOST_BYTES else 0
    for number, most, what in (
        (len(payload), MOST_BYTES, "bytes"),
        (parts, MOST_PARTS, "objects and lists"),
    ):
        if number > most:
            text = f"the message has {number} {what}, more than {most}: send it in parts"
            raise ProtocolError("validationError", text, references(topic=topic))
