# SPDX-License-Identifier: Apache-2.0
"""What a tree did is written to a file that Groot2 and `behavior tree replay` open, and read again.

Prints:
    Sequence: RUNNING
    first: SUCCESS
    second: FAILURE
    first: IDLE
    second: IDLE
    Sequence: FAILURE
    Sequence: IDLE
"""

import tempfile
from pathlib import Path

from behavior_tree import BehaviorTreeFactory, FileLogger, read_btlog

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <AlwaysSuccess name="first"/>
      <AlwaysFailure name="second"/>
    </Sequence>
  </BehaviorTree>
</root>"""

tree = BehaviorTreeFactory().create_tree_from_text(XML)
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "run.btlog"
    with FileLogger(tree, file):
        tree.tick_while_running()
    log = read_btlog(file)
names = {node.uid(): node.name() for node in tree.nodes()}
for change in log.transitions:
    print(f"{names[change.uid]}: {change.status.name}")
