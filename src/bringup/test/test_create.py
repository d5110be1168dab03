# SPDX-License-Identifier: Apache-2.0
"""`behavior create`: what it writes is built by colcon, tested, and shown, as it is."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from behavior_bringup.cli import main
from behavior_bringup.commands.create import PARTS, create
from behavior_bringup.errors import BringupError, UsageError
from behavior_packages import read_manifest


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("My-Jobs", "no name"),
        ("a__b", "no name"),
        ("import", "is taken"),
        ("json", "is taken"),
        ("behavior_jobs", "is taken"),
    ],
)
def test_names_that_no_package_can_have_are_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        create(tmp_path, name, ["tree"])
    with pytest.raises(UsageError, match="'wings' is no part: choose from tree, leaf"):
        create(tmp_path, "my_jobs", ["wings"])


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    create(tmp_path, "my_jobs", ["tree"])
    with pytest.raises(BringupError, match="is there already"):
        create(tmp_path, "my_jobs", ["tree"])


@pytest.mark.slow
def test_every_choice_of_parts_is_whole(tmp_path: Path) -> None:
    for number in range(len(PARTS) + 1):
        for parts in combinations(PARTS, number):
            name = "_".join(("a", *parts))
            folder = create(tmp_path, name, parts)
            package = read_manifest(name, folder / "behavior.yaml")
            assert package.problems == ()
            kinds = {entry.kind for entry in package.entries}
            assert ("trees" in kinds, "tree_nodes" in kinds) == ("tree" in parts, "leaf" in parts)
            assert [file for file in _texts(folder) if re.search(r"@\w+@", file.read_text())] == []


def _texts(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


@pytest.mark.timeout(600)
def test_a_package_is_created_built_tested_and_shown(
    tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["create", "my_jobs", "--with", ",".join(PARTS)]) == 0
    script = """
    set -e
    colcon build --symlink-install
    . install/local_setup.bash
    python -m pytest -q -p no:cacheprovider my_jobs/test
    behavior packages my_jobs
    python -c 'from behavior_console.offered_panels import offered_panels as o; print(o())'
    behavior demo my_job --speed 8
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "BEHAVIOR_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "judges: my_job" in said
    assert "robots: my_robot" in said
    assert "/modules/my_jobs/my_panel.js" in said
    assert "blue_block is" in said
