# SPDX-License-Identifier: Apache-2.0
"""What the pages name exists: files, folders, and the names of the glossary."""

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| (?P<names>[^|]+) \|$", re.MULTILINE)

TOP = "src|trees|launch|config|docs|examples|benchmarks|tools|underlay|\\.ci"
PATH = re.compile(rf"(?:{TOP})/[\w./-]*[\w/]")
"""A path from the root of the repository."""


def tracked(*patterns):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    names = (name for name in listed.stdout.split("\0") if name)
    return sorted(name for name in names if (REPOSITORY / name).exists())


FILES = tracked()
FOLDERS = {str(parent) for name in FILES for parent in Path(name).parents}
NAMES = {Path(name).name for name in FILES}
PAGES = [name for name in FILES if name.endswith(".md")]


def missing(page):
    """Paths and files of the repository that a page names, and that are not there."""
    text = CODE.sub("", (REPOSITORY / page).read_text(encoding="utf-8"))
    for named in NAMED.findall(text):
        if PATH.fullmatch(named):
            if named.rstrip("/") not in FOLDERS and named not in FILES:
                yield named
        elif re.fullmatch(r"test_\w+\.py", named) and named not in NAMES:
            yield named


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page):
    assert list(missing(page)) == []


def test_a_file_that_is_not_there_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "REPOSITORY", tmp_path)
    (tmp_path / "page.md").write_text(
        "`docs/glossary.md` `src/ros` `src/ros/` `docs/gone.md` `test_gone.py`"
        " `docs/your.xml and more`\n```\n`docs/no.md`\n```\n"
    )
    assert list(missing("page.md")) == ["docs/gone.md", "test_gone.py"]


WALK = re.compile(r"\[`([\w.]+)(?:: (\w+))?`\]\(([^)#]+\.\w+)\)")
"""A link to a file, by its name, and to one of its functions."""


def lost(page):
    """Links of a walk through the code whose text is neither the file's name nor in the file."""
    file = REPOSITORY / page
    for name, function, link in WALK.findall(file.read_text(encoding="utf-8")):
        target = file.parent / link
        text = target.read_text(encoding="utf-8") if target.exists() else ""
        if not text or (name not in (target.name, target.stem) and not defines(text, name)):
            yield link
        elif function and not defines(text, function):
            yield f"{link}: {function}"


def defines(text, name):
    """Whether a class or function of that name is in a source."""
    return re.search(rf"\b(?:def|class) {re.escape(name)}\b", text) is not None


@pytest.mark.parametrize("page", PAGES)
def test_functions_that_a_page_points_to_are_there(page):
    assert list(lost(page)) == []


def test_a_function_that_is_not_there_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "REPOSITORY", tmp_path)
    (tmp_path / "a.py").write_text("def there():\n    pass\n")
    (tmp_path / "page.md").write_text(
        "[`a.py`](a.py) [`a.py: there`](a.py) [`a.py: gone`](a.py) [`b.py`](a.py) [`c.py`](c.py)"
    )
    assert list(lost("page.md")) == ["a.py: gone", "a.py", "c.py"]


def tree_of_folders():
    """The folders that README's tree lists, as paths from the root."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## Where everything is\n\n```text\n(.*?)```", readme, re.DOTALL)[1]
    above = []
    for line in block.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        named = re.match(r"\S+/(?:  ?\S+/)*(?=\s|$)", line.strip())[0].split()
        above[depth:] = [named[0]]
        for name in named:
            yield "".join([*above[:depth], name]).rstrip("/")


def test_the_folders_of_the_readme_are_there_and_no_package_is_missing():
    listed = list(tree_of_folders())
    assert [folder for folder in listed if folder not in FOLDERS] == []
    top = {name.split("/")[0] for name in FILES if "/" in name}
    packages = {"/".join(name.split("/")[:2]) for name in FILES if name.startswith("src/")}
    assert sorted((top | packages) - set(listed)) == []


def glossary():
    text = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8")
    return [row for row in ROW.finditer(text) if row["term"] != "term"]


def test_a_term_has_one_line():
    terms = [row["term"] for row in glossary()]
    assert len(terms) > 40
    assert len(set(terms)) == len(terms)


def test_the_names_of_the_glossary_are_those_of_the_code():
    kinds = ("*.py", "*.msg", "*.srv", "*.action", "*.yaml")
    words = set()
    for name in tracked(*(f"src/{kind}" for kind in kinds), "tools/*.py", "config/*.yaml"):
        if not name.endswith("test_docs.py"):
            words |= set(re.findall(r"\w+", (REPOSITORY / name).read_text(encoding="utf-8")))
            words |= set(Path(name).with_suffix("").parts)
    unknown = {
        named
        for row in glossary()
        for named in NAMED.findall(row["names"])
        for word in re.findall(r"\w+", named)
        if word not in words and named not in FOLDERS
    }
    assert unknown == set()


@pytest.mark.parametrize(
    "picture", sorted(REPOSITORY.glob("docs/images/*.svg")), ids=lambda p: p.stem
)
def test_the_picture_of_a_tree_is_that_of_its_file(picture, tmp_path):
    tree = next(REPOSITORY.glob(f"trees/*/{picture.stem}.xml"))
    drawn = tmp_path / picture.name
    subprocess.run(["behavior", "tree", "show", tree, "--svg", drawn], check=True, timeout=240)
    assert drawn.read_text() == picture.read_text(), (
        f"draw it anew: behavior tree show {tree.relative_to(REPOSITORY)} "
        f"--svg {picture.relative_to(REPOSITORY)}"
    )
