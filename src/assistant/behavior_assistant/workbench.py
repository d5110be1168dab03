# SPDX-License-Identifier: Apache-2.0
"""What a program from outside may look at and propose: trees, missions, the scene. Nothing moves.

These are the tools of the MCP server, without the protocol. Each returns values of JSON's types, in
bounded size.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from behavior_assistant.checked_trees import (
    MOST_BYTES,
    CheckedTree,
    TreeChecker,
    in_one_line,
    name_mistake,
)
from behavior_assistant.episodes import Episode, summary
from behavior_assistant.node_lines import node_row
from behavior_assistant.proposals import Proposal, Proposals
from behavior_bringup.errors import BringupError, UsageError
from behavior_executor.missions.catalogue import MissionCatalogue, MissionEntry
from behavior_executor.missions.mission import MissionError

MOST_ROWS = 100
"""Of any list."""
R = TypeVar("R")
Simulate = Callable[[CheckedTree, int], list[Episode]]
Preview = Callable[[str, Mapping[str, str]], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """The tools, on what they need."""

    checker: Callable[[], TreeChecker]
    """Of the stack as it is now."""
    catalogue: Callable[[], MissionCatalogue]
    """Likewise."""
    scene: Callable[[], Mapping[str, Mapping[str, Any]]]
    """Objects of the running stack's scene; raises BringupError."""
    simulate: Simulate
    """Runs a tree in so many simulated episodes; raises BringupError."""
    preview: Preview
    """Runs a mission in a copy of the running stack's world; raises BringupError."""
    proposals: Proposals
    may_propose: bool = False
    busy: threading.Lock = field(default_factory=threading.Lock)
    """Held while something is simulated."""

    def list_nodes(self, search: str) -> dict[str, Any]:
        """The node types whose name or description holds a text."""
        found = [
            each
            for each in self.checker().manifests().values()
            if search.lower() in f"{each.registration_id} {each.description}".lower()
        ]
        return {"nodes": [node_row(each) for each in found[:MOST_ROWS]], "found": len(found)}

    def list_missions(self) -> dict[str, Any]:
        """The missions that there are, with their parameters."""
        entries = self.catalogue().entries()
        return {"missions": [_mission_row(e) for e in entries[:MOST_ROWS]], "found": len(entries)}

    def show_mission(self, name: str) -> dict[str, Any]:
        """A mission with the text of its file."""
        entry = self._entry(name)
        return {**_mission_row(entry), "xml": _text(entry)}

    def read_scene(self) -> dict[str, Any]:
        """The objects of the scene."""
        objects = self.scene()
        return {"objects": dict(list(objects.items())[:MOST_ROWS]), "found": len(objects)}

    def validate_tree(self, xml: str) -> dict[str, Any]:
        """Whether a tree holds together, and what is wrong with it."""
        tree = self.checker().check(xml)
        return {"valid": not tree.problems, "problems": list(tree.problems)}

    def simulate_tree(self, xml: str, episodes: int) -> dict[str, Any]:
        """How a tree does in simulated episodes."""
        tree = self._good(xml)
        found = self._alone(lambda: self.simulate(tree, episodes))
        rows = [
            {"seed": e.seed, "success": e.success, "reason": e.reason, "seconds": e.seconds}
            for e in found
        ]
        return {"summary": summary(found), "episodes": rows}

    def preview_mission(self, name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """How a mission would go now, in a copy of the world."""
        self._entry(name)
        return self._alone(lambda: self.preview(name, parameters))

    def list_proposals(self) -> dict[str, Any]:
        """What was proposed, and what became of it."""
        rows = [
            {"id": p.id, "mission": p.mission, "status": p.status, "outcome": p.outcome}
            for p in self.proposals.all()[-MOST_ROWS:]
        ]
        return {"proposals": rows}

    def propose_mission(self, name: str, xml: str, reason: str, author: str) -> dict[str, Any]:
        """Keep a new mission for a person to decide on."""
        if mistake := name_mistake(name, self.catalogue().names()):
            raise UsageError(mistake)
        return self._kept(name, xml, reason, author, before="")

    def propose_edit(self, name: str, xml: str, reason: str, author: str) -> dict[str, Any]:
        """Keep another text of a mission for a person to decide on."""
        return self._kept(name, xml, reason, author, before=_text(self._entry(name)))

    def _kept(self, name: str, xml: str, reason: str, author: str, before: str) -> dict[str, Any]:
        if not self.may_propose:
            raise BringupError("Proposals are not allowed: start it with --allow-proposals")
        tree = self._good(xml)
        proposal: Proposal = self.proposals.add(
            author=author, mission=name, tree=tree, reason=reason, before=before
        )
        return {
            "id": proposal.id,
            "status": proposal.status,
            "next": f"a person decides: behavior proposals approve {proposal.id}",
        }

    def _good(self, xml: str) -> CheckedTree:
        tree = self.checker().check(xml)
        if tree.problems:
            raise UsageError(f"the tree has faults: {in_one_line(tree.problems)}")
        return tree

    def _alone(self, run: Callable[[], R]) -> R:
        if not self.busy.acquire(blocking=False):
            raise BringupError("Another simulation runs: ask again when it has ended")
        try:
            return run()
        finally:
            self.busy.release()

    def _entry(self, name: str) -> MissionEntry:
        try:
            return self.catalogue().find(name)
        except MissionError as error:
            raise UsageError(str(error)) from error


def _mission_row(entry: MissionEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "about": entry.description,
        "parameters": [
            {"name": p.name, "type": p.type, "default": p.default, "about": p.description}
            for p in entry.parameters
        ],
    }


def _text(entry: MissionEntry) -> str:
    try:
        with entry.path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BringupError(f"The file of '{entry.name}' is larger than {MOST_BYTES} bytes")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BringupError(f"The file of '{entry.name}' cannot be read: {error}") from error
