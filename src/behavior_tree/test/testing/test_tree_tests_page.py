# SPDX-License-Identifier: Apache-2.0
"""docs/tree_tests.md: what it shows works as it stands there, and it names every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from behavior_tree.cli import main
from behavior_tree.testing import TreeUnderTest
from behavior_tree.testing.case_file import _CASE_KEYS, _EXPECT_KEYS
from behavior_tree.testing.outcomes import _KEYS
from behavior_tree.testing.properties import _KINDS

PAGE = Path(__file__).resolve().parents[4] / "docs/tree_tests.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the package is tested alone")


def blocks(language):
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/bring.xml").write_text(blocks("xml")[0])
    (tmp_path / "trees/bring.test.yaml").write_text(blocks("yaml")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_cases_pass_as_the_command_says(folder, capsys):
    (command,) = re.findall(r"behavior tree (test .*)", blocks("bash")[0])
    assert main(command.split()) == 0
    assert "4 passed, 0 failed" in capsys.readouterr().out


def test_the_programs_run(folder, capsys):
    script, test = blocks("python")
    exec(script, {})
    assert "pick FAILURE" in capsys.readouterr().out
    names = {}
    exec(test, names)
    names["test_a_failed_pick_is_repeated"](TreeUnderTest)


def test_the_servers_may_stand_in_a_case_file(folder):
    cases = blocks("yaml")[0] + blocks("yaml")[2]
    (folder / "trees/bring.test.yaml").write_text(cases)
    assert main(["test", "trees"]) == 0


def test_the_properties_are_properties():
    import yaml

    from behavior_tree.testing.parts import Part
    from behavior_tree.testing.properties import read_properties

    listed = yaml.safe_load(blocks("yaml")[1])["properties"]
    assert {spec.kind for spec in read_properties(Part(listed, ""))} == set(_KINDS)


@pytest.mark.parametrize("key", [*_CASE_KEYS, *_EXPECT_KEYS, *_KEYS])
def test_every_key_is_explained(key):
    assert f"`{key}`" in PAGE.read_text(encoding="utf-8")
