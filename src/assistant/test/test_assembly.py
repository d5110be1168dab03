# SPDX-License-Identifier: Apache-2.0
"""What the verbs work with: the suite's own packages, and a stack that is up or not."""

from __future__ import annotations

import argparse
import stat
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from assistant_kit import PICK, make_factory, tree
from behavior_msgs.msg import MissionAction, MissionFeedback
from rich.console import Console

import behavior_bringup.tree_nodes
from behavior_assistant import assembly, commands
from behavior_assistant.checked_trees import UNSAFE_NODES
from behavior_assistant.composing import EXAMPLE, prompt
from behavior_assistant.endpoint import MOST_ASKED
from behavior_assistant.proposals import Proposals
from behavior_bringup.cli import main
from behavior_bringup.errors import UsageError
from behavior_executor.client import MissionOutcome
from behavior_packages.folders import proposals_folder
from behavior_tree import write_tree_nodes_model_xml

TREES = Path(__file__).resolve().parents[3] / "trees" / "jobs"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("BEHAVIOR_PROPOSALS", raising=False)
    return tmp_path / "proposals"


@pytest.fixture
def up(tmp_path, monkeypatch):
    """A stack that is up, with its own missions and node types."""
    missions, log = tmp_path / "missions", tmp_path / "log"
    missions.mkdir()
    log.mkdir()
    own = [each for each in make_factory().manifests().values() if not each.builtin]
    (log / assembly.TREE_NODES).write_text(write_tree_nodes_model_xml(own))
    state = SimpleNamespace(arguments={"missions": str(missions)}, log_dir=str(log))
    monkeypatch.setattr(assembly, "Stack", lambda name: SimpleNamespace(state=lambda: state))
    return missions


@pytest.mark.slow
def test_the_suites_own_nodes_are_known_and_fit_into_a_question(folder):
    checker = assembly.make_checker("none")
    assert set(UNSAFE_NODES) <= set(checker.factory.manifests())
    for name in ("stack_blocks", "sort_balls", "follow_object"):
        assert checker.check((TREES / f"{name}.xml").read_text()).problems == ()
    assert "avoid_collisions" in checker.check((TREES / "insert_shelf.xml").read_text()).problems[0]
    assert len(prompt(checker, {}, EXAMPLE)) < MOST_ASKED / 2


@pytest.mark.slow
def test_of_a_stack_that_is_up_its_own_nodes_and_missions_count(up, monkeypatch):
    monkeypatch.setattr(behavior_bringup.tree_nodes, "register_suite_nodes", lambda factory: None)
    (up / "tidy.xml").write_text(PICK)
    checker = assembly.make_checker("s")
    assert checker.check(PICK).problems == ()
    assert "Place" in checker.manifests()
    assert "tidy" in assembly.make_catalogue("s").names()
    assert assembly.missions_folder("s") == up


def test_a_checker_is_kept_until_another_stack_is_up(up, tmp_path, monkeypatch):
    newest = assembly._newest_checker("s")
    first = newest()
    assert newest() is first
    monkeypatch.setattr(assembly, "missions_folder", lambda stack: tmp_path)
    assert newest() is not first


def test_proposals_lie_where_the_variable_says(folder, tmp_path, monkeypatch):
    assert proposals_folder() == folder
    monkeypatch.setenv("BEHAVIOR_PROPOSALS", str(tmp_path / "here"))
    assert proposals_folder() == tmp_path / "here"


def proposed(folder, text=PICK):
    from assistant_kit import checker

    kept = Proposals(folder, assembly.audit_of(folder))
    return kept.add(author="t", mission="fetch", tree=checker().check(text), reason="a cup")


@pytest.mark.slow
def test_a_person_lists_shows_and_rejects(folder, capsys):
    assert main(["proposals", "list"]) == 0
    assert "There are no proposals" in capsys.readouterr().out
    proposal = proposed(folder)
    assert main(["proposals", "list", "--open"]) == 0
    assert f"{proposal.id}  open" in capsys.readouterr().out
    assert main(["proposals", "show", proposal.id[:4]]) == 0
    assert PICK in capsys.readouterr().out
    assert main(["proposals", "reject", proposal.id]) == 0
    assert main(["proposals", "reject", proposal.id]) == 1
    assert "was rejected before" in capsys.readouterr().err
    assert main(["proposals", "list", "--open"]) == 0
    assert "There are no proposals" in capsys.readouterr().out
    assert main(["proposals", "show", "none"]) == 2


@pytest.mark.slow
def test_a_program_approves_what_it_has_shown_to_a_person(folder, up, monkeypatch, capsys):
    monkeypatch.setattr(behavior_bringup.tree_nodes, "register_suite_nodes", lambda factory: None)
    proposal = proposed(folder, tree('<Pick object_name="cup"/>'))
    monkeypatch.setattr(commands, "_run_for_real", lambda *_: (True, "it is here"))
    approve = ["proposals", "approve", proposal.id, "--by", "ann\x1b #1", "--shown"]
    assert main([*approve, "0" * 64]) == 2
    assert "is not what was shown" in capsys.readouterr().err
    assert not (up / "fetch.xml").exists()
    assert main([*approve, proposal.digest]) == 0
    (kept,) = Proposals(folder, assembly.audit_of(folder)).all()
    assert (kept.status, kept.outcome) == ("approved", "it is here")
    assert kept.decided.endswith("by ann\\x1b #1")
    assert (up / "fetch.xml").exists()


def test_nobody_approves_without_a_terminal(folder, capsys):
    proposal = proposed(folder)
    assert main(["proposals", "approve", proposal.id]) == 2
    assert "A person approves, on a terminal" in capsys.readouterr().err


def test_the_folder_of_missions_is_made(folder, capsys):
    assert main(["proposals", "folder"]) == 0
    printed = Path(capsys.readouterr().out.strip())
    assert printed == folder / "missions"
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(printed.stat().st_mode) == 0o700


@pytest.mark.slow
@pytest.mark.parametrize("says", ["y", "n", ""])
def test_on_a_terminal_a_person_is_asked(folder, up, says, monkeypatch, capsys):
    monkeypatch.setattr(behavior_bringup.tree_nodes, "register_suite_nodes", lambda factory: None)
    proposal = proposed(folder, tree('<Pick object_name="cup"/>'))
    ran = []

    class Terminal(Console):
        """Prints what it asks as a real one does."""

        is_terminal = True

        def __init__(self, **_):
            super().__init__(width=1000, color_system=None)

        def input(self, prompt="", **options):
            self.print(prompt, **options)
            return says

    monkeypatch.setattr("rich.console.Console", Terminal)
    monkeypatch.setattr(commands.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(
        commands, "_run_for_real", lambda mission, *_: ran.append(mission) or (True, "it is here")
    )
    assert main(["proposals", "approve", proposal.id]) == 0
    told = capsys.readouterr().out
    assert f"Write {up / 'fetch.xml'} and run it for real? [y/N]" in told
    assert PICK in told
    said_yes = says == "y"
    assert (ran, (up / "fetch.xml").exists()) == (["fetch"] if said_yes else [], said_yes)


def test_an_approved_mission_is_given_to_the_executor_and_its_end_is_told(monkeypatch):
    given = []

    class Client:
        def execute(self, mission, *, on_feedback):
            given.append((mission.name, mission.type))
            on_feedback(MissionFeedback(name=mission.name))
            return MissionOutcome(110, "the cup is gone", 2.0)

    @contextmanager
    def mission_client(stack, namespace):
        yield Client()

    monkeypatch.setattr("behavior_bringup.stacks.connection.mission_client", mission_client)
    options = argparse.Namespace(stack="s", namespace="")
    answer = commands._run_for_real("fetch", options, Console(quiet=True))
    assert answer == (False, "fetch: the cup is gone")
    assert given == [("fetch", MissionAction.RUN_BEHAVIOR)]


@pytest.mark.slow
def test_without_a_model_ask_names_the_variable(folder, monkeypatch, capsys):
    for name in ("BEHAVIOR_LANGUAGE_MODEL_URL", "BEHAVIOR_LANGUAGE_MODEL_SCRIPT"):
        monkeypatch.delenv(name, raising=False)
    assert main(["ask", "pick the cup"]) == 1
    assert "BEHAVIOR_LANGUAGE_MODEL_URL" in capsys.readouterr().err
    assert main(["ask", "pick the cup", "--as", "No Name"]) == 2
    assert main(["ask", "pick the cup", "--episodes", "101"]) == 2


@pytest.mark.slow
def test_a_name_that_is_taken_is_refused(folder, capsys):
    assert main(["ask", "pick the cup", "--as", "stack_blocks"]) == 2
    assert "there is a mission 'stack_blocks' already" in capsys.readouterr().err.lower()


def test_the_tools_of_a_stack_that_is_down_say_so(folder, monkeypatch):
    bench = assembly.make_workbench("none", "", "block_stacking", may_propose=False)
    assert bench.list_missions()["found"] > 5
    with pytest.raises(Exception, match="up"):
        bench.read_scene()
    with pytest.raises(UsageError, match="no mission"):
        bench.show_mission("none")


def test_mcp_says_what_is_missing_without_the_package(folder, monkeypatch, capsys):
    monkeypatch.setitem(commands.sys.modules, "behavior_assistant.mcp_server", None)
    assert main(["mcp"]) == 1
    assert "pip install mcp==2.3.0" in capsys.readouterr().err


@pytest.mark.slow
def test_a_port_that_cannot_be_is_refused(folder, capsys):
    assert main(["mcp", "--http", "65536"]) == 2
    assert "1 to 65535" in capsys.readouterr().err


def test_the_verbs_describe_themselves():
    for verb in (commands.ASK, commands.MCP, commands.PROPOSALS):
        verb.add_arguments(argparse.ArgumentParser())
        assert verb.help
        assert verb.node is None
