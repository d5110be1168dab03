# SPDX-License-Identifier: Apache-2.0
"""Ticks chosen for one node each: what a general tick would look up is settled before.

A node's ``tick()`` says what it does; here the hot ones are written once more for the case that
nobody has to be told within the tick: no callback, no hook, no record of ticks. Then a tick may
store the status without telling anybody, and a completed tick of a Sequence of 36 leaves is 37
calls of Python functions and little else. py_trees ticks by generators, which pass every node
through all its ancestors; plain calls are what makes these trees 20 to 90 times faster.

Four kinds of code take part:

* functions in the modules here, one per kind of node, called with the node
* `unrolled` and `behavior_tree.fast_tick` write functions for a number of children and for the
  pre- and post-conditions that a node has, once for all nodes of that shape
* `behavior_tree.told_tick` derives from each a form that writes its changes of status into the
  journal of the tree, for loggers and Groot2; it is made when the first of them comes, and follows
  from the text of the silent one, which therefore stores statuses as ``node.status = status`` and
  in the order in which the general kernel tells them
* `behavior_tree.script.straight` writes functions for scripts, once per shape of script

None of it is made per node. A tree of 10 000 nodes does not fit into the inner caches of a
processor, and there a tick costs what memory it touches, not what it computes: that is why the
parts of a node that every tick needs lie side by side (`behavior_tree.node`), why a script keeps
what it needs in one object, and why nodes with the same conditions on the same blackboard share
them.

All of it is made of fixed pieces of code and numbered names; text of a user is only ever data.

`TreeNode.select_kernel` takes a specialised tick when it may and another when it must:

* a callback, hook or record that is attached makes it choose the general kernel, at once and only
  for the nodes concerned; when it goes the same specialised tick is back
* a reader of the journal (`Tree.subscribe_changes`) makes it choose the telling form
* `TreeNode.set_port` makes a new one, since literals of ports are part of it
* live editing makes new ones for the whole tree: they depend on the number of children
* a class that overrides ``tick()`` never gets the specialised tick of its base
* scripts look their names up again after an entry was removed, a remapping added or an enumerator
  registered (`TypeRegistry.generation`)

Leaves with a function of the user behind them are specialised as well; the function is called with
everything in place: the statuses that it may look at are those that the general kernel would show.
A tree nested deeper than 256 nodes is refused when it is loaded or edited, so that no tick, watched
or not, can exhaust Python's stack of 1000 calls by itself.

`benchmarks/tree_conformance.py` compares both forms with BehaviorTree.CPP (with ``--transitions``
the nodes are logged, without it they are not); ``test_journal.py`` compares the telling form with
the general kernel; `benchmarks/tree_tick.py` measures.
"""

from behavior_tree.specialised import actions, controls, decorators, parallel

__all__ = ["actions", "controls", "decorators", "parallel"]
