# SPDX-License-Identifier: Apache-2.0
"""New missions: tree files in the folder where the executor looks for the user's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.protocol import Answer, Role
from behavior_executor.missions.catalogue import EVERYTHING, catalogue_of
from behavior_packages import packages

FIRST_STEP = "first step"
"""Name of the node that stands in a new mission, since a list must not be empty."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<!-- {about} -->
<root BTCPP_format="4" main_tree_to_execute="{name}">
{includes}
  <BehaviorTree ID="{name}">
    <Sequence name="mission">
      <AlwaysSuccess name="{first}"/>
    </Sequence>
  </BehaviorTree>
</root>
"""

Part = tuple[str, Path]
"""A package, and a file of it by its path in the package's share."""


def parts_for(world: str) -> list[Part]:
    """Files whose trees new missions may use: what missions include that are made for a world.

    Args:
        world: name of it; for one that no mission names there are none.
    """
    found: dict[Part, None] = {}
    for entry in catalogue_of([EVERYTHING]).entries():
        if world and world in entry.worlds:
            found |= dict.fromkeys(_included(entry.path))
    return list(found)


def _included(mission: Path) -> Iterator[Part]:
    for include in ElementTree.parse(mission).getroot().iterfind("include"):
        # Not resolved: an installed file may be a link out of its package.
        file = Path(os.path.normpath(mission.parent / include.get("path", "")))
        for package, folder in packages().folders("trees"):
            if "ros_pkg" not in include.attrib and file.is_relative_to(folder.parent):
                yield package, file.relative_to(folder.parent)


class NewMissions:
    """Makes files of new missions; never changes one that is there.

    Args:
        folder: of the user's missions, where the executor looks for them; None: there is none.
        channels: ``missions`` tells which names are taken.
        parts: files whose trees a new mission may use.
    """

    def __init__(
        self,
        folder: Callable[[], Awaitable[Path | None]],
        channels: Channels,
        parts: Callable[[], list[Part]],
    ) -> None:
        self._folder, self._channels, self._parts = folder, channels, parts

    def offer(self, commands: Commands) -> None:
        """Offer ``tree.new {name, about}``; the value has the name of the mission."""
        commands.offer("tree.new", self._new, role=Role.EDIT, controls=False)

    async def _new(self, _: Client, args: Mapping[str, Any]) -> Answer:
        name, about = args.get("name"), args.get("about", "")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise CommandError(
                "a mission is called by letters, digits and _, at most 64, with a letter first"
            )
        if not isinstance(about, str) or len(about) > 500:
            raise CommandError("'about' is a text of at most 500 characters")
        folder = await self._folder()
        if folder is None:
            raise CommandError(
                "this stack has no folder for missions of your own: bring it up by 'behavior up',"
                " or give it one by missions:=FOLDER"
            )
        path = await asyncio.to_thread(self._write, folder, name, about)
        return Answer(ok=True, message=f"{path} is there", value={"tree": name})

    def _write(self, folder: Path, name: str, about: str) -> Path:
        offered = self._channels.value("missions") or []
        if any(each.get("name") == name for each in offered):
            raise CommandError(f"there is a mission '{name}' already: choose another name")
        path = folder / f"{name}.xml"
        try:
            _create(path, _text(name, about, self._parts()))
        except FileExistsError:
            raise CommandError(f"{path} is there already: choose another name") from None
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}") from None
        return path


def _text(name: str, about: str, parts: list[Part]) -> str:
    includes = "\n".join(
        f"  <include ros_pkg={quoteattr(package)} path={quoteattr(str(file))}/>"
        for package, file in parts
    )
    # A comment of XML has no "--", and no control characters.
    words = "".join(c if c.isprintable() else " " for c in about).replace("--", " ").split()
    line = " ".join(words) or "Made in the console."
    return _TEXT.format(name=name, about=line, includes=includes, first=FIRST_STEP)


def _create(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all.

    Raises:
        FileExistsError: there is one of this name.
        OSError: it cannot be written.
    """
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(draft, 0o644)
        os.link(draft, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
