# SPDX-License-Identifier: Apache-2.0
"""Sections of `docs/conformance.md` that programs write."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs/conformance.md"


def _split(name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    section, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{PAGE}: no section between '{begin.strip()}' and '{end.strip()}'")
    return before + begin, section, end + after


def section(name: str) -> str:
    """Text between the two comments of a section."""
    return _split(name)[1]


def write_section(name: str, text: str) -> None:
    """Put ``text`` between the two comments of a section."""
    before, _, after = _split(name)
    PAGE.write_text(before + text + after, encoding="utf-8")
