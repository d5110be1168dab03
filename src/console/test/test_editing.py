# SPDX-License-Identifier: Apache-2.0
"""Pages edit a tree together: what they see, what they are answered, and what may go wrong."""

import pytest
from console_client import PATIENCE, FakeSource, PageClient
from shared_trees import FakeCarrier, SharedTrees

from behavior_console.access import ConsoleAccess
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit
from behavior_console.desk import ConsoleDesk
from behavior_console.editing.edit_desk import EditDesk
from behavior_console.server import ConsoleServer
from behavior_tree.sharing import Code

ACCESS = ConsoleAccess(edit="e" * 30, operate="o" * 30)


class Console:
    """A console whose executor is a `SharedTrees` of this process."""

    def __init__(self, folder):
        self.folder, self.audited = folder, []
        self.carrier = FakeCarrier(None)
        live = FakeSource()
        desk = ConsoleDesk(live, Audit(None, self.audited.append, pytest.fail))
        self.edits = EditDesk(self.carrier, live.channels, patience=PATIENCE)
        self.edits.offer(desk.commands)
        self.channels, pulse = live.channels, Pulse()
        live.channels.on_change = pulse.announce
        self.server = ConsoleServer(application(desk, pulse=pulse), ACCESS, port=0)
        self.start()

    def start(self):
        """Start the executor, or start it again on the same files."""
        self.carrier.shared = SharedTrees(self.folder)
        self.carrier.shared.on_news = self.edits.hear

    def page(self, name="ann", token=ACCESS.edit):
        page = PageClient(self.server.port, token).hello(name)
        return page.show("document", "editors")

    def close(self):
        self.server.close()
        self.edits.close()


@pytest.fixture
def console(tmp_path):
    running = Console(tmp_path)
    yield running
    running.close()


@pytest.fixture(autouse=True, scope="module")
def no_power_cuts():
    """The disk need not be waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        yield


def nodes(page, tree="naps"):
    """The nodes of a tree as a page has them, by name."""
    found = {key: row for key, row in page.state["document"].items() if key.startswith(f"{tree}\n")}
    return {row[1].get("name", row[0]): (key.split("\n")[1], row) for key, row in found.items()}


def edit(page, operation, **more):
    return page.command("tree.edit", tree="naps", operation=operation, **more)


def joined(page):
    answer = page.command("tree.open", tree="naps")
    assert answer["ok"], answer
    page.until(lambda: "naps" in page.state.get("document", {}))
    return answer["value"]["editor"]


def codes(page):
    return tuple(nodes(page)[name][1][1]["code"] for name in ("look", "mark"))


def test_two_pages_see_each_others_edits_and_undo_their_own(console):
    with console.page("ann") as ann, console.page("bob") as bob:
        assert (joined(ann), joined(bob)) == ("ann", "bob")
        look, mark = nodes(ann)["look"][0], nodes(ann)["mark"][0]
        made = edit(ann, {"op": "set", "node": look, "attributes": {"code": "a == 1"}})
        assert made["ok"], made
        assert made["value"]["code"] == Code.MADE
        edit(bob, {"op": "set", "node": mark, "attributes": {"code": "a := 7"}})
        for page in (ann, bob):
            page.until(lambda p=page: codes(p) == ("a == 1", "a := 7"))
        assert edit(ann, {"op": "undo"})["ok"]
        for page in (ann, bob):
            page.until(lambda p=page: codes(p) == ("a == 2", "a := 7"))


def test_only_what_has_changed_is_sent_again(console):
    with console.page() as page:
        joined(page)
        page.until(lambda: "mark" in nodes(page))
        sent = []
        take = page._take_frame
        page._take_frame = lambda frame: (sent.append(frame), take(frame))
        parent = nodes(page)["all"][0]
        new = edit(page, {"op": "insert", "parent": parent, "xml": "<Sleep msec='1'/>"})
        page.until(lambda: "Sleep" in nodes(page))
        patches = [frame.get("patch", {}).get("document", {}) for frame in sent]
        assert not any("document" in frame.get("set", {}) for frame in sent)
        changed = {key.split("\n")[1] for patch in patches for key in patch if "\n" in key}
        assert changed == {parent, *new["value"]["nodes"]}
        edit(page, {"op": "undo"})
        page.until(lambda: "Sleep" not in nodes(page))


def test_what_is_refused_is_answered_with_the_executors_sentence(console):
    with console.page() as page:
        joined(page)
        refused = edit(
            page, {"op": "set", "node": nodes(page)["long"][0], "attributes": {"msec": "x"}}
        )
        assert not refused["ok"]
        assert refused["value"]["code"] == Code.REFUSED
        assert "msec" in refused["message"]
        for operation, running, words in (
            ({"op": "explode"}, "refuse", "[op] is one of"),
            ({"op": "undo"}, "perhaps", "refuse, after or halt"),
            ("undo", "refuse", "'operation' is a map"),
        ):
            assert words in edit(page, operation, running=running)["message"]
        assert "name of a mission" in page.command("tree.open", tree=7)["message"]
        assert "no mission 'nops'" in page.command("tree.open", tree="nops")["message"]
        assert "open the tree" in page.command("tree.edit", tree="nops", operation={})["message"]


def test_an_edit_that_is_held_back_or_lost_is_sent_again_and_made_once(console):
    with console.page() as page:
        joined(page)
        console.carrier.held_back = 2
        xml = {"op": "insert", "parent": nodes(page)["all"][0], "xml": "<Sleep name='n' msec='1'/>"}
        assert edit(page, xml)["ok"]
        assert console.carrier.held_back == 0
        console.carrier.lost = 2
        assert edit(page, {"op": "rename", "node": nodes(page)["mark"][0], "name": "note"})["ok"]
        page.until(lambda: {"n", "note"} <= nodes(page).keys())
        assert len(nodes(page)["all"][1][2]) == 4


def test_without_an_executor_a_page_is_answered_and_goes_on_when_there_is_one(console):
    shared, console.carrier.shared = console.carrier.shared, None
    console.edits.patience = 0.2
    with console.page() as page:
        answer = page.command("tree.open", tree="naps")
        assert not answer["ok"]
        assert "no answer within 0.2 s: no executor answers" in answer["message"]
        console.edits.patience = PATIENCE
        console.carrier.shared = shared
        joined(page)
        mark, console.carrier.shared = nodes(page)["mark"][0], None
        rename = {"op": "rename", "node": mark, "name": "note"}
        page.say(
            command={"id": 77, "name": "tree.edit", "args": {"tree": "naps", "operation": rename}}
        )
        page.until(lambda: "behavior up" in page.state["document"]["naps"]["problem"])
        assert 77 not in page.answers
        console.start()
        page.until(lambda: 77 in page.answers)
        assert page.answers[77]["ok"]
        page.until(lambda: "note" in nodes(page) and not page.state["document"]["naps"]["problem"])


def test_an_executor_that_is_started_again_is_joined_again(console):
    with console.page() as page:
        joined(page)
        mark = nodes(page)["mark"][0]
        edit(page, {"op": "set", "node": mark, "attributes": {"code": "a := 2"}})
        console.start()
        assert edit(page, {"op": "rename", "node": mark, "name": "note"})["ok"]
        page.until(lambda: nodes(page).get("note", (0, [0, {}]))[1][1].get("code") == "a := 2")


def test_who_is_there_and_what_he_points_at(console):
    with console.page("ann") as ann, console.page("ann") as other:
        assert (joined(ann), joined(other)) == ("ann", "ann #2")
        mark = nodes(ann)["mark"][0]
        assert ann.command("tree.point", tree="naps", node=mark, over=None)["ok"]
        other.until(lambda: other.state["editors"].get("ann", {}).get("node") == mark)
        assert not [each for each in console.audited if each.command == "tree.point"]
        ann.command("tree.close", tree="naps")
        other.until(lambda: other.state["editors"].get("ann", {"node": None})["node"] is None)
    with console.page("cid") as page:
        page.until(lambda: page.state.get("document") == {})


def test_only_who_may_edit_does(console):
    with console.page(token=ACCESS.operate) as page:
        assert "needs the role edit" in page.command("tree.open", tree="naps")["message"]
