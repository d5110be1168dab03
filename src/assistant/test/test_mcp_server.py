# SPDX-License-Identifier: Apache-2.0
"""The MCP server, asked by the SDK's own client in this process."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from assistant_kit import PICK, checker, tree

pytest.importorskip("mcp", reason="the Python package mcp is not installed (docs/language.md)")

import httpx
from mcp import Client

from behavior_assistant import mcp_http, mcp_server
from behavior_assistant.audit import Audit
from behavior_assistant.checked_trees import MOST_BYTES
from behavior_assistant.episodes import Episode
from behavior_assistant.proposals import Proposals
from behavior_assistant.workbench import Workbench
from behavior_bringup.errors import BringupError
from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_ros.web_access import WebAccess

LOOKING = {
    *("list_nodes", "list_missions", "show_mission", "read_scene", "validate_tree"),
    *("simulate_tree", "preview_mission", "list_proposals"),
}


class Room:
    """A server on a folder of missions, a scene of one cup, and a simulation that does nothing."""

    def __init__(self, folder, *, may_propose=False):
        missions = folder / "missions"
        missions.mkdir()
        (missions / "tidy.xml").write_text(f"<!-- Tidies up. -->\n{PICK}")
        self.audit = Audit(folder / "audit.jsonl", clock=lambda: "T")
        self.proposals = Proposals(folder / "proposals", self.audit, clock=lambda: "T")
        self.previewed, self.may_end = [], threading.Event()
        self.may_end.set()
        self.bench = Workbench(
            checker=checker,
            catalogue=lambda: MissionCatalogue([missions]),
            scene=lambda: {"cup": {"position": [0.1, 0.2, 0.3]}},
            simulate=self.simulate,
            preview=lambda name, parameters: {"previewed": [name, dict(parameters)]},
            proposals=self.proposals,
            may_propose=may_propose,
        )

    def simulate(self, checked, episodes):
        assert self.may_end.wait(60)
        return [Episode(seed=n, success=n != 1, reason="r", seconds=1.0) for n in range(episodes)]

    def talk(self, conversation):
        """Have a coroutine talk with the server; returns what it returns."""

        async def session():
            server = mcp_server.make_server(self.bench, self.audit, "test")
            async with Client(server) as client:
                return await conversation(client)

        return asyncio.run(session())

    def call(self, tool, **arguments):
        """The answer of a tool, or its error as text."""

        async def one(client):
            return await client.call_tool(tool, arguments)

        answer = self.talk(one)
        text = answer.content[0].text
        return text if answer.is_error else json.loads(text)

    def noted(self):
        return [json.loads(line) for line in self.audit.file.read_text().splitlines()]


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.fixture
def proposing(tmp_path):
    return Room(tmp_path, may_propose=True)


def tools_of(room):
    async def listed(client):
        return (await client.list_tools()).tools

    return room.talk(listed)


@pytest.mark.slow
def test_it_only_looks_unless_proposals_are_allowed(room):
    tools = tools_of(room)
    assert {tool.name for tool in tools} == LOOKING
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert "Unknown tool" in room.call("propose_mission", name="n", xml=PICK, reason="r")


def test_with_proposals_there_are_two_tools_more_and_none_that_moves(proposing):
    assert {tool.name for tool in tools_of(proposing)} - LOOKING == {
        "propose_mission",
        "propose_edit",
    }


@pytest.mark.slow
def test_node_types_come_with_their_ports(room):
    found = room.call("list_nodes", search="pick")
    (pick,) = [each for each in found["nodes"] if each["name"] == "Pick"]
    port = {
        "name": "object_name",
        "direction": "input",
        "required": True,
        "about": "object of the scene",
    }
    assert pick["ports"] == [port]
    assert room.call("list_nodes", search="Suppress")["found"] == 0


@pytest.mark.slow
def test_missions_are_listed_and_shown(room):
    (mission,) = room.call("list_missions")["missions"]
    assert (mission["name"], mission["about"]) == ("tidy", "Tidies up.")
    assert PICK in room.call("show_mission", name="tidy")["xml"]
    assert "no mission 'tidi'" in room.call("show_mission", name="tidi")
    assert "no mission" in room.call("show_mission", name="../../etc/passwd")


def test_the_scene_is_read(room):
    assert room.call("read_scene")["objects"]["cup"]["position"] == [0.1, 0.2, 0.3]


def test_a_stack_that_is_down_is_an_error_in_words(room):
    def down():
        raise BringupError("The stack is not up")

    object.__setattr__(room.bench, "scene", down)
    assert room.call("read_scene").endswith("The stack is not up")


@pytest.mark.slow
def test_trees_are_checked(room):
    assert room.call("validate_tree", xml=PICK) == {"valid": True, "problems": []}
    wrong = room.call("validate_tree", xml=tree("<Fly/>"))
    assert not wrong["valid"]
    assert "Fly" in wrong["problems"][0]


@pytest.mark.slow
def test_trees_are_simulated_with_their_confidence(room):
    found = room.call("simulate_tree", xml=PICK, episodes=4)
    assert found["summary"].startswith("3 of 4 simulated episodes")
    assert "30 to 95 %" in found["summary"]
    assert len(found["episodes"]) == 4
    assert "faults" in room.call("simulate_tree", xml=tree("<Fly/>"))


def test_one_simulation_at_a_time(room):
    room.may_end.clear()

    async def two(client):
        first = asyncio.create_task(client.call_tool("simulate_tree", {"xml": PICK}))
        while not room.bench.busy.locked():
            assert not first.done()
            await asyncio.sleep(0.005)
        second = await client.call_tool("simulate_tree", {"xml": PICK})
        room.may_end.set()
        return await first, second

    first, second = room.talk(two)
    assert not first.is_error
    assert "Another simulation runs" in second.content[0].text


def test_missions_are_previewed(room):
    found = room.call("preview_mission", name="tidy", parameters={"a": "1"})
    assert found == {"previewed": ["tidy", {"a": "1"}]}
    assert "no mission" in room.call("preview_mission", name="none")


@pytest.mark.slow
def test_a_proposal_waits_and_nothing_else_happens(proposing):
    answer = proposing.call("propose_mission", name="fetch", xml=PICK, reason="a cup is wanted")
    (kept,) = proposing.proposals.all()
    assert (kept.id, kept.status, kept.mission) == (answer["id"], "open", "fetch")
    assert kept.author == "MCP client (test)"
    assert "behavior proposals approve" in answer["next"]
    assert not proposing.proposals.missions.exists()
    (listed,) = proposing.call("list_proposals")["proposals"]
    assert listed["status"] == "open"


def test_an_edit_keeps_what_it_changes(proposing):
    changed = tree('<Pick object_name="mug"/>')
    proposing.call("propose_edit", name="tidy", xml=changed, reason="the mug instead")
    (kept,) = proposing.proposals.all()
    assert kept.is_edit
    assert '-<root BTCPP_format="4"' in kept.difference()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("propose_mission", {"name": "tidy", "xml": PICK, "reason": "r"}, "already"),
        ("propose_mission", {"name": "Bad Name", "xml": PICK, "reason": "r"}, "lower-case"),
        ("propose_mission", {"name": "n", "xml": tree("<Fly/>"), "reason": "r"}, "Fly"),
        ("propose_mission", {"name": "n", "xml": PICK, "reason": ""}, "reason"),
        ("propose_mission", {"name": "n", "xml": PICK}, "reason"),
        ("propose_edit", {"name": "none", "xml": PICK, "reason": "r"}, "no mission"),
        ("validate_tree", {"xml": "x" * (MOST_BYTES + 1)}, "xml"),
        ("simulate_tree", {"xml": PICK, "episodes": 10**6}, "episodes"),
        ("preview_mission", {"name": "tidy", "parameters": {"a": "b" * 201}}, "a"),
    ],
)
def test_what_is_wrong_is_refused_in_words_and_noted(proposing, tool, arguments, why):
    assert why in proposing.call(tool, **arguments)
    assert proposing.proposals.all() == []
    assert [line["what"] for line in proposing.noted()] == ["called", "failed"]


def test_every_call_is_noted_with_what_was_asked(room):
    room.call("validate_tree", xml=PICK)
    called, answered = room.noted()
    assert called == {
        "time": "T",
        "what": "called",
        "tool": "validate_tree",
        "by": "test",
        "arguments": {"xml": PICK},
    }
    assert answered["what"] == "answered"


def test_a_call_that_cannot_be_noted_is_not_answered(room):
    room.audit.file.mkdir()
    assert "audit file cannot be written" in room.call("list_missions")


ACCESS = WebAccess(token="right")


def over_http(room, headers, talk):
    """Talk with the server over HTTP, without a socket."""
    server = mcp_server.make_server(room.bench, room.audit, "http")
    app = mcp_http.application(server, ACCESS)

    async def session():
        async with server.session_manager.run():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8765", headers=headers
            ) as web:
                return await talk(web)

    return asyncio.run(session())


def initialize(web):
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accepted = {"Accept": "application/json, text/event-stream"}
    return web.post(mcp_http.PATH, json=request, headers=accepted)


def test_over_http_the_token_opens_it(room):
    answer = over_http(room, {"Authorization": "Bearer right"}, initialize)
    assert answer.status_code == 200
    assert answer.json()["result"]["serverInfo"]["name"] == "behavior"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 403),
        ({"Authorization": "Bearer right", "Host": "evil.example:8765"}, 403),
        ({"Authorization": "Bearer right", "Origin": "http://evil.example"}, 403),
        ({"Authorization": "Bearer right", "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_over_http_nobody_else_gets_in(room, headers, status):
    assert over_http(room, headers, initialize).status_code == status


def test_over_http_sizes_are_limited(room):
    def large(web):
        return web.post(mcp_http.PATH, content=b"x" * (mcp_http.MOST_BYTES + 1))

    assert over_http(room, {"Authorization": "Bearer right"}, large).status_code in (400, 406, 413)
