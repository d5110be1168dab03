# SPDX-License-Identifier: Apache-2.0
"""The vehicle's connection to the broker (VDA5050 6.2 to 6.4, 6.14).

Messages come in a thread of paho's, where they are read and checked; they are kept until
:meth:`MqttLink.received` fetches them, so that all else happens in one thread. Orders and states
use QoS 0, the connection QoS 1 and retained, as the standard wants; the subscription takes QoS 1
where a master control sends it. When the connection breaks the broker publishes the last will, and
paho connects again by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Any

from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

from behavior_vda5050.broker import Broker
from behavior_vda5050.limits import MOST_MESSAGES
from behavior_vda5050.messages import (
    VERSION,
    Connection,
    ConnectionState,
    Header,
    ProtocolError,
    now_utc,
    references,
)
from behavior_vda5050.reading import Message

KEEPALIVE = 15
"""[s] after which the broker gives a silent vehicle up."""


class MqttLink:
    """Connects, subscribes, and publishes messages with their headers."""

    def __init__(
        self,
        broker: Broker,
        *,
        read: Callable[[str, bytes], Message],
        report: Callable[[str], None],
    ) -> None:
        """Begin to connect; a broker that is not there is tried again and again.

        Args:
            broker: where and who.
            read: makes a message of the last part of its topic and its text, in paho's thread.
            report: is given each change of the connection, from any thread.

        Raises:
            BrokerError: certificates that cannot be used.
        """
        self._broker = broker
        self._report = report
        self._read = read
        self._inbox: Queue[Message] = Queue(MOST_MESSAGES)
        self._flooded = self._why = ""
        self._numbers: dict[str, int] = {}
        self.connected = False
        """Whether the broker is there now."""
        self.connections = 0
        """How often it was connected to."""
        self._client = PahoClient(
            CallbackAPIVersion.VERSION2,
            client_id=f"{broker.manufacturer}_{broker.serial_number}",
            protocol=MQTTv311,
        )
        if broker.username:
            self._client.username_pw_set(broker.username, broker.password)
        if broker.tls is not None:
            self._client.tls_set_context(broker.tls.context())
        self._client.reconnect_delay_set(min_delay=1, max_delay=8)
        will = self._connection(ConnectionState.CONNECTIONBROKEN)
        self._client.will_set(broker.topic("connection"), will, qos=1, retain=True)
        self._client.on_connect = self._on_connect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.on_subscribe = self._on_subscribe
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message
        self._client.connect_async(broker.host, broker.port, keepalive=KEEPALIVE)
        self._client.loop_start()

    def received(self, most: int) -> list[Message]:
        """Messages that have come since the last call, and their errors; `most` at once."""
        messages: list[Message] = []
        while len(messages) < most:
            try:
                messages.append(self._inbox.get_nowait())
            except Empty:
                break
        topic, self._flooded = self._flooded, ""
        if topic:
            text = f"more than {MOST_MESSAGES} messages at once: some were lost, send them again"
            messages.append(ProtocolError("validationError", text, references(topic=topic)))
        return messages

    def header(self, topic: str) -> dict[str, Any]:
        """Fields of the header of the next message on a topic."""
        number = self._numbers.get(topic, -1) + 1
        self._numbers[topic] = number % 2**32
        return {
            "header_id": number,
            "timestamp": now_utc(),
            "version": VERSION,
            "manufacturer": self._broker.manufacturer,
            "serial_number": self._broker.serial_number,
        }

    def publish(self, topic: str, message: Header) -> None:
        """Publish a message; without a connection it is dropped: the next state tells more."""
        if self.connected:
            self._client.publish(self._broker.topic(topic), message.text())

    def close(self) -> None:
        """Say OFFLINE and disconnect."""
        if self.connected:
            topic = self._broker.topic("connection")
            sent = self._client.publish(
                topic, self._connection(ConnectionState.OFFLINE), qos=1, retain=True
            )
            with suppress(RuntimeError):  # the connection was lost just now: the will says it
                sent.wait_for_publish(1.0)
        self._client.disconnect()
        self._client.loop_stop()

    def _connection(self, state: ConnectionState) -> str:
        return Connection(connection_state=state, **self.header("connection")).text()

    def _on_connect(
        self, client: PahoClient, data: object, flags: object, reason: Any, properties: object
    ) -> None:
        if reason.is_failure:
            where = f"{self._broker.host}:{self._broker.port}"
            self._report_failure(f"MQTT broker {where} refuses the connection: {reason}")
            return
        client.subscribe([(self._broker.topic(name), 1) for name in ("order", "instantActions")])

    def _on_subscribe(
        self, client: PahoClient, data: object, number: int, reasons: Any, properties: object
    ) -> None:
        """Only now orders get here, so only now the vehicle says that it is online."""
        if any(reason.is_failure for reason in reasons):
            where = f"{self._broker.host}:{self._broker.port}"
            self._report_failure(
                f"MQTT broker {where} lets {self._broker.username or 'this vehicle'} not subscribe "
                f"to {self._broker.topic('order')} and instantActions: no order gets here; let its "
                "access list allow it, and start the client again"
            )
            return
        topic = self._broker.topic("connection")
        client.publish(topic, self._connection(ConnectionState.ONLINE), qos=1, retain=True)
        self.connected, self._why = True, ""
        self.connections += 1
        self._report(f"connected to MQTT broker {self._broker.host}:{self._broker.port}")

    def _on_disconnect(
        self, client: PahoClient, data: object, flags: object, reason: Any, properties: object
    ) -> None:
        if self.connected:
            self._report(f"connection to the MQTT broker ended: {reason}")
        elif reason.is_failure and not self._why:
            where = f"{self._broker.host}:{self._broker.port}"
            self._report_failure(
                f"MQTT broker {where} ended the connection before it was open: {reason}; does it "
                "want another certificate, or TLS?"
            )
        self.connected = False

    def _on_connect_fail(self, client: PahoClient, data: object) -> None:
        """Called while the error that made it so is dealt with."""
        where = f"{self._broker.host}:{self._broker.port}"
        self._report_failure(f"MQTT broker {where} cannot be connected to: {sys.exc_info()[1]}")

    def _report_failure(self, text: str) -> None:
        """Tell it once, though it is tried every few seconds."""
        if text != self._why:
            self._why = text
            self._report(text)

    def _on_message(self, client: PahoClient, data: object, message: Any) -> None:
        topic = message.topic.rpartition("/")[2]
        if self._inbox.full():
            self._flooded = topic  # not worth being read
            return
        try:
            self._inbox.put_nowait(
                _kept(topic) if message.retain else self._read(topic, message.payload)
            )
        except Full:
            self._flooded = topic


def _kept(topic: str) -> ProtocolError:
    """Why what the broker had kept is refused: nobody knows how old it is, and whether it was done
    before this vehicle was started.
    """
    text = "the broker had kept the message (retained), however old: send it without that flag"
    return ProtocolError("validationError", text, references(topic=topic))
