# SPDX-License-Identifier: Apache-2.0
"""New missions are written as files that load, and nothing is ever overwritten."""

import asyncio
from pathlib import Path

import httpx
import pytest
from console_client import PATIENCE, FakeSource
from shared_trees import SharedTrees

from behavior_console.access import ConsoleAccess
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit
from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError
from behavior_console.desk import ConsoleDesk
from behavior_console.editing.known_models import KnownModels
from behavior_console.editing.new_mission import FIRST_STEP, NewMissions, parts_for
from behavior_console.editing.node_models import ENGINE, node_models
from behavior_console.editing.serving import edit_routes
from behavior_console.protocol import Role
from behavior_console.server import ConsoleServer
from behavior_tree import BehaviorTreeFactory

ANN = Client(1, "ann", Role.EDIT)


class Desk:
    """Takes the one command, without a server."""

    def __init__(self, folder):
        self.channels, self.parts = Channels(), []
        new = NewMissions(self._folder, self.channels, lambda: self.parts)
        new.offer(self)
        self.folder = folder

    async def _folder(self):
        return self.folder

    def offer(self, name, handler, **_):
        self.handler = handler

    def make(self, **args):
        return asyncio.run(self.handler(ANN, args))


def test_a_new_mission_is_a_file_that_loads(tmp_path):
    answer = Desk(tmp_path).make(name="tidy_up", about="Tidy\0up --\x1bat last")
    assert answer.value == {"tree": "tidy_up"}
    (file,) = tmp_path.iterdir()
    assert file.name == "tidy_up.xml"
    assert "<!-- Tidy up at last -->" in file.read_text()
    tree = BehaviorTreeFactory().create_tree_from_file(file)
    assert [node.name for node in tree.nodes()][-1] == FIRST_STEP


def test_it_may_use_what_missions_of_its_world_use(tmp_path):
    desk = Desk(tmp_path)
    desk.parts = [("behavior_<parts>", Path("trees/a&b.xml"))]
    desk.make(name="one")
    text = (tmp_path / "one.xml").read_text()
    assert '<include ros_pkg="behavior_&lt;parts&gt;" path="trees/a&amp;b.xml"/>' in text
    blocks = Path("trees/subtrees/blocks.xml")
    both = [("behavior_jobs", blocks.with_stem("pick_and_place")), ("behavior_jobs", blocks)]
    assert sorted(parts_for("block_stacking")) == sorted(both)
    assert parts_for("") == parts_for("nowhere") == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"name": "../up"}, "letters, digits"),
        ({"name": ""}, "letters, digits"),
        ({"name": "a" * 65}, "at most 64"),
        ({}, "letters, digits"),
        ({"name": "there"}, "there already"),
        ({"name": "offered"}, "a mission 'offered' already"),
        ({"name": "x", "about": 7}, "'about' is a text"),
    ],
)
def test_what_cannot_be_made_says_why_and_changes_nothing(tmp_path, args, words):
    (tmp_path / "there.xml").write_text("mine")
    desk = Desk(tmp_path)
    desk.channels.set("missions", [{"name": "offered"}])
    with pytest.raises(CommandError, match=words.replace("(", "\\(")):
        desk.make(**args)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("there.xml", "mine")]


def test_without_a_folder_it_says_how_to_have_one(tmp_path):
    with pytest.raises(CommandError, match="missions:=FOLDER"):
        Desk(None).make(name="x")
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        Desk(tmp_path / "gone").make(name="x")


@pytest.fixture
def addresses(tmp_path):
    """A server whose one open tree is that of `SharedTrees`."""
    source, access = FakeSource(), ConsoleAccess(edit="e" * 30, operate="o" * 30)
    file = SharedTrees(tmp_path).file
    source.channels.patch("document", {"naps": {"files": {str(file): {}}}})
    desk = ConsoleDesk(source, Audit(None, print, pytest.fail))
    asked = []

    def models():
        asked.append(1)
        if len(asked) == 1:
            raise ValueError("a package is broken")
        return [{"id": "Sleep"}]

    routes = edit_routes(source.channels, KnownModels(models))
    app = application(desk, pulse=Pulse(), routes=routes)
    server = ConsoleServer(app, access, port=0)

    def get(path, token=access.edit, **query):
        url = f"http://localhost:{server.port}{path}"
        query = {**query, **({"token": token} if token else {})}
        return httpx.get(url, params=query, timeout=PATIENCE)

    yield get, file
    server.close()


@pytest.mark.slow
def test_kinds_of_nodes_are_asked_for_until_there_is_an_answer(addresses):
    get, _ = addresses
    assert get("/api/models").status_code == 500
    assert get("/api/models").json() == get("/api/models", token="").json() == [{"id": "Sleep"}]


def test_kinds_of_nodes_are_found_once_ahead_of_who_asks():
    found = []

    def find():
        found.append(1)
        return [{"id": "Sleep"}]

    async def asked():
        models = KnownModels(find)
        await models.find_ahead()
        return [found.copy(), await models.rows(), await models.rows()]

    assert asyncio.run(asked()) == [[1], [{"id": "Sleep"}], [{"id": "Sleep"}]]
    assert found == [1]


def test_only_files_of_open_trees_are_shown_and_to_who_may_edit(addresses):
    get, file = addresses
    assert get("/api/tree/naps", file=str(file)).text == file.read_text()
    assert get("/api/tree/naps", file="/etc/passwd").status_code == 404
    assert get("/api/tree/nops", file=str(file)).status_code == 404
    assert get("/api/tree/naps", token="o" * 30, file=str(file)).status_code == 403


@pytest.mark.slow
def test_kinds_of_nodes_have_packages_ports_and_choices():
    rows = {row["id"]: row for row in node_models(pytest.fail)}
    retry, step = rows["RetryUntilSuccessful"], rows["Step"]
    assert (retry["kind"], retry["package"], step["package"]) == ("Decorator", ENGINE, ENGINE)
    assert (retry["min_children"], retry["max_children"]) == (1, 1)
    assert retry["ports"][0]["required"]
    assert rows["Sequence"]["max_children"] is None
    part = rows["PickAndPlace"]
    assert (part["kind"], part["package"]) == ("SubTree", "behavior_jobs")
    assert part["description"].startswith("Both, one after the other.")
    ports = {port["name"]: port for port in part["ports"]}
    assert ports["target"]["required"]
    assert ports["any_yaw"]["choices"] == ["true", "false"]
    assert ports["grasp"]["direction"] == "output"
    modes = next(port for port in rows["MoveArm"]["ports"] if port["name"] == "mode")
    assert {"JOINTS", "NAMED"} <= set(modes["choices"])
