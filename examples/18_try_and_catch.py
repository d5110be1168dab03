# SPDX-License-Identifier: Apache-2.0
"""What fails is caught by a clause that fits: one tries again, another one gives up in good order.

Prints:
    drive, arm up, grasp
    open the hand
    drive, arm up, grasp
    open the hand
    drive, arm up, grasp
    ask for help: grasp: nothing between the fingers
    SUCCESS
"""

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus
from behavior_tree.authoring import register_authoring_nodes

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Fetch">
    <Try>
      <Do name="drive"/>
      <Step execute_after="beginning"><Do name="arm up"/></Step>
      <Step execute_after="drive;arm up"><Grasp name="grasp"/></Step>
      <Catch of="grasp" then="retry" max_retries="2"><Say text="open the hand"/></Catch>
      <Catch reason="{why}">
        <Sequence><Script code="why := 'ask for help: ' .. why"/><Say text="{why}"/></Sequence>
      </Catch>
    </Try>
  </BehaviorTree>
</root>
"""
done: list[str] = []


def do(node):
    done.append(node.name)
    return NodeStatus.SUCCESS


def grasp(node):
    print(", ".join([*done, node.name]))
    done.clear()
    node.set_failure_reason("nothing between the fingers")
    return NodeStatus.FAILURE


def say(node):
    print(node.get_input("text"))
    return NodeStatus.SUCCESS


factory = BehaviorTreeFactory()
register_authoring_nodes(factory)
factory.register_simple_action("Do", do)
factory.register_simple_action("Grasp", grasp)
factory.register_simple_action("Say", say, [InputPort("text", str)])
print(factory.create_tree_from_text(XML).tick_while_running().name)
