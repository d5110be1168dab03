# SPDX-License-Identifier: Apache-2.0
"""What the command prints. Texts are printed as they are: `[grasp]` is no markup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDTH_OF_FILES = 240
"""Columns of a table that goes into a file or a pipe; on a terminal it has the terminal's."""


def say(text: str, console: Console | None = None) -> None:
    """Print a line."""
    console = console or Console()
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def say_verdict(success: bool, text: str, console: Console | None = None) -> None:
    """Print a line that begins with SUCCESS or FAILURE."""
    verdict = verdict_text(success, ("SUCCESS", "FAILURE")).append(f": {text}", style="default")
    (console or Console()).print(verdict, highlight=False, soft_wrap=True)


def verdict_text(success: bool, words: tuple[str, str]) -> Text:
    """One of two words, in its colour."""
    return Text.styled(words[not success], "green" if success else "red")


def sentence(text: str) -> str:
    """The text with a capital letter, unless it begins with a name, such as that of a file."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return f"{text[:1].upper()}{text[1:]}" if first.rstrip(",:").isalpha() else text


def print_json(value: Any) -> None:
    """Print a value for programs."""
    print(json.dumps(value, indent=2))


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    title: str | None = None,
    whole: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Print a table.

    Args:
        columns: their heads.
        rows: texts of the cells.
        title: above it.
        whole: columns whose texts are never broken.
        console: where; None: standard output.
    """
    table = Table(title=None if title is None else Text(title), title_justify="left")
    for column in columns:
        table.add_column(Text(column), no_wrap=column in whole)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    console = console or Console()
    if not console.is_terminal:
        console = Console(file=console.file, width=_WIDTH_OF_FILES)
    console.print(table)
