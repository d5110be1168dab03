# SPDX-License-Identifier: Apache-2.0
"""The rule by which every web server of the suite lets requests in."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from behavior_ros.web_access import Refused, WebAccess, new_token, write_private

ACCESS = WebAccess(token="s3cret")
HOST = ("Host", "localhost:8080")


def refusal(target: str, *headers: tuple[str, str]) -> int:
    with pytest.raises(Refused) as refused:
        ACCESS.admit(target, headers)
    assert str(refused.value)
    return refused.value.status


@pytest.mark.parametrize("host", ["localhost:8080", "LOCALHOST:9", "127.0.0.1:8080", "[::1]:80"])
def test_this_machine_is_let_in(host: str) -> None:
    assert ACCESS.admit("/", [("host", host)]).host == host.lower()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost:8080:8080",
        "localhost:",
        "localhost:x",
        "user@localhost:8080",
        "::1",
        "0.0.0.0:8080",
        "",
    ],
)
def test_a_foreign_host_is_refused_also_with_the_token(host: str) -> None:
    assert refusal("/?token=s3cret", ("Host", host)) == 403


def test_a_request_has_one_host() -> None:
    assert refusal("/") == 400
    assert refusal("/", HOST, HOST) == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost",
        "http://localhost:3000",
        "http://127.0.0.1:8080",
        "http://localhost:8080.evil.example",
        "file://",
    ],
)
def test_a_page_of_another_server_is_refused_also_with_the_token(origin: str) -> None:
    assert refusal("/token=s3cret/", HOST, ("Origin", origin)) == 403
    own = ("Origin", "http://localhost:8080")
    assert refusal("/token=s3cret/", HOST, own, ("Origin", origin)) == 403


@pytest.mark.parametrize("origin", ["http://localhost:8080", "https://LOCALHOST:8080"])
def test_the_servers_own_page_is_let_in(origin: str) -> None:
    assert not ACCESS.admit("/", [HOST, ("Origin", origin)]).may_act


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_asks_for_another_page_is_refused(site: str) -> None:
    foreign = ("Sec-Fetch-Site", site)
    for destination in ("image", "script", "iframe", "empty"):
        assert refusal("/", HOST, foreign, ("Sec-Fetch-Dest", destination)) == 403
    assert refusal("/", HOST, foreign) == 403
    assert ACCESS.admit("/", [HOST, foreign, ("Sec-Fetch-Dest", "document")])


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_page_itself_and_the_address_bar_are_let_in(site: str) -> None:
    assert ACCESS.admit("/", [HOST, ("Sec-Fetch-Site", site)])


@pytest.mark.parametrize(
    ("target", "headers", "path"),
    [
        ("/?token=s3cret", (), "/"),
        ("/a/b?x=1&token=s3cret", (), "/a/b"),
        ("/token=s3cret", (), "/"),
        ("/token=s3cret/", (), "/"),
        ("/token=s3cret/a/b?x=1", (), "/a/b"),
        ("/a", (("Authorization", "Bearer s3cret"),), "/a"),
        ("/token=s3cret/a?token=s3cret", (), "/a"),
    ],
)
def test_the_token_gives_the_right_to_act(
    target: str, headers: tuple[tuple[str, str], ...], path: str
) -> None:
    admission = ACCESS.admit(target, [HOST, *headers])
    assert admission.may_act
    assert admission.path == path


@pytest.mark.parametrize("target", ["/", "/a?x=1", "/a/token=s3cret", "//evil/token=s3cret"])
def test_without_the_token_one_may_look(target: str) -> None:
    admission = ACCESS.admit(target, [HOST])
    assert not admission.may_act
    assert admission.path == target.partition("?")[0]


@pytest.mark.parametrize(
    "target",
    ["/?token=", "/?token=s3cre", "/?token=s3cret1", "/token=/", "/token=x", "/?token=%ff"],
)
def test_a_wrong_token_is_refused(target: str) -> None:
    assert refusal(target, HOST) == 403


def test_two_tokens_are_refused() -> None:
    assert refusal("/token=s3cret/?token=x", HOST) == 400
    assert refusal("/?" + "&".join(["token=x"] * 60), HOST) == 400


def test_the_address_holds_the_token() -> None:
    access = WebAccess(token=new_token())
    url = access.url(8080)
    target = url.removeprefix("http://localhost:8080")
    assert access.admit(target, [HOST]).may_act
    assert new_token() != new_token()


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    file = tmp_path / "address"
    file.touch(mode=0o644)
    write_private(file, "secret")
    assert file.read_text(encoding="utf-8") == "secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]
