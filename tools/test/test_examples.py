# SPDX-License-Identifier: Apache-2.0
"""Every example runs and prints what its docstring says; all are listed."""

import ast
import runpy
import textwrap
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.py"))


def docstring(file):
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


@pytest.fixture
def domain(monkeypatch):
    """ROS, if the example uses it, in a domain of its own, and ended whatever happens."""
    rclpy = pytest.importorskip("rclpy")
    from behavior_ros.testing import own_domain

    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    yield
    rclpy.try_shutdown()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_prints_what_it_says(file, domain, capsys):
    _, _, told = docstring(file).partition("Prints:\n")
    assert told, "the docstring says nothing of what is printed"
    runpy.run_path(str(file), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    expected = textwrap.dedent(told).strip().splitlines()
    assert [line.rstrip() for line in printed if not line.startswith("[INFO]")] == expected


def test_all_are_numbered_and_listed_with_their_first_line():
    assert [int(file.name[:2]) for file in FILES] == list(range(1, len(FILES) + 1))
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert rows == [
        f"| [{file.name}]({file.name}) | {docstring(file).splitlines()[0]} |" for file in FILES
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_is_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 75
