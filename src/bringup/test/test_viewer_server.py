# SPDX-License-Identifier: Apache-2.0
"""Who gets to the viewer's page: real connections to the real server."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("viser")

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from behavior_bringup.errors import BringupError
from behavior_bringup.viewer_controls import Commands
from behavior_bringup.viewer_page import ViewerPage
from behavior_bringup.viewer_server import MAX_MESSAGE, guarded_server
from behavior_ros.web_access import WebAccess, new_token

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (1.0, 0.0, 0.0),
    "fov": 1.0,
    "near": 0.01,
    "far": 100.0,
    "image_height": 100,
    "image_width": 100,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


@dataclass
class Served:
    """A page with one mission, and what was clicked on it."""

    access: WebAccess = field(default_factory=lambda: WebAccess(token=new_token()))
    clicked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page = ViewerPage(
            port=0,
            access=self.access,
            title="test",
            mission="stack_blocks",
            robot_description="",
            commands=Commands(
                start=lambda name, parameters: self.clicked.append(f"start {name} {parameters}"),
                pause=lambda: self.clicked.append("pause"),
                resume=lambda: self.clicked.append("resume"),
                cancel=lambda: self.clicked.append("cancel"),
                drive=lambda x, y: self.clicked.append(f"drive {x} {y}"),
            ),
        )
        self.page.set_missions({"other": [], "stack_blocks": ["blocks: text"]})

    def status(self, path: str, **headers: str) -> int:
        """Of the answer to a request."""
        url = f"http://127.0.0.1:{self.page.port}{path}"
        try:
            with urllib.request.urlopen(
                urllib.request.Request(url, headers=headers), timeout=30
            ) as answer:
                assert b"<html" in answer.read().lower()
                assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def websocket(
        self, path: str = "/", *, host: str = "", origin: str | None = None
    ) -> ClientConnection:
        """As a browser opens it."""
        address = ("127.0.0.1", self.page.port)
        return connect(
            f"ws://{host or f'localhost:{self.page.port}'}{path}",
            origin=None if origin is None else Origin(origin),
            subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
            sock=socket.create_connection(address, timeout=30),
        )

    @property
    def own(self) -> str:
        return f"http://localhost:{self.page.port}"

    @property
    def path(self) -> str:
        return f"/token={self.access.token}"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.page.close()


def send(connection: ClientConnection, **message: object) -> None:
    connection.send(msgspec.msgpack.encode(message))


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.02)


def heard(connection: ClientConnection, enough: Callable[[list[dict[str, Any]]], bool]) -> Any:
    """Messages from the server, until they are enough."""
    messages: list[dict[str, Any]] = []
    while not enough(messages):
        frame = connection.recv(timeout=60)
        assert isinstance(frame, bytes)
        packed = int.from_bytes(frame[8:16], "little")
        text = zstandard.ZstdDecompressor().decompress(frame[16 : 16 + packed])
        messages += msgspec.msgpack.decode(text)["messages"]
    return messages


def labels(messages: list[dict[str, Any]]) -> dict[str, str]:
    """The page's buttons: uuid by label."""
    return {
        message["props"]["label"]: message["uuid"]
        for message in messages
        if message["type"] == "GuiButtonMessage"
    }


def told_to_look(messages: list[dict[str, Any]]) -> bool:
    return any("You may look" in str(message) for message in messages)


def test_a_foreign_page_is_refused(served: Served) -> None:
    good = {"path": served.path, "origin": served.own}
    for wrong in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"host": "evil.example"},
        {"host": "evil.example", "origin": "http://evil.example"},
        {"host": f"evil.example:{served.page.port}"},
        {"path": "/token=wrong"},
        {"path": "/?token=wrong"},
    ):
        with pytest.raises(InvalidStatus) as refused:
            served.websocket(**{**good, **wrong})
        assert refused.value.response.status_code == 403
    served.websocket(**good).close()


def test_a_foreign_page_is_not_even_shown_the_page(served: Served) -> None:
    assert served.status("/") == 200
    assert served.status(served.path + "/") == 200
    assert served.status("/", Origin="http://evil.example") == 403
    assert served.status("/", Host="evil.example") == 403
    assert served.status("/", **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert served.status("/token=wrong/") == 403
    assert served.status("/../../_viser.py") in (400, 404)


def test_who_brings_the_token_may_act(served: Served) -> None:
    served.clicked.clear()
    with served.websocket(served.path, origin=served.own) as page:
        send(page, **CAMERA)
        messages = heard(page, lambda messages: "Cancel" in labels(messages))
        buttons = labels(messages)
        assert not told_to_look(messages)
        send(page, type="GuiUpdateMessage", uuid=buttons["Start"], updates={"value": True})
        eventually(lambda: served.clicked == ["start stack_blocks {}"])


def test_who_brings_none_may_look_and_its_clicks_count_for_nothing(served: Served) -> None:
    served.clicked.clear()
    with served.websocket(served.path) as actor, served.websocket(origin=served.own) as looker:
        send(actor, **CAMERA)
        buttons = labels(heard(actor, lambda messages: "Cancel" in labels(messages)))
        send(looker, **CAMERA)
        messages = heard(looker, told_to_look)
        assert not labels(messages)
        for uuid in buttons.values():  # however it came to know them
            send(looker, type="GuiUpdateMessage", uuid=uuid, updates={"value": True})
        send(looker, type="ShareUrlRequest")
        looker.send(b"nonsense")
        looker.send("text")
        looker.ping().wait(timeout=240)  # whatever it sent has arrived
        send(actor, type="GuiUpdateMessage", uuid=buttons["Start"], updates={"value": True})
        eventually(lambda: bool(served.clicked))
        assert served.clicked == ["start stack_blocks {}"]


def test_nobody_shares_the_page_through_the_internet(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared: list[bool] = []
    monkeypatch.setattr(
        type(served.page._server), "request_share_url", lambda self: shared.append(True)
    )
    served.clicked.clear()
    with served.websocket(served.path) as page:
        send(page, **CAMERA)
        buttons = labels(heard(page, lambda messages: "Cancel" in labels(messages)))
        send(page, type="ShareUrlRequest")
        send(page, type="GuiUpdateMessage", uuid=buttons["Start"], updates={"value": True})
        eventually(lambda: bool(served.clicked))
    assert not shared


def test_a_huge_message_ends_its_connection(served: Served) -> None:
    with served.websocket() as page:
        page.send(b"x" * (MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed):
            heard(page, lambda messages: False)


def test_an_unguarded_viser_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    class Another:
        """Makes its web server in another way."""

        def __init__(self, **_: object) -> None:
            pass

        def stop(self) -> None:
            stopped.append(True)

    stopped: list[bool] = []
    monkeypatch.setattr(viser, "ViserServer", Another)
    with pytest.raises(BringupError, match="cannot guard"):
        guarded_server(WebAccess(token=new_token()), port=0)
    assert stopped
