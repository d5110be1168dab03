# SPDX-License-Identifier: Apache-2.0
"""What robots and models propose is shown, and decided by the command that looks at it again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from behavior_console.audit import Audit
from behavior_console.channels import Channels
from behavior_console.commands import Client, Commands
from behavior_console.control import Control
from behavior_console.proposals import LONGEST_TREE, MOST_LINES, MOST_SHOWN, ProposalDesk
from behavior_console.protocol import Answer, Command, Role

ANN = Client(1, "ann", Role.EDIT)
BEN = Client(2, "ben", Role.OPERATE)
DECIDES = """
import json, sys
from pathlib import Path
folder, verb, name, *options = sys.argv[1:]
if "0bad0bad" == name:
    sys.exit("The tree fits no more")
file = Path(folder) / f"{name}.json"
row = json.loads(file.read_text())
file.write_text(json.dumps({**row, "status": verb, "decided": " ".join(options)}))
"""


class Room:
    """A folder of proposals, and pages that decide."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.channels = folder, Channels()
        command = (sys.executable, "-c", DECIDES, str(folder))
        self.desk = ProposalDesk(self.channels, folder, namespace="left", command=command)
        control = Control(lambda: 0.0, lambda: None)
        self.commands = Commands(Audit(None, lambda entry: None, lambda text: None), control)
        self.desk.offer(self.commands)

    def propose(self, name: str = "3f2a91c0", **more: Any) -> None:
        row = {
            **{"id": name, "created": f"T{name}", "author": "a model", "mission": "fetch"},
            **{"xml": "<b/>", "digest": "d1", "reason": "a cup", "status": "open"},
        }
        (self.folder / f"{name}.json").write_text(json.dumps({**row, **more}))

    def rows(self) -> list[dict[str, Any]]:
        self.desk.look()
        return self.channels.value("proposals") or []

    def give(self, command: str, client: Client = ANN, /, **args: Any) -> Answer:
        return asyncio.run(self.commands.run(client, Command(1, command, args)))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_what_waits_is_shown_newest_first_and_changes_as_lines(room: Room) -> None:
    assert room.rows() == []
    room.propose("00000001")
    room.propose("00000002", base="b", before="<a/>", trial="9 of 10 succeeded")
    room.propose("00000003", status="rejected")
    (room.folder / "audit.jsonl").write_text("{}")
    for name, text in (("1", "no json"), ("2", "[]"), ("3", '{"id": "else"}'), ("4", "[" * 9**5)):
        (room.folder / f"{name}.json").write_text(text)
    room.propose("00000005", base="b", before=7, xml=7)
    edit, new, decided = room.rows()
    assert (edit["id"], edit["edit"], edit["trial"]) == ("00000002", True, "9 of 10 succeeded")
    assert "-<a/>" in edit["text"]
    assert "+<b/>" in edit["text"]
    assert (new["text"], new["edit"], new["cut"]) == ("<b/>", False, False)
    assert (decided["status"], decided["text"]) == ("rejected", "")
    for number in range(2 * MOST_SHOWN):
        room.propose(f"{number:08x}")
    assert len(room.rows()) == MOST_SHOWN


def test_a_long_edit_keeps_no_page_waiting(room: Room) -> None:
    lines = [str(number % 104) for number in range(MOST_LINES + 1)]
    room.propose(base="b", before="\n".join(reversed(lines)), xml="\n".join(lines))
    (row,) = room.rows()
    assert row["text"] == "\n".join(lines)
    assert row["edit"]


def test_a_person_approves_what_was_shown(room: Room) -> None:
    room.propose()
    assert "not what was shown" in room.give("proposal.approve", id="3f2a91c0", digest="d0").message
    assert not room.give("proposal.approve", BEN, id="3f2a91c0", digest="d1").ok
    answer = room.give("proposal.approve", id="3f2a91c0", digest="d1")
    assert (answer.ok, answer.message) == (True, "fetch: approved")
    (row,) = room.rows()
    assert row["decided"] == "--by ann #1 --shown d1 --namespace left"
    assert "waits no more" in room.give("proposal.approve", id="3f2a91c0", digest="d1").message


def test_a_person_rejects(room: Room) -> None:
    room.propose()
    assert room.give("proposal.reject", id="3f2a91c0").message == "fetch: rejected"
    assert room.rows()[0]["decided"] == "--by ann #1"


def test_what_the_command_refuses_is_said_and_it_stays(room: Room) -> None:
    room.propose("0bad0bad")
    answer = room.give("proposal.approve", id="0bad0bad", digest="d1")
    assert (answer.ok, answer.message) == (False, "The tree fits no more")
    assert room.rows()[0]["status"] == "open"


def test_nobody_approves_here_what_cannot_be_read_here(room: Room) -> None:
    room.propose(xml="<b/>" * LONGEST_TREE)
    assert room.rows()[0]["cut"]
    answer = room.give("proposal.approve", id="3f2a91c0", digest="d1")
    assert "behavior proposals approve 3f2a91c0" in answer.message
