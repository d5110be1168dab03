# SPDX-License-Identifier: Apache-2.0
"""Every link of a page leads somewhere: to a file of the repository, and to a heading of it."""

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def pages():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    files = (REPOSITORY / name for name in listed.stdout.split("\0") if name)
    return sorted(file for file in files if file.exists())


def anchors(file):
    """The anchors of a page's headings, as GitHub makes them."""
    found = {}
    for heading in HEADING.findall(CODE.sub("", file.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {f"{slug}-{n}" if n else slug for slug, last in found.items() for n in range(last + 1)}


def broken(file):
    text = CODE.sub("", file.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.is_relative_to(REPOSITORY) or not target.exists():
            yield f"{link}: there is no {path}"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: {target.name} has no such heading"


@pytest.mark.parametrize("file", pages(), ids=lambda file: str(file.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(file):
    assert list(broken(file)) == []


def test_a_broken_link_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "REPOSITORY", tmp_path)
    (tmp_path / "there.md").write_text("# A `word` here\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#a-word-here) [web](https://x.y)\n```\n[no](no.md)\n```\n"
        "[c](gone.md)\n![d](no.png)\n[e](there.md#b)\n[f](#nowhere)\n"
    )
    assert [problem.split(":")[0] for problem in broken(page)] == [
        "gone.md",
        "no.png",
        "there.md#b",
        "#nowhere",
    ]
