# SPDX-License-Identifier: Apache-2.0
"""A tree is changed while it runs; what is not touched runs on, and every change can be undone.

Prints:
    runs: wait
    nodes: work, wait, also
    still runs: wait
    undone: work, wait
"""

from behavior_tree import BehaviorTreeFactory, Tree, TreeEditor

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence name="work">
      <Sleep name="wait" msec="60000"/>
    </Sequence>
  </BehaviorTree>
</root>"""


def names(tree: Tree) -> str:
    """Of its nodes, from the root."""
    return ", ".join(node.name() for node in tree.nodes())


factory = BehaviorTreeFactory()
tree = factory.create_tree_from_text(XML)
tree.tick_exactly_once()
print("runs:", tree.active_path())

editor = TreeEditor(tree, factory)
editor.insert("work", 1, '<AlwaysSuccess name="also"/>')
print("nodes:", names(tree))
tree.tick_exactly_once()
print("still runs:", tree.active_path())

editor.undo()
print("undone:", names(tree))
tree.halt_tree()
