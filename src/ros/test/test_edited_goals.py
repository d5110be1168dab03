# SPDX-License-Identifier: Apache-2.0
"""Edits of other branches leave a goal alone: it is neither sent again nor cancelled."""

import json

from behavior_ros import load_node_models, register_ros_nodes
from behavior_ros.fake_servers import FakeServers
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, NodeStatus
from behavior_tree.sharing import Code, Edit, Limits, SharedTree

TICKS = 1000
MODEL = {
    "node": "Pick",
    "action": "/pick",
    "type": "behavior_msgs/action/Pick",
    "server_timeout": 80.0,
}
TREE = """<root BTCPP_format="4"><BehaviorTree ID="Main">
  <ParallelAll name="both">
    <Pick name="pick" object_name="cup"/>
    <Sequence name="other"><Sleep name="nap" msec="0"/><Sleep name="rest" msec="600000"/></Sequence>
  </ParallelAll>
</BehaviorTree></root>"""


def test_a_goal_goes_on_through_a_hundred_edits(spinner, tmp_path):
    node = spinner.node("fake_servers")
    pick = FakeServers(node).action("/pick", "behavior_msgs/action/Pick", {"after": 1e6})
    factory = BehaviorTreeFactory()
    spinner.do(register_ros_nodes, factory, node, load_node_models({"nodes": [MODEL]}))
    file = tmp_path / "tree.xml"
    file.write_text(TREE)
    shared = SharedTree(
        file,
        factory.fork(),
        limits=Limits(rate=1e6, burst=10**6, all_rate=1e6),
        now=iter(range(10**6)).__next__,
    )
    tree = spinner.do(shared.build, factory)

    def tick():
        return spinner.do(tree.tick_exactly_once)

    assert until(lambda: tick() is NodeStatus.RUNNING and pick.requests)
    leaf, goal = tree.node_by_path("pick"), pick.requests[0]
    ids = {spot.element.get("name"): id for id, spot in shared.state.spots.items()}
    number, new = 0, ""

    def edit(**operation):
        nonlocal number
        number += 1
        answer = spinner.do(shared.submit, Edit("ann", number, json.dumps(operation)))
        assert answer.code is Code.MADE, answer
        return answer

    for count in range(TICKS):
        assert tick() is NodeStatus.RUNNING
        if count % 20 == 5:
            xml = f"<Sleep name='new {count}' msec='1'/>"
            new = edit(op="insert", parent=ids["other"], xml=xml).nodes[0]
        elif count % 20 == 10:
            edit(op="set", node=ids["nap"], attributes={"msec": str(count)})
        elif count % 20 == 15:
            edit(op="remove", node=new)
    assert number == 3 * TICKS / 20
    assert tree.node_by_path("pick") is leaf
    assert leaf.status is NodeStatus.RUNNING
    assert pick.requests == [goal]
    assert pick.cancels == 0
    edit(op="remove", node=ids["pick"], running="halt")
    until(lambda: pick.cancels == 1)
