# SPDX-License-Identifier: Apache-2.0
"""Orders over a real Mosquitto broker to a real executor, with a robot that glides."""

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from rclpy.parameter import Parameter
from test_vda5050 import action, order

import behavior_vda5050.node
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_packages import Packages, read_manifest
from behavior_ros.testing import Spinner, until
from behavior_vda5050.node import Vda5050Client

MOSQUITTO = shutil.which(
    "mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
)
pytestmark = [
    pytest.mark.skipif(
        MOSQUITTO is None, reason="no MQTT broker: apt-get install mosquitto brings one"
    ),
]
TREE = """<!-- {name} -->
<root BTCPP_format="4"><BehaviorTree ID="{name}">{body}</BehaviorTree></root>
"""
WAIT = 60.0


class Broker:
    """Mosquitto on a free port, listening on this machine only."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._config = folder / "mosquitto.conf"
        self._config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        self.start()

    def start(self) -> None:
        assert MOSQUITTO is not None
        self._process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self._config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def listens() -> bool:
            assert self._process.poll() is None, "the broker ended at once"
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        until(listens, WAIT, "broker")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(WAIT)


class Control:
    """A master control."""

    def __init__(self, port: int) -> None:
        self.messages: list[tuple[str, dict[str, Any]]] = []
        self._ready = threading.Event()
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = lambda client, *_: client.subscribe("uagv/v2/acme/7/#", 1)
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._on_message
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        assert self._ready.wait(WAIT)

    def _on_message(self, client: Client, data: object, message: Any) -> None:
        topic = message.topic.rpartition("/")[2]
        if topic not in ("order", "instantActions"):
            self.messages.append((topic, json.loads(message.payload)))

    def send(self, topic: str, message: dict | str, *, retain: bool = False) -> Any:
        text = message if isinstance(message, str) else json.dumps(message)
        return self._client.publish(f"uagv/v2/acme/7/{topic}", text, qos=1, retain=retain)

    def at_once(self, *actions: dict) -> None:
        header = {k: v for k, v in order(0).items() if k[0] in "htvms"}
        self.send("instantActions", {**header, "actions": list(actions)})

    def all(self, topic: str) -> list[dict[str, Any]]:
        return [message for name, message in list(self.messages) if name == topic]

    def state(self) -> dict[str, Any]:
        states = self.all("state")
        return states[-1] if states else {}

    def statuses(self, action_id: str) -> list[str]:
        """Statuses that an action was reported to have, without repetitions."""
        found = [
            each["actionStatus"]
            for state in self.all("state")
            for each in state["actionStates"]
            if each["actionId"] == action_id
        ]
        return [s for i, s in enumerate(found) if i == 0 or s != found[i - 1]]

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def control(broker: Broker) -> Iterator[Control]:
    made = Control(broker.port)
    yield made
    made.close()


class Site:
    """A robot with executor and client."""

    def __init__(self, spinner: Spinner, folder: Path, port: int) -> None:
        for name, body in (("navigation_classic", "<Glide/>"), ("lift", "<Sleep msec='200'/>")):
            (folder / f"{name}.xml").write_text(TREE.format(name=name, body=body))
        executor = BehaviorExecutor(
            parameter_overrides=parameters(
                tree_directories=[str(folder)],
                nodes_file="",
                managers=["driving_manager:DrivingManager"],
                tick_rate=50.0,
            )
        )
        self.robot = executor.managers[0]
        self.executor = executor
        self.client = Vda5050Client(
            parameter_overrides=parameters(
                port=port,
                manufacturer="acme",
                serial_number="7",
                behaviors=["lift=lift"],
                state_period=1.0,
            )
        )
        spinner.start(executor, self.client)
        until(lambda: self.client.link.connected, WAIT, "connection")
        until(lambda: self.client.condition().place is not None, WAIT, "localization")
        until(lambda: self.client._missions.ready, WAIT, "executor")


def parameters(**values: object) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in values.items()]


@pytest.fixture
def site(spinner: Spinner, tmp_path: Path, broker: Broker, control: Control) -> Site:
    return Site(spinner, tmp_path, broker.port)


def test_order_ends_in_finished_with_the_states_in_between(site: Site, control: Control) -> None:
    lift = action("lift1", kind="lift")
    control.send("order", order(0, 1, 2, base=2, actions={1: [lift]}))
    until(lambda: control.state().get("newBaseRequest"), WAIT, "use of the base")
    assert site.robot.x == pytest.approx(1.0)
    control.send("order", order(1, 2, 3, update=1, first=2))
    until(lambda: control.state()["lastNodeId"] == "n3", WAIT, "end")
    until(lambda: not control.state()["nodeStates"], WAIT, "end")
    assert site.robot.x == pytest.approx(3.0)
    assert control.state()["errors"] == []
    told = control.statuses("lift1")
    assert [s for s in told if s != "INITIALIZING"] == ["WAITING", "RUNNING", "FINISHED"]
    passed = [state["lastNodeId"] for state in control.all("state")]
    assert list(dict.fromkeys(p for p in passed if p)) == ["n0", "n1", "n2", "n3"]
    sizes = [len(state["nodeStates"]) for state in control.all("state") if state["orderId"]]
    assert {0, 1, 2} <= set(sizes)
    numbers = [state["headerId"] for state in control.all("state")]
    assert numbers == sorted(set(numbers))
    assert control.state()["agvPosition"]["mapId"] == "hall"
    assert control.all("connection")[-1]["connectionState"] == "ONLINE"


def test_malformed_orders_are_refused_and_the_robot_does_not_move(
    site: Site, control: Control
) -> None:
    wrong = order(0, 1, 2)
    wrong["edges"][1]["endNodeId"] = "elsewhere"
    for text, kind in (
        ("{not json", "validationError"),
        (json.dumps({**order(0, 1), "nodes": "none"}), "validationError"),
        (json.dumps(wrong), "validationError"),
        (json.dumps(order(4, 5)), "noRouteError"),
        (json.dumps(order(0, 1, actions={1: [action("a", kind="fly")]})), "orderError"),
    ):
        before = len(control.all("state"))
        control.send("order", text)
        until(
            lambda before=before, kind=kind: any(
                state["errors"] and state["errors"][-1]["errorType"] == kind
                for state in control.all("state")[before:]
            ),
            WAIT,
            f"{kind} for {text[:30]}",
        )
        assert control.state()["errors"][-1]["errorReferences"]
        assert control.state()["orderId"] == ""
    assert (site.robot.x, site.executor.core.queue.current) == (0.0, None)


def test_an_order_that_the_broker_had_kept_moves_nothing(
    spinner: Spinner, tmp_path: Path, broker: Broker, control: Control
) -> None:
    control.send("order", order(0, 1), retain=True).wait_for_publish(WAIT)
    site = Site(spinner, tmp_path, broker.port)
    until(lambda: control.state().get("errors"), WAIT, "refusal")
    (error,) = control.state()["errors"]
    assert error["errorType"] == "validationError"
    assert "retained" in error["errorDescription"]
    assert site.client.vehicle.idle
    control.send("order", order(0, 1), retain=True)  # sent just now
    until(lambda: control.state().get("lastNodeId") == "n1", WAIT, "end")


def test_pause_cancel_failure_and_factsheet(site: Site, control: Control) -> None:
    control.send("order", order(0, 20))
    until(lambda: site.robot.x > 0.2, WAIT, "drive")
    control.at_once(action("p", kind="startPause"), action("f", kind="factsheetRequest"))
    until(lambda: control.state()["paused"], WAIT, "pause")
    until(lambda: site.executor.core.queue.running.state.name == "PAUSED", WAIT, "pause")
    where = site.robot.x
    (sheet,) = until(lambda: control.all("factsheet"), WAIT, "factsheet")
    kinds = {each["actionType"] for each in sheet["protocolFeatures"]["agvActions"]}
    assert {"lift", "cancelOrder", "startPause"} <= kinds
    assert site.robot.x == where
    control.at_once(action("r", kind="stopPause"))
    until(lambda: site.robot.x > where, WAIT, "going on")
    control.at_once(action("c", kind="cancelOrder"))
    until(lambda: control.statuses("c")[-1:] == ["FINISHED"], WAIT, "cancellation")
    assert site.executor.core.queue.running is None
    assert control.state()["nodeStates"] == []
    control.send("order", order(round(site.robot.x, 3), 60, order_id="far"))
    until(
        lambda: any(e["errorType"] == "drivingError" for e in control.state()["errors"]),
        WAIT,
        "failure",
    )
    assert "there is no way" in control.state()["errors"][-1]["errorDescription"]


def test_broker_that_goes_and_comes_back(site: Site, control: Control, broker: Broker) -> None:
    control.send("order", order(0, 2))
    until(lambda: site.robot.x > 0.1, WAIT, "drive")
    broker.stop()
    until(lambda: not site.client.link.connected, WAIT, "loss")
    until(lambda: site.robot.x == pytest.approx(2.0), WAIT, "end of the drive")
    broker.start()
    until(lambda: site.client.link.connections == 2, WAIT, "reconnection")
    until(lambda: control.state().get("lastNodeId") == "n2", WAIT, "state")


def test_last_will(spinner: Spinner, tmp_path: Path, broker: Broker, control: Control) -> None:
    site = Site(spinner, tmp_path, broker.port)
    until(lambda: control.all("connection"), WAIT, "connection")
    sock = site.client.link._client.socket()
    site.client.link._client.reconnect_delay_set(60, 60)
    sock.shutdown(socket.SHUT_RDWR)  # the robot vanishes
    until(
        lambda: control.all("connection")[-1]["connectionState"] == "CONNECTIONBROKEN",
        WAIT,
        "last will",
    )


def test_drive_of_a_client_that_died_is_cancelled(
    spinner: Spinner, tmp_path: Path, broker: Broker, control: Control
) -> None:
    site = Site(spinner, tmp_path, broker.port)
    control.send("order", order(0, 30))
    until(lambda: site.robot.x > 0.1, WAIT, "drive")
    spinner.do(site.client.link.close)
    spinner.do(spinner.executor.remove_node, site.client)  # it is no longer heard of
    other = Vda5050Client(parameter_overrides=parameters(port=broker.port, serial_number="8"))
    spinner.nodes.append(other)
    spinner.do(spinner.executor.add_node, other)
    until(lambda: site.executor.core.queue.running is None, WAIT, "cancellation")


def test_a_broken_package_takes_no_other_handlers_along(
    spinner: Spinner, tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = {
        "gone": "vda5050_actions: {honk: 'no_such_code:HONK'}",
        "raising": "vda5050_actions: {blink: 'json:loads'}",
        "sound": "vda5050_actions: {beep: 'weakref:ref'}",
    }
    offered = []
    for name, text in manifests.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        offered.append(read_manifest(name, tmp_path / f"{name}.yaml"))
    monkeypatch.setattr(behavior_vda5050.node, "packages", lambda: Packages(offered))
    client = Vda5050Client(parameter_overrides=parameters(port=broker.port, serial_number="9"))
    spinner.start(client)
    assert "beep" in client.vehicle.known_actions
    assert not {"honk", "blink"} & set(client.vehicle.known_actions)
