# SPDX-License-Identifier: Apache-2.0
"""What a node is and how a tree of them is ticked, recorded, paused and saved.

* `node`: `TreeNode`, in layers: `node_state`, `port_access`, `node_kernel`, `py_trees_protocol`
* `leaf`: bases of actions and conditions
* `tree`, `runtime`: a whole tree, and what its nodes share
* `record`, `recorder`: what is written down in a tick, and who reads it
* `runner`, `saving`: pause and step, save and restore
"""
