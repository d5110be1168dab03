# SPDX-License-Identifier: Apache-2.0
"""The server with pages of our own: what they are sent, who is let in, and what is refused."""

import asyncio
import json
import time

import httpx
import pytest
from console_client import PATIENCE, FakeSource, PageClient
from websockets.exceptions import ConnectionClosed, InvalidStatus

from behavior_console.access import ConsoleAccess, addresses, kept_access
from behavior_console.app import MOST_PAGES, Pulse, application
from behavior_console.audit import Audit
from behavior_console.channels import pack
from behavior_console.commands import CommandError
from behavior_console.desk import ConsoleDesk, log_line
from behavior_console.protocol import LONGEST_MESSAGE, Answer, Role
from behavior_console.server import ConsoleServer
from behavior_console.session import MOST_COMMANDS

ACCESS = ConsoleAccess(edit="e" * 30, operate="o" * 30)


class Console:
    """A running server, and what it works with."""

    def __init__(self, folder):
        self.live = FakeSource()
        self.audited, self.done, self.warned = [], [], []
        self.audit_file = folder / "audit.jsonl"
        audit = Audit(self.audit_file, self.audited.append, self.warned.append)
        self.desk = ConsoleDesk(self.live, audit)
        self.desk.commands.offer("greet", self._greet)
        self.desk.commands.offer("stop", self._greet, controls=False)
        self.desk.commands.offer("wait", self._wait, controls=False)
        self.release = None
        self.page_folder = folder / "page"
        pulse = Pulse()
        self.live.channels.on_change = pulse.announce
        app = application(
            self.desk,
            pulse=pulse,
            page_folder=self.page_folder,
            background=self.desk.background,
        )
        self.server = ConsoleServer(app, ACCESS, port=0)
        self.port = self.server.port

    async def _greet(self, client, args):
        if args.get("fail"):
            raise CommandError("no: because")
        if args.get("break"):
            raise KeyError("elbow")
        self.done.append((client.name, args))
        return Answer(ok=True, message="done", value=args.get("what"))

    async def _wait(self, client, args):
        self.release = asyncio.get_running_loop(), asyncio.Event()
        await self.release[1].wait()
        return Answer(ok=True)

    def page(self, token=ACCESS.edit, **headers):
        return PageClient(self.port, token, **headers)

    def get(self, path, **headers):
        return httpx.get(f"http://localhost:{self.port}{path}", headers=headers, timeout=PATIENCE)


@pytest.fixture
def console(tmp_path):
    running = Console(tmp_path)
    yield running
    running.server.close()
    assert running.warned == []


def test_a_page_is_sent_what_it_shows_and_then_only_changes(console):
    channels = console.live.channels
    channels.set("mission", {"name": "stack"})
    channels.patch("status", {7: [1, 0.5, 0, 0]})
    with console.page().hello() as page:
        assert page.welcome["role"] == "edit"
        assert page.welcome["channels"]["status"] == "map"
        page.show("mission", "status")
        page.until(lambda: "status" in page.state)
        assert page.state == {"mission": {"name": "stack"}, "status": {7: [1, 0.5, 0, 0]}}
        channels.patch("status", {7: [2, 0.6, 1, 2], 8: [1, 0.6, 0, 0]})
        channels.set("joints", {"elbow": 1.0})  # not shown
        page.until(lambda: 8 in page.state["status"])
        assert page.state["status"][7] == [2, 0.6, 1, 2]
        assert "joints" not in page.state
        assert page.now == 100.0


def test_a_page_that_draws_nothing_is_sent_two_frames_and_later_the_newest(console):
    channels = console.live.channels
    with console.page().hello() as slow, console.page().hello() as quick:
        slow.sees = False
        for page in (slow, quick):
            page.show("joints")
        for number in range(8):
            channels.set("joints", {"elbow": number})
            quick.until(lambda n=number: quick.state.get("joints") == {"elbow": n})
        slow.until(lambda: slow.frames == 2)
        slow.take(0.3)
        assert slow.frames == 2
        slow.sees = True
        slow.say(seen=2)
        slow.until(lambda: slow.state["joints"] == {"elbow": 7})
        assert slow.frames == 3


def test_a_moment_of_the_past_is_shown_while_logs_go_on(console):
    channels = console.live.channels
    channels.set("mission", {"name": "now"})
    console.live.past[4.0] = {"mission": {"name": "then"}}
    with console.page().hello() as page:
        page.show("mission", "events")
        page.until(lambda: page.state.get("mission") == {"name": "now"})
        page.say(at=4.0)
        page.until(lambda: page.at == 4.0 and page.state["mission"] == {"name": "then"})
        channels.set("mission", {"name": "later"})
        channels.add("events", [{"text": "new"}])
        page.until(lambda: page.state.get("events") == [{"text": "new"}])
        assert page.state["mission"] == {"name": "then"}
        page.say(at=5.0)
        page.until(lambda: page.problems)
        assert "nothing is known of 5 s" in page.problems[0]["text"]
        page.say(at=None)
        page.until(lambda: page.at is None and page.state["mission"] == {"name": "later"})


def test_commands_are_answered_and_audited(console):
    with console.page().hello("ann") as page:
        done = page.command("greet", what=[1, "two"])
        assert (done["ok"], done["message"], done["value"]) == (True, "done", [1, "two"])
        refused = page.command("greet", fail=True)
        assert (refused["ok"], refused["message"]) == (False, "no: because")
        unknown = page.command("explode")
        assert not unknown["ok"]
        assert "choose of" in unknown["message"]
    rows = [json.loads(line) for line in console.audit_file.read_text().splitlines()]
    assert [(row["command"], row["ok"]) for row in rows] == [
        ("greet", True),
        ("greet", False),
        ("explode", False),
    ]
    assert rows[0]["who"] == "ann #1"
    assert rows[0]["role"] == "edit"
    assert console.audit_file.stat().st_mode & 0o077 == 0


def test_no_page_steers_the_terminal_of_who_reads_the_log(console):
    with console.page("").hello("\x1b[2J\nann", role="view") as page:
        page.command("greet\x9b2J\n", what="\x9b1m")
    (entry,) = console.audited
    line = log_line(entry)
    assert line.isprintable()
    assert line.startswith("\\x1b[2J\\nann #1 (view): greet\\x9b2J\\n ")


def test_a_command_that_breaks_off_is_answered_and_its_fault_is_in_the_log(console):
    with console.page().hello() as page:
        broken = page.command("greet", **{"break": True})
        assert not broken["ok"]
        assert "'greet' broke off" in broken["message"]
        assert "KeyError('elbow')" in broken["message"]
        assert page.command("greet")["ok"]
    assert [row.answer.ok for row in console.audited] == [False, True]
    (said,) = console.warned
    assert "in _greet" in said  # with its traceback
    console.warned.clear()


def test_a_long_command_holds_up_nothing(console):
    with console.page().hello() as page, console.page().hello() as other:
        page.say(command={"id": "long", "name": "wait"})
        other.until(lambda: console.release is not None or other.command("stop")["ok"])
        assert page.command("stop")["ok"]
        assert "long" not in page.answers
        loop, event = console.release
        loop.call_soon_threadsafe(event.set)
        page.until(lambda: "long" in page.answers)
        assert page.answers["long"]["ok"]


def test_a_stop_has_its_place_whatever_hangs(console):
    with console.page().hello() as page, console.page().hello() as other:
        for number in range(MOST_COMMANDS):
            page.say(command={"id": f"hangs {number}", "name": "wait"})
        page.say(command={"id": "more", "name": "greet"})
        page.until(lambda: "more" in page.answers)
        assert "too many commands" in page.answers["more"]["message"]
        assert page.command("stop")["ok"]
        for number in range(100):  # quicker than commands may come
            page.say(command={"id": f"quick {number}", "name": "greet"})
        page.until(lambda: "quick 99" in page.answers)
        assert page.command("stop")["ok"]
        assert other.command("stop")["ok"]


def test_one_page_controls_at_a_time_and_another_asks_for_it(console):
    with console.page().hello("ann") as ann, console.page(ACCESS.operate).hello("bob") as bob:
        ann.show("controller")
        assert ann.command("greet")["ok"]
        refused = bob.command("greet")
        assert not refused["ok"]
        assert "ann #" in refused["message"]
        assert bob.command("stop")["ok"]  # stopping needs no control
        assert bob.command("control.ask")["ok"]
        ann.until(lambda: (ann.state["controller"]["asks"] or {}).get("name", "")[:3] == "bob")
        assert not bob.command("control.give")["ok"]
        assert ann.command("control.give")["ok"]
        assert bob.command("greet")["ok"]
        bob.close()
        ann.until(lambda: ann.state["controller"]["holder"] is None)


def test_roles_are_those_of_tokens(console):
    for token, wanted, role in (
        (ACCESS.edit, "edit", "edit"),
        (ACCESS.edit, "view", "view"),
        (ACCESS.operate, "edit", "operate"),
        ("", "edit", "view"),
    ):
        with console.page(token).hello(role=wanted) as page:
            assert page.welcome["role"] == role
            assert page.command("greet")["ok"] is (role != "view")


@pytest.mark.parametrize(
    "headers",
    [
        {"token": "wrong"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_strangers_are_not_let_in(console, headers):
    if "Host" not in headers:  # of two, one its own, the library makes nothing
        with pytest.raises(InvalidStatus) as refused:
            console.page(**headers)
        assert refused.value.response.status_code == 403
    if "token" not in headers:
        assert console.get("/", **headers).status_code == 403
    else:
        assert console.get("/?token=wrong").status_code == 403


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (pack({"subscribe": ["tree"]}), "first message is 'hello'"),
        (b"\xc1", "no msgpack"),
        ("text", "binary"),
        (pack({"hello": {"record": "x" * 2000, "view": "record"}}), "'record'"),
        (pack({"hello": {"record": "gone.mcap", "view": "record"}}), "no record 'gone.mcap'"),
    ],
)
def test_a_page_that_says_nonsense_is_told_so_and_cut_off(console, said, problem):
    with console.page() as page:
        page.socket.send(said)
        with pytest.raises(ConnectionClosed):
            page.until(lambda: False)
        assert problem in page.problems[0]["text"]


def test_long_messages_are_not_read(console):
    with console.page().hello() as page:
        page.socket.send(b"\x00" * (LONGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed):
            page.until(lambda: False)


def test_a_page_that_says_too_much_is_cut_off(console):
    with console.page().hello() as page:
        with pytest.raises(ConnectionClosed):
            shout(page)
        assert not console.page().hello().problems


def shout(page):
    for _ in range(100_000):
        page.say(seen=0)
    page.until(lambda: False)


@pytest.mark.slow
def test_pages_are_limited_in_number(console):
    pages = [console.page().hello() for _ in range(MOST_PAGES)]
    with console.page() as late, pytest.raises(ConnectionClosed, match="open already"):
        late.until(lambda: False)
    pages.pop().close()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with console.page().hello():
                break
        except ConnectionClosed:
            continue
    else:
        pytest.fail("there is room for no page although one has left")
    for page in pages:
        page.close()


def test_the_page_is_served_with_what_keeps_scripts_out(console):
    missing = console.get("/")
    assert missing.status_code == 503
    assert "make page" in missing.text
    assets = console.page_folder / "assets"
    assets.mkdir(parents=True)
    (console.page_folder / "index.html").write_text("<!doctype html><title>page</title>")
    (assets / "main-1234.js").write_text("let a = 1;")
    index = console.get("/")
    assert index.status_code == 200
    assert "script-src" not in index.headers["content-security-policy"]
    assert "default-src 'self'" in index.headers["content-security-policy"]
    assert "unsafe-eval" not in index.headers["content-security-policy"]
    asset = console.get("/assets/main-1234.js")
    assert "immutable" in asset.headers["cache-control"]
    assert asset.headers["x-content-type-options"] == "nosniff"
    for path in ("/assets/../../audit.jsonl", "/..%2faudit.jsonl", "/assets/%2e%2e/index.htm"):
        assert console.get(path).status_code == 404


def test_addresses_are_kept_for_pages_that_are_open(tmp_path):
    file = tmp_path / "console.url"
    first = kept_access(file)
    first.write(file, 8090)
    assert kept_access(file) == first
    assert addresses(file) == [first.url(8090), first.url(8090, Role.OPERATE)]
    file.chmod(0o644)  # others could have read it
    assert kept_access(file) != first
