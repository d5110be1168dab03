# SPDX-License-Identifier: Apache-2.0
"""Stacks in a namespace: how they are started, and how the command finds them. Nothing runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from test_first_hour import stack_up

from behavior_bringup.cli import main
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation import stack_episodes
from behavior_bringup.jobs import demo
from behavior_bringup.stacks import connection, session, stack
from behavior_bringup.stacks.addressing import stack_of
from behavior_bringup.stacks.description import Readiness
from behavior_bringup.stacks.stack import Stack, namespace_arguments
from behavior_bringup.stacks.supervisor import Plan


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """What supervisors would have been given; there are none."""
    found: list[Plan] = []

    def keep(plan: Plan) -> NoReturn:
        found.append(plan)
        raise BringupError("no supervisor here")

    monkeypatch.setattr(stack, "launch_supervisor", keep)
    return found


def test_all_processes_of_a_stack_are_put_into_the_namespace(
    plans: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["up", "--world", "navigation", "--headless", "--namespace", "left"]) == 1
    assert "no supervisor here" in capsys.readouterr().err
    (plan,) = plans
    assert plan.namespace == "/left"
    assert Path(plan.folder) == Stack("left").folder, "it is named after its namespace"
    for name, words in plan.commands.items():
        given = words[words.index("--ros-args") :]
        for remap in ("__ns:=/left", "/tf:=tf", "/tf_static:=tf_static", "/clock:=clock"):
            assert given[given.index(remap) - 1] == "-r", name
        parameters = Path(words[words.index("--params-file") + 1])
        assert "/left/" in parameters.read_text(), "parameters are for nodes of the namespace"


def test_without_a_namespace_nothing_is_moved(plans: list[Plan]) -> None:
    assert namespace_arguments("") == []
    assert main(["up", "--world", "navigation", "--headless", "--name", "plain"]) == 1
    (plan,) = plans
    assert plan.namespace == ""
    assert not any("__ns" in word for words in plan.commands.values() for word in words)


def test_demonstrations_and_evaluations_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {}

    def temporary_stack(*_: object, **options: object) -> NoReturn:
        asked.update(options)
        raise BringupError("no stack here")

    monkeypatch.setattr(demo, "temporary_stack", temporary_stack)
    words = ["demo", "navigation", "--out", str(tmp_path), "--namespace", "fleet/left"]
    assert main(words) == 1
    assert asked["namespace"] == "/fleet/left"

    asked.clear()
    monkeypatch.setattr(stack_episodes, "temporary_stack", temporary_stack)
    settings = {"mission": "navigation", "world": "navigation", "speed": 4.0, "seed": 0}
    settings |= {"cameras": False, "disturb": False, "param": [], "extra": [], "varied": False}
    settings |= {"namespace": "/fleet/left", "recordings": ""}
    with (
        pytest.raises(BringupError, match="no stack here"),
        stack_episodes.stack_episodes(settings),
    ):
        pass
    assert asked["namespace"] == "/fleet/left"


def test_who_waits_for_a_stack_waits_in_its_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def client(namespace: str) -> NoReturn:
        asked.append(namespace)
        raise BringupError("nobody there")

    monkeypatch.setattr(session, "start", lambda *_, **__: Readiness())
    monkeypatch.setattr(session, "stop", lambda _: None)
    monkeypatch.setattr(session, "enter_domain", lambda _: None)
    monkeypatch.setattr(session, "StackClient", client)
    with stack_up("left", namespace="/left"), pytest.raises(BringupError, match="nobody there"):
        session.bring_up(Stack("left"), world="navigation", arguments={}, namespace="/left")
    assert asked == ["/left"]


@pytest.mark.slow
def test_a_stack_is_found_by_its_namespace(capsys: pytest.CaptureFixture[str]) -> None:
    with stack_up("one", namespace="/left"), stack_up("two", namespace="/fleet/right"):
        assert stack_of("/left") == "one"
        assert stack_of("/fleet/right") == "two"
        assert main(["status", "--json", "--namespace", "left"]) == 0
        assert set(json.loads(capsys.readouterr().out)) == {"one"}
        assert main(["status"]) == 0
        assert "namespace /fleet/right" in capsys.readouterr().out
        assert main(["mission", "list", "--json", "--namespace", "left"]) == 0
        assert json.loads(capsys.readouterr().out), "from the files of the stack 'one'"


def test_a_robot_of_a_launch_file_is_not_taken_for_a_stack_of_its_own() -> None:
    with stack_up("default"):
        assert stack_of("/left", or_launched=True) == "default"
        assert stack_of("/left") == "left", "the one that `behavior up` would make"
        assert stack_of("") == "default"


@pytest.mark.slow
def test_one_namespace_in_two_domains_needs_the_stack_s_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stack_up("one", namespace="/left"), stack_up("two", namespace="/left"):
        with pytest.raises(UsageError, match=r"one, two all have the namespace /left.*--name"):
            stack_of("/left")
        assert main(["mission", "history", "--namespace", "left"]) == 2
        assert "choose one with --name" in capsys.readouterr().err
        assert main(["mission", "list", "--json", "--namespace", "left", "--name", "two"]) == 0


def test_a_stack_s_namespace_is_taken_from_the_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    def client(name: str, namespace: str) -> NoReturn:
        asked.append((name, namespace))
        raise BringupError("nobody there")

    monkeypatch.setattr("behavior_bringup.missions.mission_verbs.mission_client", client)
    monkeypatch.setattr(connection, "enter_domain", lambda _: None)
    with stack_up("one", namespace="/left"):
        for words in ("--name one", "--namespace left", "--name one --namespace other"):
            assert main(["mission", "history", *words.split()]) == 1
    assert asked == [("one", "/left"), ("one", "/left"), ("one", "/other")]
