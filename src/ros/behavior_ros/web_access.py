# SPDX-License-Identifier: Apache-2.0
"""Who may use a web server of the suite: one rule for all of them. Pure.

A server on the loopback interface is not out of reach: every page that the operator opens runs its
scripts on this machine and may send requests to it. So a server asks `WebAccess.admit` before it
answers a request or takes a websocket:

- The ``Host`` must name this machine. A foreign name that was made to resolve to 127.0.0.1 (DNS
  rebinding) is refused.
- An ``Origin`` must be the server's own. Browsers send it with every websocket and every request
  that a script makes to another server; programs send none.
- What a browser asks for on behalf of another page (``Sec-Fetch-Site``) is refused, except that a
  link may be followed.
- Who brings the server's token may act; who brings none may look; a wrong one is refused.

The token comes as ``Authorization: Bearer TOKEN``, as ``?token=TOKEN``, or as the first part of the
path, ``/token=TOKEN/...``, which survives where a page builds addresses from its own.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""What this machine is called in the address of a page on it."""

_SEGMENT = "/token="


class Refused(Exception):
    """A request that gets no answer but this."""

    def __init__(self, status: int, reason: str) -> None:
        """Hold the HTTP status and, in one sentence, why."""
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Admission:
    """What a request that was let in may do."""

    may_act: bool
    """False: it may look, and change nothing."""
    path: str
    """The path without the token and without the query."""
    host: str
    """The server's name and port, as the request has it."""


@dataclass(frozen=True, kw_only=True)
class WebAccess:
    """The rule of one server."""

    token: str
    """Who brings it may act; see `new_token`."""
    names: frozenset[str] = LOOPBACK_NAMES
    """Host names, in lower case, under which the server may be addressed."""

    def admit(self, target: str, headers: Iterable[tuple[str, str]]) -> Admission:
        """Decide on one request.

        Args:
            target: of the request: path and query.
            headers: name and value of each, repeated ones too.

        Raises:
            Refused: it must not be answered otherwise.
        """
        fields: dict[str, list[str]] = {}
        for name, value in headers:
            fields.setdefault(name.lower(), []).append(value.strip())
        host = self._check_host(fields.get("host", []))
        _check_origin(fields, host)
        token, path = _token_and_path(target, fields)
        if token is not None and not hmac.compare_digest(token.encode(), self.token.encode()):
            raise Refused(403, "The token is not this server's: take its address anew")
        return Admission(may_act=token is not None, path=path, host=host)

    def url(self, port: int) -> str:
        """The address with the right to act."""
        return f"http://localhost:{port}{_SEGMENT}{self.token}/"

    def _check_host(self, hosts: list[str]) -> str:
        if len(hosts) != 1:
            raise Refused(400, "A request needs one Host header")
        (host,) = hosts
        name, colon, port = host.lower().rpartition(":")
        if not colon or port.endswith("]"):
            name, port = host.lower(), "80"
        if name not in self.names or not (port.isascii() and port.isdigit()):
            raise Refused(403, "The Host header names another server than this one")
        return host.lower()


def new_token() -> str:
    """A token that nobody guesses, fit for an address."""
    return secrets.token_urlsafe(32)


def write_private(file: Path, text: str) -> None:
    """Replace a file at once by one that only this user can read.

    Raises:
        OSError: it cannot be written.
    """
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    temporary.replace(file)


def _check_origin(fields: dict[str, list[str]], host: str) -> None:
    """Refuse what another page sends, or a browser on its behalf."""
    own = {f"http://{host}", f"https://{host}"}
    for origin in fields.get("origin", []):
        if origin.lower() not in own:
            raise Refused(403, "The request comes from a page of another server")
    sites = set(fields.get("sec-fetch-site", []))
    follows_link = fields.get("sec-fetch-dest") == ["document"]
    if not sites <= {"same-origin", "none"} and not follows_link:
        raise Refused(403, "The request comes from a page of another server")


def _token_and_path(target: str, fields: dict[str, list[str]]) -> tuple[str | None, str]:
    """The token that a request brings, None without one, and the path without it."""
    path, _, query = target.partition("?")
    try:
        tokens = parse_qs(query, keep_blank_values=True, max_num_fields=50).get("token", [])
    except ValueError as error:
        raise Refused(400, "The address of the request cannot be read") from error
    if path.startswith(_SEGMENT):
        token, slash, rest = path.removeprefix(_SEGMENT).partition("/")
        tokens.append(token)
        path = slash + rest or "/"
    for value in fields.get("authorization", []):
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            tokens.append(token.strip())
    if len(set(tokens)) > 1:
        raise Refused(400, "The request brings several tokens")
    return (tokens[0] if tokens else None), path
