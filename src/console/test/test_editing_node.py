# SPDX-License-Identifier: Apache-2.0
"""Pages edit a tree that ticks: the console's node and the executor's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from console_client import PageClient
from rclpy.parameter import Parameter
from shared_trees import NAPS

from behavior_console.access import ADDRESS_FILE, addresses
from behavior_console.node import ConsoleNode
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner
from behavior_tree.sharing import Code


def start(spinner: Spinner, folder: Path) -> tuple[int, str]:
    """Start both nodes; returns port and token."""
    trees = folder / "trees"
    trees.mkdir()
    (trees / "naps.xml").write_text(NAPS)
    given: dict[str, Any] = {"tree_directories": [str(trees)], "nodes_file": "", "managers": [""]}
    executor = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()]
    )
    values: dict[str, Any] = {"port": 0, "address_file": str(folder / ADDRESS_FILE)}
    console = ConsoleNode(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    spinner.start(executor, console)
    token = addresses(folder / ADDRESS_FILE)[0].rpartition("=")[2]
    return console.server.port, token


def nodes(page: PageClient, tree: str) -> dict[str, tuple[str, Any]]:
    """Identifiers and rows of nodes by name."""
    rows = page.state.get("document", {}).items()
    own = [(key.split("\n")[1], row) for key, row in rows if key.startswith(f"{tree}\n")]
    return {row[1].get("name", row[0]): (id, row) for id, row in own}


def edit(page: PageClient, tree: str, operation: dict[str, Any], running: str = "refuse") -> Any:
    return page.command("tree.edit", tree=tree, operation=operation, running=running)


@pytest.mark.timeout(120)
def test_two_pages_change_what_runs_and_a_new_mission_is_made_and_runs(
    spinner: Spinner, tmp_path: Path
) -> None:
    port, token = start(spinner, tmp_path)
    with PageClient(port, token).hello("ann") as ann, PageClient(port, token).hello("bob") as bob:
        for page in (ann, bob):
            page.show("document", "editors", "mission", "missions")
        ann.until(lambda: bool(ann.state.get("missions")))
        assert ann.command("mission.start", name="naps")["ok"]
        for page in (ann, bob):
            opened = page.command("tree.open", tree="naps")
            assert opened["ok"], opened
        ann.until(lambda: "long" in nodes(ann, "naps"))
        bob.until(lambda: {"ann", "bob"} <= bob.state.get("editors", {}).keys())
        long, look = nodes(ann, "naps")["long"][0], nodes(ann, "naps")["look"][0]

        asked = edit(ann, "naps", {"op": "remove", "node": long})
        assert asked["value"]["code"] == Code.RUNNING
        assert "'long'" in asked["message"]
        waits = edit(ann, "naps", {"op": "remove", "node": long}, "after")
        assert waits["value"]["code"] == Code.WAITING
        fix = {"op": "set", "node": look, "attributes": {"code": "a == 1"}}
        assert edit(bob, "naps", fix)["ok"]
        ann.until(lambda: nodes(ann, "naps")["look"][1][1]["code"] == "a == 1")
        assert edit(bob, "naps", {"op": "remove", "node": long}, "halt")["ok"]
        ann.until(lambda: ann.state["mission"] is not None and ann.state["mission"]["ended"])
        assert ann.state["mission"]["state"] == "finished"
        ann.until(lambda: "long" not in nodes(ann, "naps"))
        number = waits["value"]["number"]
        ann.until(lambda: ann.state["document"]["naps"]["late"].get("ann", [0])[0] == number)
        assert ann.state["document"]["naps"]["late"]["ann"][1] == Code.REFUSED

        assert ann.command("tree.new", name="mine")["ok"]
        assert (tmp_path / "trees" / "mine.xml").exists()
        assert ann.command("tree.open", tree="mine")["ok"]
        ann.until(lambda: "mission" in nodes(ann, "mine"))
        step = nodes(ann, "mine")["first step"][0]
        xml = '<Sleep name="rest" msec="1"/>'
        assert edit(ann, "mine", {"op": "replace", "node": step, "xml": xml})["ok"]
        assert edit(ann, "mine", {"op": "save"})["ok"]
        assert 'name="rest"' in (tmp_path / "trees" / "mine.xml").read_text()
        started = ann.command("mission.start", name="mine")
        assert started["ok"], started
        ann.until(lambda: ann.state["mission"]["name"] == "mine" and ann.state["mission"]["ended"])
        assert ann.state["mission"]["state"] == "finished"
