# SPDX-License-Identifier: Apache-2.0
"""Ticks made for one node each: closures that hold what a general tick would look up.

A node's ``tick()`` says what it does; here the hot ones are written once more for the case that
nobody watches the node: no logger, no Groot2 client, no hook, no record of ticks. Then a tick may
store the status without telling anybody, so a completed tick of a Sequence of 36 leaves is 37 calls
of Python functions and nothing else. Each module here mirrors one of the same name in ``control``,
``decorators`` and ``actions``; `benchmarks/tree_conformance.py` compares both forms with
BehaviorTree.CPP (with ``--transitions`` the nodes are watched, without it they are not).

`TreeNode.select_kernel` takes a specialised tick when it may and another when it must:

* a watcher, hook or record that is attached makes it choose the general kernel, at once and only
  for the nodes concerned; one that goes brings the same specialised tick back
* `TreeNode.set_port` makes a new one, since literals of ports are part of it
* live editing changes the lists of children in place, which the ticks share
* a class that overrides ``tick()`` never gets the specialised tick of its base

Leaves with a function of the user behind them are specialised as well; the function is called with
everything in place: the statuses that it may look at are those that the general kernel would show.
"""

from behavior_tree.specialised import actions, controls, decorators, parallel

__all__ = ["actions", "controls", "decorators", "parallel"]
