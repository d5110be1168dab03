# SPDX-License-Identifier: Apache-2.0
"""A person decides on a proposal, and only then something moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from behavior_assistant.checked_trees import TreeChecker, digest, in_one_line, name_mistake
from behavior_assistant.proposals import Proposal, Proposals
from behavior_bringup.errors import BringupError
from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.missions.mission import MissionError
from behavior_tree.xml.files import replace_file


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What an approval needs, so that a test can do without a robot."""

    proposals: Proposals
    checker: TreeChecker
    catalogue: MissionCatalogue
    missions: Path | None
    """Folder from which the running stack reads missions; None: it reads none."""
    confirm: Callable[[Proposal, Path], bool]
    """Shows the proposal, with the file that is written, and asks a person."""
    run: Callable[[str], tuple[bool, str]]
    """Runs a mission for real; whether it succeeded, and a sentence."""


def approve(name: str, approval: Approval) -> tuple[bool, str]:
    """Have a person decide on a proposal; a new mission is run then.

    Args:
        name: identifier of the proposal.
        approval: what is needed.

    Returns:
        Whether all went well, and what became of it, in a sentence.

    Raises:
        BringupError: it cannot be approved now, and stays open; or its file cannot be written.
    """
    proposals = approval.proposals
    proposal = proposals.find(name)
    proposals.require_open(proposal)
    proposals.require_unchanged(proposal)
    file = _target(proposal, approval)
    if not approval.confirm(proposal, file):
        return True, f"proposal {proposal.id} stays open, nothing has changed"
    file = _target(proposal, approval)  # a person takes minutes, in which others change things
    # Decided first, so that a proposal never runs twice, whatever happens next.
    approved = proposals.decide(proposal, "approved")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, proposal.xml.encode())
    except OSError as error:
        words = f"{file} cannot be written: {error.strerror}"
        proposals.note(approved, f"nothing has changed, since {words}")
        raise BringupError(f"{words}: it must be proposed anew") from error
    if proposal.is_edit:
        words = f"{proposal.mission} is changed from its next start on, by {file}"
        proposals.note(approved, words)
        return True, words
    try:
        done, words = approval.run(proposal.mission)
    except BaseException as error:
        proposals.note(approved, f"it did not run to its end: {str(error) or type(error).__name__}")
        raise
    proposals.note(approved, words)
    return done, words


def _target(proposal: Proposal, approval: Approval) -> Path:
    """The file to write; raises BringupError where the proposal fits no more."""
    if approval.missions is None:
        raise BringupError(
            "No stack that reads missions of yours is up: start it by"
            " 'behavior up missions:=$(behavior proposals folder)'"
        )
    tree = approval.checker.check(proposal.xml)
    if tree.problems:
        raise BringupError(f"The tree fits no more: {in_one_line(tree.problems)}")
    if proposal.is_edit:
        _require_same(proposal, approval.catalogue)
    elif mistake := name_mistake(proposal.mission, approval.catalogue.names()):
        raise BringupError(mistake)
    return approval.missions / f"{proposal.mission.rpartition('/')[2]}.xml"


def _require_same(proposal: Proposal, catalogue: MissionCatalogue) -> None:
    try:
        now = catalogue.find(proposal.mission).path.read_text(encoding="utf-8")
    except (MissionError, OSError, UnicodeDecodeError) as error:
        raise BringupError(f"The mission cannot be read any more: {error}") from error
    if digest(now) != proposal.base:
        raise BringupError(
            f"The mission {proposal.mission} has changed since proposal {proposal.id} was made:"
            " it must be proposed anew"
        )
