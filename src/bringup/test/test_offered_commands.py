# SPDX-License-Identifier: Apache-2.0
"""Verbs of the command that packages offer."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from behavior_bringup.cli import main
from behavior_bringup.commands import offered_commands
from behavior_packages import Offer


class Count:
    """Counts doors."""

    help = "count doors"
    node = "door"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("least", type=int)

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        return stack.doors >= options.least, f"there are {stack.doors}"


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Commands that a package offers, by name."""
    commands: dict[str, Any] = {}

    def load_all(kind: str, tell: Any) -> Any:
        for name, command in commands.items():
            yield (
                Offer(kind=kind, name=name, package="p", value="m:C", place="behavior.yaml:1"),
                command,
            )

    class Client:
        doors = 3

        def __init__(self, namespace: str) -> None:
            pass

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(offered_commands, "packages", lambda: SimpleNamespace(load_all=load_all))
    monkeypatch.setattr(offered_commands, "enter", lambda stack, node: None)
    monkeypatch.setattr("behavior_bringup.client.StackClient", Client)
    return commands


def test_a_command_of_a_package_is_a_verb(
    offered: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    offered["count"] = Count()
    assert main(["count", "3", "--name", "other"]) == 0
    assert "There are 3" in capsys.readouterr().out
    assert main(["count", "4"]) == 1
    assert "There are 3" in capsys.readouterr().err
    assert main(["count", "many"]) == 2
    with pytest.raises(SystemExit):
        main(["count", "--help"])
    assert "Counts doors." in capsys.readouterr().out


def test_a_command_that_is_broken_or_taken_stops_no_other(
    offered: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    offered.update(knock=object(), down=Count(), count=Count())
    assert main(["count", "1"]) == 0
    told = capsys.readouterr().err
    assert "m:C of p" in told
    assert "the command 'down' of p is taken" in told


def test_a_command_says_which_module_it_lacks(
    offered: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    class Lacking(Count):
        """Needs what is not there."""

        node = None  # type: ignore[assignment]

        def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
            raise ModuleNotFoundError("No module named 'doors'", name="doors")

    offered["count"] = Lacking()
    assert main(["count", "3"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "'behavior count' needs the Python module doors" in said


def test_a_command_without_a_node_needs_no_stack(
    offered: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Alone(Count):
        """Counts nothing."""

        node = None

        def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
            assert stack is None
            return True, ""

    def refuse(*_: object) -> None:
        raise AssertionError("no stack is wanted")

    monkeypatch.setattr(offered_commands, "enter", refuse)
    offered["count"] = Alone()
    assert main(["count", "3"]) == 0
    assert capsys.readouterr().out == ""


def test_the_suites_own_command_comes_by_this_door(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["disturb-navigation", "block", "--help"])
    told = capsys.readouterr().out
    assert "--size DX DY" in told
    assert "--name STACK" in told
