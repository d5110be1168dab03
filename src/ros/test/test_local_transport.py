# SPDX-License-Identifier: Apache-2.0
"""DDS stays on this machine when ROS does: no other machine gets an answer.

The other machine is a network namespace with a shared memory of its own, joined by a pair of
virtual interfaces to the one in which the robot runs: nothing leaves this machine.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from behavior_ros.process.local_transport import PROFILE, is_local, match_transport
from behavior_ros.testing import own_domain

VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
ROBOT, STRANGER = "10.213.7.1", "10.213.7.2"
HERE = Path(__file__).parent

KNOCK = """
import sys, time
import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.node import Node

rclpy.init()
node = Node("stranger")
client = node.create_client(ListParameters, "/plain/list_parameters")
print("knocking", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    if client.wait_for_service(timeout_sec=0.2):
        future = client.call_async(ListParameters.Request())
        rclpy.spin_until_future_complete(node, future, timeout_sec=2.0)
        if future.done():
            print("answered", flush=True)
            break
else:
    print("silence", flush=True)
"""

# Waits for its interface, then becomes the program.
MACHINE = 'mount -t tmpfs tmpfs /dev/shm && ip link set lo up && echo up && read go && exec "$@"'


class Machine:
    """A program in a network of its own."""

    def __init__(self, command: list[str], **environment: str) -> None:
        own = {k: v for k, v in os.environ.items() if k not in (*VARIABLES, "ROS_STATIC_PEERS")}
        python_path = f"{HERE}:{os.environ.get('PYTHONPATH', '')}"
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", MACHINE, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own | {"ROS_DOMAIN_ID": "7", "PYTHONPATH": python_path} | environment,
            text=True,
        )
        assert self.read() == "up"

    def configure(self, *words: str) -> None:
        """Change the machine's network."""
        self._ip(*words)

    def wait_for_carrier(self) -> None:
        """Until its interface carries: DDS leaves one out that does not when it starts."""
        end = time.monotonic() + 30.0
        while "state UP" not in self._ip("link", "show", "eth0"):
            assert time.monotonic() < end, "the link does not come up"
            time.sleep(0.01)

    def _ip(self, *words: str) -> str:
        command = ["nsenter", "--target", str(self.process.pid), "--net", "ip", *words]
        done = subprocess.run(command, check=True, timeout=240, capture_output=True, text=True)
        return done.stdout

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def sockets(self) -> set[str]:
        """Local addresses of its UDP sockets, in the form of /proc/net/udp."""
        table = Path(f"/proc/{self.process.pid}/net/udp").read_text(encoding="ascii")
        return {line.split()[1] for line in table.splitlines()[1:]}

    def end(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=240)


PAIR = "ip link add name eth0 type veth peer name eth1"


def namespaces_refused() -> str:
    """Why no network can be made here; empty when it can."""
    try:
        tried = subprocess.run(
            ["unshare", "--net", "--mount", "sh", "-c", PAIR],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    except FileNotFoundError as error:
        return str(error)
    return tried.stderr.strip() if tried.returncode else ""


@pytest.fixture
def machines() -> Iterator[list[Machine]]:
    if reason := namespaces_refused():
        pytest.skip(f"network namespaces are not permitted here: {reason}")
    made: list[Machine] = []
    yield made
    for machine in made:
        machine.end()


def knock(machines: list[Machine], *, patience: float, **robot_environment: str) -> str:
    """What a stranger's machine hears that names the robot's as its peer."""
    host = [sys.executable, "-m", "behavior_ros.process.host", "--node", "hosted_nodes:Plain"]
    robot = Machine(host, **robot_environment)
    machines.append(robot)
    stranger = Machine(
        [sys.executable, "-c", KNOCK, str(patience)],
        ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET",
        ROS_STATIC_PEERS=ROBOT,
    )
    machines.append(stranger)
    peer = ["peer", "name", "eth0", "netns", str(stranger.process.pid)]
    robot.configure("link", "add", "name", "eth0", "type", "veth", *peer)
    for machine, address in ((robot, ROBOT), (stranger, STRANGER)):
        machine.configure("address", "add", f"{address}/24", "dev", "eth0")
        machine.configure("link", "set", "eth0", "up")
    for machine in (robot, stranger):
        machine.wait_for_carrier()
    robot.go()
    assert robot.read() == "running /plain rate 1.0"
    stranger.go()
    assert stranger.read() == "knocking"
    return stranger.read()


def test_a_stranger_gets_no_answer(machines: list[Machine]) -> None:
    begin = time.monotonic()
    control = knock(machines, patience=120.0, ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET")
    assert control == "answered", "the two machines are not joined: the test would prove nothing"
    patience = 2.0 * (time.monotonic() - begin)
    heard = knock(machines, patience=patience, ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
    assert heard == "silence"
    # One socket with a port of the system's choice sends; those that listen do so on loopback.
    listening = {each for each in machines[-2].sockets() if int(each.split(":")[1], 16) < 32768}
    assert listening
    assert all(each.startswith("0100007F") for each in listening)


def test_a_local_range_binds_to_loopback() -> None:
    for chosen in ("LOCALHOST", "OFF"):
        environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": chosen}
        match_transport(environment)
        assert [environment[name] for name in VARIABLES] == [str(PROFILE)] * 2


@pytest.mark.parametrize(
    "chosen",
    [
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"},
        {},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_STATIC_PEERS": "10.0.0.2"},
    ],
)
def test_who_reaches_further_is_not_bound(chosen: dict[str, str]) -> None:
    assert not is_local(chosen)
    former = dict.fromkeys(VARIABLES, f"/another/checkout/{PROFILE.name}")
    for before in ({}, former):
        environment = {**chosen, **before}
        match_transport(environment)
        assert environment == chosen


@pytest.mark.parametrize("name", VARIABLES)
def test_a_profile_of_the_users_own_stays(name: str) -> None:
    environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", name: "/home/me/mine.xml"}
    before = dict(environment)
    match_transport(environment)
    assert environment == before


def test_the_profile_has_no_transport_but_loopback_and_shared_memory() -> None:
    space = {"p": "http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"}
    root = ElementTree.parse(PROFILE).getroot()
    used = {e.text for e in root.iterfind(".//p:userTransports/p:transport_id", space)}
    described = {
        e.findtext("p:transport_id", None, space): e.findtext("p:type", None, space)
        for e in root.iterfind(".//p:transport_descriptor", space)
    }
    assert {described[name] for name in used} == {"UDPv4", "SHM"}
    assert [e.text for e in root.iterfind(".//p:address", space)] == ["127.0.0.1"]
    assert root.findtext(".//p:useBuiltinTransports", None, space) == "false"


def test_who_comes_later_is_found_soon() -> None:
    """Only the first participant of a process is found by its own announcements."""
    space = {"p": "http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"}
    period = ElementTree.parse(PROFILE).getroot().find(".//p:leaseAnnouncement", space)
    assert period is not None
    second, nanosecond = (period.findtext(f"p:{n}", "", space) for n in ("sec", "nanosec"))
    assert int(second) + 1e-9 * int(nanosecond) <= 0.5


BURST = 2_000
"""Datagrams: what a stack of ten processes sends to each while it starts."""


def udp_sockets(pid: int) -> dict[int, int]:
    """How many datagrams a process' UDP sockets have dropped, by port."""
    links = (os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.exists())
    inodes = {link[len("socket:[") : -1] for link in links if link.startswith("socket:")}
    rows = Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]
    columns = (row.split() for row in rows)
    return {int(c[1].split(":")[1], 16): int(c[-1]) for c in columns if c[9] in inodes}


def test_a_burst_is_kept_for_a_process_that_is_busy() -> None:
    most = int(Path("/proc/sys/net/core/rmem_max").read_text(encoding="ascii"))
    if most < 4 << 20:
        pytest.skip(f"net.core.rmem_max is {most}: this machine allows no larger buffers")
    domain = own_domain()
    robot = subprocess.Popen(
        [sys.executable, "-m", "behavior_ros.process.host", "--node", "hosted_nodes:Plain"],
        stdout=subprocess.PIPE,
        env=dict(
            os.environ, ROS_DOMAIN_ID=str(domain), PYTHONPATH=f"{HERE}:{os.environ['PYTHONPATH']}"
        ),
        text=True,
    )
    try:
        assert robot.stdout is not None
        assert robot.stdout.readline().startswith("running /plain")
        robot.send_signal(signal.SIGSTOP)
        listens = min(p for p in udp_sockets(robot.pid) if p >= 7400 + 250 * domain)
        before = udp_sockets(robot.pid)[listens]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(BURST):
                sender.sendto(bytes(400), ("127.0.0.1", listens))
        assert udp_sockets(robot.pid)[listens] == before
    finally:
        robot.kill()
        robot.communicate(timeout=240)


CROWD = """
import os, sys, time
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import Empty

nodes = []
for number in range(int(sys.argv[1])):
    context = Context()
    rclpy.init(context=context)
    nodes.append(Node(f"n{number}", context=context, enable_rosout=False,
                      start_parameter_services=False))
    nodes[-1].create_publisher(Empty, "/crowd", 1)
end = time.monotonic() + 220.0
while min(node.count_publishers("/crowd") for node in nodes) < len(nodes):
    if time.monotonic() > end:
        break
    time.sleep(0.2)
print(min(node.count_publishers("/crowd") for node in nodes), flush=True)
os._exit(0)
"""


def test_more_participants_find_each_other_than_without_a_profile() -> None:
    environment = dict(
        os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST", ROS_DOMAIN_ID=str(own_domain())
    )
    match_transport(environment)
    done = subprocess.run(
        [sys.executable, "-c", CROWD, "45"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=280,
    )
    assert done.stdout.strip().endswith("45")
