# SPDX-License-Identifier: Apache-2.0
"""What is proposed waits for a person, who decides once."""

from __future__ import annotations

import json
import stat

import pytest
from assistant_kit import PICK, checker, tree

from behavior_assistant import proposals as module
from behavior_assistant.approving import Approval, approve
from behavior_assistant.audit import LONGEST_VALUE, Audit
from behavior_assistant.proposals import Proposals
from behavior_bringup.errors import BringupError, UsageError
from behavior_executor.missions.catalogue import MissionCatalogue


class Room:
    """Proposals, a folder of missions that the stack reads, and a person who answers."""

    def __init__(self, folder):
        self.audit = Audit(folder / "p" / "audit.jsonl", clock=lambda: "T")
        self.proposals = Proposals(folder / "p", self.audit, clock=lambda: "T", user="ann")
        self.missions = folder / "missions"
        self.missions.mkdir()
        self.says_yes, self.asked, self.ran = True, [], []
        self.result = (True, "it stands")
        self.meanwhile = lambda: None

    def propose(self, mission="pick_cup", text=PICK, before=""):
        return self.proposals.add(
            author="test",
            mission=mission,
            tree=checker().check(text),
            reason="a\x1bcup",
            before=before,
        )

    def approve(self, proposal, missions=...):
        def confirm(proposal, file):
            self.asked.append((proposal.id, file))
            self.meanwhile()
            return self.says_yes

        def run(mission):
            self.ran.append((mission, (self.missions / f"{mission}.xml").read_text()))
            if isinstance(self.result, BaseException):
                raise self.result
            return self.result

        approval = Approval(
            proposals=self.proposals,
            checker=checker(),
            catalogue=MissionCatalogue([self.missions]),
            missions=self.missions if missions is ... else missions,
            confirm=confirm,
            run=run,
        )
        return approve(proposal.id, approval)

    def lines(self):
        return [json.loads(line) for line in self.audit.file.read_text().splitlines()]


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


def test_a_proposal_is_kept_privately_and_noted(room):
    proposal = room.propose()
    (kept,) = room.proposals.all()
    assert kept == proposal == room.proposals.find(proposal.id[:3])
    assert (kept.status, kept.reason) == ("open", "a\\x1bcup")
    for file in (room.proposals.folder / f"{proposal.id}.json", room.audit.file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [line["what"] for line in room.lines()] == ["proposed"]


def test_nothing_is_written_or_run_without_a_yes(room):
    proposal = room.propose()
    room.says_yes = False
    done, words = room.approve(proposal)
    assert done
    assert "stays open" in words
    assert (room.ran, list(room.missions.iterdir())) == ([], [])
    assert room.proposals.find(proposal.id).status == "open"


def test_an_approved_mission_is_written_run_and_noted(room):
    proposal = room.propose()
    assert room.approve(proposal) == (True, "it stands")
    assert room.ran == [("pick_cup", PICK)]
    kept = room.proposals.find(proposal.id)
    assert (kept.status, kept.decided, kept.outcome) == ("approved", "T by ann", "it stands")
    assert [line["what"] for line in room.lines()] == ["proposed", "approved", "ended"]


def test_nothing_runs_twice(room):
    proposal = room.propose()
    room.result = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        room.approve(proposal)
    with pytest.raises(BringupError, match="was approved before"):
        room.approve(proposal)
    assert len(room.ran) == 1
    assert "KeyboardInterrupt" in room.proposals.find(proposal.id).outcome


def test_two_people_do_not_both_decide(room):
    proposal = room.propose()
    room.proposals.decide(proposal, "rejected")
    with pytest.raises(BringupError, match="was rejected before"):
        room.proposals.decide(proposal, "approved")


def test_an_edit_takes_the_place_of_the_mission_and_does_not_run(room):
    before = tree("<AlwaysSuccess/>")
    (room.missions / "pick_cup.xml").write_text(before)
    proposal = room.propose(before=before)
    assert "+<root" in proposal.difference()
    done, words = room.approve(proposal)
    assert done
    assert "from its next start" in words
    assert room.ran == []
    assert (room.missions / "pick_cup.xml").read_text() == PICK


def test_an_edit_of_what_has_changed_is_refused(room):
    (room.missions / "pick_cup.xml").write_text(tree("<AlwaysFailure/>"))
    proposal = room.propose(before=tree("<AlwaysSuccess/>"))
    with pytest.raises(BringupError, match="has changed since"):
        room.approve(proposal)
    assert (room.asked, room.proposals.find(proposal.id).status) == ([], "open")


def test_what_others_change_while_a_person_reads_is_not_overwritten(room):
    before, others = tree("<AlwaysSuccess/>"), tree("<AlwaysFailure/>")
    file = room.missions / "pick_cup.xml"
    file.write_text(before)
    edit = room.propose(before=before)
    room.meanwhile = lambda: file.write_text(others)
    with pytest.raises(BringupError, match="has changed since"):
        room.approve(edit)
    file.unlink()
    with pytest.raises(BringupError, match="already"):
        room.approve(room.propose())
    assert file.read_text() == others
    assert {each.status for each in room.proposals.all()} == {"open"}
    assert room.ran == []


def test_a_mission_that_cannot_be_written_is_noted(room):
    proposal = room.propose()
    (room.missions / "pick_cup.xml").mkdir()
    with pytest.raises(BringupError, match=r"cannot be written: .*: it must be proposed anew"):
        room.approve(proposal)
    assert "nothing has changed, since" in room.proposals.find(proposal.id).outcome
    assert room.ran == []


def test_a_new_mission_overwrites_none(room):
    proposal = room.propose()
    (room.missions / "pick_cup.xml").write_text(PICK)
    with pytest.raises(BringupError, match="already"):
        room.approve(proposal)
    assert room.asked == []


def test_without_a_folder_of_missions_the_command_is_named(room):
    with pytest.raises(BringupError, match="behavior up missions:="):
        room.approve(room.propose(), missions=None)


def test_a_proposal_that_was_changed_on_disk_is_refused(room):
    proposal = room.propose()
    file = room.proposals.folder / f"{proposal.id}.json"
    file.write_text(file.read_text().replace("cup", "mug"))
    with pytest.raises(BringupError, match="was changed"):
        room.approve(proposal)
    room.proposals.decide(room.proposals.find(proposal.id), "rejected")
    file.write_text("{")
    with pytest.raises(BringupError, match="holds no proposal"):
        room.proposals.all()


def test_a_tree_that_fits_no_more_is_refused(room):
    proposal = room.propose()
    fits_no_more = proposal.model_copy(
        update={"xml": tree("<Gone/>"), "digest": module.digest(tree("<Gone/>"))}
    )
    room.proposals._write(fits_no_more)
    with pytest.raises(BringupError, match=r"fits no more: .*Gone"):
        room.approve(fits_no_more)


def test_unknown_proposals_and_too_many_are_told(room, monkeypatch):
    with pytest.raises(UsageError, match="no proposal begins with 'x'"):
        room.proposals.find("x")
    with pytest.raises(UsageError, match="no proposal"):
        room.proposals.find("")
    monkeypatch.setattr(module, "MOST_OPEN", 2)
    room.propose()
    room.proposals.decide(room.propose(), "rejected")
    room.propose()
    with pytest.raises(BringupError, match="2 proposals wait"):
        room.propose()


def test_long_values_are_shortened_in_the_audit(room):
    room.audit.record("called", arguments={"xml": "x" * 10**6, "list": list(range(1000))})
    (line,) = room.lines()
    assert len(line["arguments"]["xml"]) <= LONGEST_VALUE
    assert len(line["arguments"]["list"]) == 50


def test_what_cannot_be_noted_is_not_done(room):
    room.audit.file.parent.mkdir()
    room.audit.file.mkdir()
    with pytest.raises(BringupError, match="Nothing is done"):
        room.propose()
    assert room.proposals.all() == []
