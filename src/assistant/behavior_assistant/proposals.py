# SPDX-License-Identifier: Apache-2.0
"""What models have proposed, until a person has decided: a JSON file each. No ROS."""

from __future__ import annotations

import difflib
import fcntl
import getpass
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from behavior_assistant.audit import Audit, now
from behavior_assistant.checked_trees import CheckedTree, digest
from behavior_bringup.errors import BringupError, UsageError
from behavior_tree.shown_text import visible
from behavior_tree.xml.files import replace_file

MOST_OPEN = 100
"""Proposals that wait for a decision."""
_MOST_BYTES = 512 * 1024

Status = Literal["open", "approved", "rejected"]


class Proposal(BaseModel):
    """A tree that somebody wants to be run, or to be in a mission's place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    created: str
    author: str
    """Program that proposed it."""
    mission: str
    xml: str
    digest: str
    """Of the text."""
    reason: str
    """What it is for, in the words of whoever proposed it."""
    base: str = ""
    """Digest of the mission's file that it replaces; empty: it is a new mission."""
    before: str = ""
    """Text of that file."""
    trial: str = ""
    """How it did in simulation, in a sentence; empty: it was not simulated."""
    status: Status = "open"
    decided: str = ""
    outcome: str = ""
    """What became of it, in a sentence."""

    @property
    def is_edit(self) -> bool:
        """Whether it changes a mission that there is."""
        return bool(self.base)

    def difference(self) -> str:
        """What it changes, as lines of a diff."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.xml.splitlines(), "now", "proposed", lineterm=""
        )
        return "\n".join(lines)

    def line(self) -> str:
        """It in one line."""
        what = f"edit of {self.mission}" if self.is_edit else f"mission {self.mission}"
        return f"{self.id}  {self.status:8}  {self.created}  {what}: {visible(self.reason, 100)}"


class Proposals:
    """The proposals in a folder of this user."""

    def __init__(
        self, folder: Path, audit: Audit, clock: Callable[[], str] = now, user: str = ""
    ) -> None:
        """Use a folder, which is made with the first proposal.

        Args:
            folder: of them; `missions` in it holds the trees that were approved.
            audit: is told of each proposal and decision.
            clock: tells the time.
            user: who decides; empty: whoever runs this program.
        """
        self.folder = folder
        self.missions = folder / "missions"
        """Where approved trees lie, for `behavior up missions:=FOLDER`."""
        self._audit, self._clock, self._user = audit, clock, user

    def add(
        self,
        *,
        author: str,
        mission: str,
        tree: CheckedTree,
        reason: str,
        before: str = "",
        trial: str = "",
    ) -> Proposal:
        """Keep a proposal.

        Args:
            author: program that proposes.
            mission: name of it.
            tree: that was found to be good.
            reason: in words.
            before: text of the mission that it shall replace; empty: it is new.
            trial: how it did in simulation.

        Raises:
            BringupError: too many wait, or it cannot be written.
        """
        assert not tree.problems
        if sum(each.status == "open" for each in self.all()) >= MOST_OPEN:
            raise BringupError(
                f"{MOST_OPEN} proposals wait: approve or reject some, 'behavior proposals list'"
                " names them"
            )
        proposal = Proposal(
            id=secrets.token_hex(4),
            created=self._clock(),
            author=visible(author, 100),
            mission=mission,
            xml=tree.xml,
            digest=tree.digest,
            reason=visible(reason, 2000, lines=True),
            base=digest(before) if before else "",
            before=before,
            trial=trial,
        )
        self._record(
            "proposed", id=proposal.id, author=author, mission=mission, digest=proposal.digest
        )
        self._write(proposal)
        return proposal

    def all(self) -> list[Proposal]:
        """All proposals, the oldest first.

        Raises:
            BringupError: one cannot be read.
        """
        files = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return sorted((self._read(file) for file in files), key=lambda p: (p.created, p.id))

    def find(self, name: str) -> Proposal:
        """The proposal of an identifier, or of the only one that begins so.

        Raises:
            UsageError: there is none, or there are several.
        """
        found = [each for each in self.all() if name and each.id.startswith(name)]
        if len(found) != 1:
            what = "several proposals begin" if found else "no proposal begins"
            raise UsageError(f"{what} with '{visible(name)}': 'behavior proposals list' names them")
        return found[0]

    def decide(self, proposal: Proposal, status: Status, outcome: str = "") -> Proposal:
        """Note what a person has decided, once.

        Raises:
            BringupError: somebody else has decided meanwhile, or it cannot be written.
        """
        with self._alone():
            kept = self.find(proposal.id)
            self.require_open(kept)
            if status == "approved":
                self.require_unchanged(kept)
            user = self._user or getpass.getuser()
            decided = proposal.model_copy(
                update={
                    "status": status,
                    "decided": f"{self._clock()} by {user}",
                    "outcome": outcome,
                }
            )
            self._record(status, id=proposal.id, mission=proposal.mission, by=user, why=outcome)
            self._write(decided)
        return decided

    def note(self, proposal: Proposal, outcome: str) -> Proposal:
        """Note what became of a proposal that was approved.

        Raises:
            BringupError: it cannot be written.
        """
        noted = proposal.model_copy(update={"outcome": outcome})
        self._record("ended", id=proposal.id, mission=proposal.mission, outcome=outcome)
        self._write(noted)
        return noted

    def made_missions_folder(self) -> Path:
        """The folder of approved trees, which is there when this returns.

        Raises:
            BringupError: it cannot be made.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.missions.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise BringupError(f"{self.missions} cannot be made: {error.strerror}") from error
        return self.missions

    def require_open(self, proposal: Proposal) -> None:
        """Refuse what has been decided.

        Raises:
            BringupError: it is not open any more.
        """
        if proposal.status != "open":
            raise BringupError(
                f"Proposal {proposal.id} was {proposal.status} before, {proposal.decided}:"
                " it must be proposed anew"
            )

    def require_unchanged(self, proposal: Proposal) -> None:
        """Refuse what was changed behind our back.

        Raises:
            BringupError: its text is another.
        """
        if digest(proposal.xml) != proposal.digest:
            raise BringupError(f"The file of proposal {proposal.id} was changed: reject it")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two people decide one after the other."""
        handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _record(self, what: str, **values: str) -> None:
        try:
            self._audit.record(what, **values)
        except OSError as error:
            raise BringupError(
                f"Nothing is done, since {self._audit.file} cannot be written: {error.strerror}"
            ) from error

    def _write(self, proposal: Proposal) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self.folder / f"{proposal.id}.json"
            replace_file(file, proposal.model_dump_json(indent=1).encode())
            file.chmod(0o600)
        except OSError as error:
            raise BringupError(
                f"The proposal cannot be written to {self.folder}: {error.strerror}"
            ) from error

    def _read(self, file: Path) -> Proposal:
        try:
            with file.open("rb") as stream:
                return Proposal.model_validate_json(stream.read(_MOST_BYTES))
        except (OSError, ValidationError) as error:
            raise BringupError(f"{file} holds no proposal: remove it") from error
