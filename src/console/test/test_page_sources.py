# SPDX-License-Identifier: Apache-2.0
"""The page's TypeScript: its own tests, its types, its style; and the size of what was built."""

from __future__ import annotations

import gzip
import re

import page_tools
import pytest

pytestmark = pytest.mark.slow
LARGEST = 1_500_000
"""[bytes] compressed, of the whole page."""
LARGEST_FIRST = 160_000
"""[bytes] compressed, of what is loaded before anything is drawn."""


@pytest.mark.parametrize(
    "program",
    [
        ["vitest/vitest.mjs", "run"],
        ["typescript/bin/tsc", "--noEmit"],
        ["eslint/bin/eslint.js", ".", "--max-warnings", "0"],
    ],
    ids=["tests", "types", "style"],
)
def test_sources(program):
    done = page_tools.run_node(*program)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_the_page_is_small_whole_and_at_first():
    page = page_tools.need_page()
    sizes = {
        str(file.relative_to(page)): len(gzip.compress(file.read_bytes()))
        for file in page.rglob("*")
        if file.is_file()
    }
    assert sum(sizes.values()) <= LARGEST, sizes
    first = re.findall(r'(?:src|href)="/(assets/[^"]+)"', (page / "index.html").read_text())
    assert first
    assert sum(sizes[name] for name in first) <= LARGEST_FIRST, {n: sizes[n] for n in first}


def test_the_page_asks_nobody_else():
    """No address outside is loaded: the console works without internet."""
    page = page_tools.need_page()
    texts = [file.read_text() for file in page.rglob("*.css")]
    texts.append((page / "index.html").read_text())
    assert not re.findall(r"(?:url\(|src=|href=)[\"']?(?:https?:)?//[^\"')]+", " ".join(texts))
