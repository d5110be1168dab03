# SPDX-License-Identifier: Apache-2.0
"""Missions as behavior trees: what runs, what waits, how it ends.

The node is in :mod:`behavior_executor.node.executor_node`, the client side in
:mod:`behavior_executor.client`, the base class of managers in
:mod:`behavior_executor.managers.manager`.

A mission is a tree file (:mod:`~behavior_executor.missions.catalogue`). One runs at a time
(:mod:`~behavior_executor.missions.mission_queue`); :mod:`~behavior_executor.core` ticks its tree
and ends it for one clear reason; :mod:`~behavior_executor.running.tree_run` watches one tree.
"""
