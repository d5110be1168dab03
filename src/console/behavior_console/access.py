# SPDX-License-Identifier: Apache-2.0
"""Who may do what on the page: two tokens, made anew by each user's console and kept for its pages.

Who brings none may look, as at the suite's other pages on this machine (`behavior_ros.web_access`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from behavior_console.protocol import Role
from behavior_ros.web_access import Refused, WebAccess, new_token, write_private

ADDRESS_FILE = "console.url"
"""In the runtime folder: the address for each role, one a line, the strongest first."""
_ROLES = (Role.EDIT, Role.OPERATE)
_SHORTEST_TOKEN = 20


@dataclass(frozen=True)
class Admitted:
    """A request that was let in."""

    role: Role
    """The most that it may do."""
    host: str
    """The server's name and port, as the request has it."""


@dataclass(frozen=True)
class ConsoleAccess:
    """The rule of one console."""

    edit: str
    """Token of who may do everything."""
    operate: str
    """Token of who may run missions, but not edit trees."""

    def admit(self, target: str, headers: Iterable[tuple[str, str]]) -> Admitted:
        """Decide on one request.

        Raises:
            Refused: it must not be answered otherwise.
        """
        fields = list(headers)
        refused: Refused | None = None
        for role, token in zip(_ROLES, (self.edit, self.operate), strict=True):
            try:
                admission = WebAccess(token=token).admit(target, fields)
            except Refused as error:
                refused = error
                continue
            return Admitted(role if admission.may_act else Role.VIEW, admission.host)
        assert refused is not None
        raise refused

    def url(self, port: int, role: Role = Role.EDIT) -> str:
        """The address of the page with the rights of a role."""
        tokens = {Role.EDIT: f"?token={self.edit}", Role.OPERATE: f"?token={self.operate}"}
        return f"http://localhost:{port}/{tokens.get(role, '')}"

    def write(self, file: Path, port: int) -> None:
        """Leave the addresses for this user alone.

        Raises:
            OSError: the file cannot be written.
        """
        write_private(file, "".join(f"{self.url(port, role)}\n" for role in _ROLES))


def kept_access(file: Path) -> ConsoleAccess:
    """The access of an earlier console, so that open pages find it again; else a new one.

    Only what this user alone could have written and read is believed.
    """
    tokens = [address.rpartition("?token=")[2] for address in addresses(file)]
    if len(tokens) == len(_ROLES) and all(len(each) >= _SHORTEST_TOKEN for each in tokens):
        return ConsoleAccess(*tokens)
    return ConsoleAccess(new_token(), new_token())


def addresses(file: Path) -> list[str]:
    """The addresses in a private file, the strongest first; none while there is no console."""
    try:
        status = file.lstat()
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            return []
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []
