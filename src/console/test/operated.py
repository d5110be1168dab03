# SPDX-License-Identifier: Apache-2.0
"""An executor and the console's node in one process, with a mission that fails and then rests."""

from __future__ import annotations

from pathlib import Path

from rclpy.parameter import Parameter

from behavior_console.access import ADDRESS_FILE, addresses
from behavior_console.node import ConsoleNode
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner

MISSION = """<!-- Look for something -->
<root BTCPP_format="4"><BehaviorTree ID="look"><Sequence name="all">
  <Script name="count" code="n := 1"/>
  <ScriptCondition name="found" code="n == 2"/>
  <Sleep name="rest" msec="600000"/>
</Sequence></BehaviorTree>
<TreeNodesModel><SubTree ID="look">
  <MetadataFields><Metadata room.choices="hall;lab"/></MetadataFields>
  <input_port name="room" default="hall">where to look</input_port>
  <input_port name="far" type="double" default="1.5">how far [m]</input_port>
</SubTree></TreeNodesModel></root>"""


def start(spinner: Spinner, folder: Path) -> str:
    """Start both nodes; returns the address of a page that may do everything."""
    trees = folder / "trees"
    trees.mkdir()
    (trees / "look.xml").write_text(MISSION)
    given = {"tree_directories": [str(trees)], "nodes_file": "", "managers": [""]}
    executor = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()]
    )
    file = folder / ADDRESS_FILE
    values = {"port": 0, "address_file": str(file)}
    console = ConsoleNode(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    spinner.start(executor, console)
    return addresses(file)[0]
