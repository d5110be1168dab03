# SPDX-License-Identifier: Apache-2.0
"""`HookTable`: breakpoints and replacements at the nodes of a running tree.

Nodes have callbacks only while there are hooks. They are put in place and taken away at the start
of a tick of the root, by the ticking thread, since a node must not change its way of execution
while it executes; for this the root has a callback as long as the table is open. Once the
callbacks are in place, hooks inserted later act at once, also in the middle of a tick.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import SKIPPED, PostTickHook, PreTickHook, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import Hook, HookKey, HookMode, Position, Unlock
from behavior_tree.monitoring.loggers.hash_order import HashOrder

_Callbacks = tuple[PreTickHook | None, PostTickHook | None]


class HookTable:
    """Hooks of one tree. All methods but `restructure` may be called from any thread.

    Args:
        tree: must not be ticking now
        reached: called by the ticking thread with the uid of a node whose hook acts
        detached: called by the ticking thread at its first tick after `close`
    """

    def __init__(
        self, tree: Tree, reached: Callable[[int], None], detached: Callable[[], None]
    ) -> None:
        self._tree = tree
        self._reached = reached
        self._detached = detached
        self._pre_only = tree.runtime.quirks.hooks_all_before_tick
        self._uids = {node.uid() for node in tree.nodes()}
        self._hooks: dict[HookKey, Hook] = {}
        self._orders: dict[Position, HashOrder[int]] = {
            position: HashOrder(_same) for position in Position
        }
        self._ready: set[HookKey] = set()
        self._changed = threading.Condition()
        self._closed = False
        self._installed: list[tuple[TreeNode, _Callbacks, _Callbacks]] = []  # ours, former ones
        self._hook_root()

    # -- requests -------------------------------------------------------------------------------

    def insert(self, hook: Hook) -> None:
        """Add a hook or change the one that is there; unknown nodes are ignored."""
        with self._changed:
            if self._closed or hook.uid not in self._uids:
                return
            before = self._hooks.get(hook.key)
            key = (hook.uid, Position.PRE) if self._pre_only else hook.key
            if key not in self._hooks:
                self._orders[key[1]].add(key[0])
            self._hooks[key] = replace(hook)
            if before is not None and before.mode is not hook.mode is HookMode.REPLACE:
                self._ready.add(key)
            self._changed.notify_all()

    def unlock(self, unlock: Unlock) -> None:
        """Let a node go on; a breakpoint that is not reached yet lets it pass next time.

        Raises:
            Groot2Error: no such hook
        """
        with self._changed:
            hook = self._existing(unlock.key)
            hook.desired_status = unlock.desired_status
            hook.once = hook.once or unlock.remove
            if hook.mode is HookMode.BREAKPOINT:
                self._ready.add(unlock.key)
                self._changed.notify_all()

    def remove(self, key: HookKey) -> None:
        """Remove a hook and let its node go on; raises Groot2Error if there is none."""
        with self._changed:
            self._existing(key)
            self._drop(key)
            self._changed.notify_all()

    def remove_all(self) -> None:
        """Remove all hooks and let waiting nodes go on."""
        with self._changed:
            for key in list(self._hooks):
                self._drop(key)
            self._changed.notify_all()

    def enable_all(self, enabled: bool) -> None:
        """Enable or disable all hooks; disabled ones let waiting nodes go on."""
        with self._changed:
            for hook in self._hooks.values():
                hook.enabled = enabled
            self._changed.notify_all()

    def dump(self) -> list[Hook]:
        """Copies of all hooks, those before ticks first, in upstream's order."""
        with self._changed:
            return [
                replace(self._hooks[uid, position])
                for position, order in self._orders.items()
                for uid in order
            ]

    def close(self) -> None:
        """Let all nodes go on for good; the next tick takes the callbacks away."""
        with self._changed:
            self._closed = True
            for key in list(self._hooks):
                self._drop(key)
            self._changed.notify_all()

    def _existing(self, key: HookKey) -> Hook:
        hook = self._hooks.get(key)
        if hook is None:
            raise Groot2Error("Node ID not found")
        return hook

    def _drop(self, key: HookKey) -> None:
        if self._hooks.pop(key, None) is not None:
            self._orders[key[1]].remove(key[0])
        self._ready.discard(key)

    # -- the ticking thread ---------------------------------------------------------------------

    def restructure(self) -> None:
        """Follow an edit of the tree, made between ticks: hooks of nodes that left are dropped."""
        self._detach()
        if self._tree.root_node() is not self._root:
            self._unhook_root()
            self._hook_root()
        with self._changed:
            self._uids = {node.uid() for node in self._tree.nodes()}
            for key in [key for key in self._hooks if key[0] not in self._uids]:
                self._drop(key)

    def _hook_root(self) -> None:
        self._root = self._tree.root_node()
        self._root_callback = self._root._pre_tick
        self._root.set_pre_tick(self._start_of_tick)

    def _unhook_root(self) -> bool:
        """False if somebody else has put another callback there since."""
        ours = self._root._pre_tick == self._start_of_tick
        if ours:
            self._root.set_pre_tick(self._root_callback)
        return ours

    def _start_of_tick(self, root: TreeNode) -> NodeStatus:
        if not (self._hooks or self._installed or self._closed or self._root_callback):
            return SKIPPED
        # First the callback found at the root: it may be of another table, which shall leave first.
        status = self._root_callback(root) if self._root_callback is not None else SKIPPED
        if self._hooks and not self._installed:
            self._attach(root)
        elif self._installed and not self._hooks:
            self._detach()
        if self._closed:
            if self._unhook_root():
                self._detached()
        elif self._installed and not status.completed:
            status = self._act((root.uid(), Position.PRE))
        return status

    def _attach(self, root: TreeNode) -> None:
        for node in self._tree.nodes():
            before: _Callbacks = (node._pre_tick, node._post_tick)
            if node is not root:
                node.set_pre_tick(self._before(node._pre_tick))
            node.set_post_tick(self._after(node._post_tick))
            self._installed.append((node, (node._pre_tick, node._post_tick), before))

    def _detach(self) -> None:
        """Put back what was there, except where somebody has put something else since."""
        for node, (pre, post), (pre_before, post_before) in self._installed:
            if node._pre_tick is pre and node is not self._root:
                node.set_pre_tick(pre_before)
            if node._post_tick is post:
                node.set_post_tick(post_before)
        self._installed.clear()

    def _before(self, own: PreTickHook | None) -> PreTickHook:
        def callback(node: TreeNode) -> NodeStatus:
            status = self._act((node.uid(), Position.PRE))
            return own(node) if own is not None and not status.completed else status

        return callback

    def _after(self, own: PostTickHook | None) -> PostTickHook:
        def callback(node: TreeNode, result: NodeStatus) -> NodeStatus:
            status = self._act((node.uid(), Position.POST))
            return own(node, result) if own is not None and not status.completed else status

        return callback

    def _act(self, key: HookKey) -> NodeStatus:
        """Apply the hook if there is one; SKIPPED leaves the node alone."""
        if key not in self._hooks:
            return SKIPPED
        with self._changed:
            hook = self._hooks.get(key)
            if hook is None or not hook.enabled:
                return SKIPPED
        self._reached(key[0])
        with self._changed:
            self._changed.wait_for(lambda: self._may_go_on(key))
            hook = self._hooks.get(key)
            self._ready.discard(key)
            if hook is None or not hook.enabled:
                return SKIPPED
            if hook.once:
                self._drop(key)
            return hook.desired_status

    def _may_go_on(self, key: HookKey) -> bool:
        hook = self._hooks.get(key)
        waits = hook is not None and hook.enabled and hook.mode is HookMode.BREAKPOINT
        return not waits or key in self._ready


def _same(uid: int) -> int:
    return uid
