# SPDX-License-Identifier: Apache-2.0
"""Reads a page of the documentation as a person does: writes its files, types its commands."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^`([^`\s]+)`:\s*\Z", re.MULTILINE)
EXIT_CODE = re.compile(r"#\s*exit code (\d+)\s*$")


@dataclass(frozen=True)
class Command:
    """A line of the page."""

    line: str
    exit_code: int = 0


@dataclass(frozen=True)
class Said:
    """Lines that the commands before must have printed."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file of the page."""

    name: str
    text: str


def steps(page: str) -> list[Command | Said | File]:
    """What a reader does, in order."""
    found: list[Command | Said | File] = []
    for block in BLOCK.finditer(page):
        kind, text = block.groups()
        if kind == "bash":
            for line in text.splitlines():
                code = EXIT_CODE.search(line)
                found.append(Command(line, int(code.group(1)) if code else 0))
        elif kind == "text":
            found.append(Said(tuple(line.strip() for line in text.splitlines())))
        else:
            name = FILE.search(page[: block.start()])
            assert name is not None, f"which file is this?\n{text}"
            found.append(File(name.group(1), text))
    return found


class Reader:
    """A shell in a folder that looks like the checkout, where the page's commands are typed."""

    def __init__(self, folder: Path) -> None:
        for name in ("activate", ".venv"):
            (folder / name).symlink_to(REPOSITORY / name)
        self.folder = folder
        self.shell = subprocess.Popen(
            ["bash"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def type(self, line: str) -> tuple[int, str]:
        """Run a command; returns its exit code and what it printed."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f'{line}\ncode=$?; echo; echo "<<$code>>"\n')
        self.shell.stdin.flush()
        lines: list[str] = []
        for printed in self.shell.stdout:
            if end := re.fullmatch(r"<<(\d+)>>\n", printed):
                return int(end.group(1)), "".join(lines)
            lines.append(printed)
        raise AssertionError(f"the shell ended in: {line}")

    def write(self, file: File) -> None:
        """Write a file of the page; one that a command has written is what the page shows."""
        path = self.folder / file.name
        if path.exists():
            assert path.read_text(encoding="utf-8") == file.text, f"{file.name} is shown otherwise"
        path.write_text(file.text, encoding="utf-8")

    def close(self) -> None:
        """Leave nothing behind."""
        if self.shell.poll() is None:
            self.type("behavior down")
            self.shell.terminate()
        self.shell.wait(timeout=240)


def follow(page: Path, folder: Path) -> None:
    """Do what a page says, and check what it promises.

    Args:
        page: of the documentation.
        folder: an empty one to do it in.
    """
    reader = Reader(folder)
    printed = ""
    try:
        for step in steps(page.read_text(encoding="utf-8")):
            if isinstance(step, File):
                reader.write(step)
            elif isinstance(step, Said):
                for line in step.lines:
                    assert line in printed, printed
            else:
                code, text = reader.type(step.line)
                assert code == step.exit_code, f"{step.line}\n{text}"
                printed = f"{printed}{text}"
    finally:
        reader.close()
