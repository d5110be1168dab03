# SPDX-License-Identifier: Apache-2.0
"""Within a tick of a run all nodes see one time, that of the record."""

import itertools

import pytest

from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory, NodeStatus
from behavior_tree.errors import NodeExecutionError
from behavior_tree.monitoring.tree_records import TreeRecords

TREE = """<root BTCPP_format="4">
  <BehaviorTree ID="main"><Sequence><Look/><Look/><Look/></Sequence></BehaviorTree>
</root>"""


@pytest.mark.parametrize("fails", [False, True])
def test_a_clock_that_goes_on_stands_still_for_a_tick(fails):
    times, readings, records = itertools.count(), [], []
    factory = BehaviorTreeFactory(clock=lambda: float(next(times)))

    def look(node):
        readings.append(node._rt.clock())
        if fails and len(readings) == 3:
            raise RuntimeError("broken")
        return NodeStatus.SUCCESS

    factory.register_simple_action("Look", look)
    run = TreeRun(factory.create_tree_from_text(TREE), tree_id="main")
    run.records = TreeRecords(run.tree, records.append, document=lambda tree: TREE)
    if fails:
        with pytest.raises(NodeExecutionError, match="broken"):
            run.tick()
    else:
        run.tick()
        run.records.after_tick(run.status, 0.0)
        assert records[-1].clock == readings[0]
    assert len(readings) == 3
    assert len(set(readings)) == 1
    clock = run.tree.runtime.clock
    assert readings[0] < clock() < clock(), "it goes on after the tick"
