# SPDX-License-Identifier: Apache-2.0
"""`RunControl`: an operator decides when the nodes of a tree begin, and what follows a failure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from behavior_tree.errors import BehaviorTreeError, LogicError
from behavior_tree.kernel.node import IDLE, RUNNING, TreeNode, select_kernels
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing
from behavior_tree.nodes.authoring import ConcurrentSequence
from behavior_tree.run_control.gates import Decision, Gates
from behavior_tree.run_control.values import write_value
from behavior_tree.shown_text import visible

_MOST_SHOWN = 5
"""Paths of nodes that a message names where none is like what was asked for."""


class RunControl(Closing):
    """Controls the runs of a tree that somebody else ticks, until it is closed.

    It begins in automatic mode, in which a tree ticks as without control, except that it waits
    where a failure would make it fail. All methods may be called from any thread; they wait for
    the end of a tick. Nodes are named by their path, or by a name that only one node has.

    Args:
        tree: to control; one `RunControl` at a time
        hold_failures: False: a failure is never waited at

    Raises:
        LogicError: the tree is controlled already
    """

    def __init__(self, tree: Tree, *, hold_failures: bool = True) -> None:
        self._tree = tree
        self._gates = Gates(tree, hold_failures)
        with tree.runtime.between_ticks():
            if tree.runtime.control is not None:
                raise LogicError("this tree has a RunControl already: use that one, or close it")
            tree.runtime.control = self._gates
            self._gates.look_again()
        self._stop_following = tree.subscribe_structure_change(self._restructured)

    # -- what is -----------------------------------------------------------------------------------

    @property
    def automatic(self) -> bool:
        """True while leaves begin by themselves."""
        return self._gates.automatic

    @property
    def held(self) -> list[str]:
        """Paths of the leaves that want to begin and may not: what `step` lets go."""
        return [node.full_path() for node in self._gates.wanting()]

    @property
    def stands(self) -> bool:
        """True if since the last tick the tree waits for an operator, and no leaf runs."""
        return self._gates.stands

    @property
    def failed(self) -> list[str]:
        """Paths of the nodes that have failed, at which the tree waits for a decision."""
        return [node.full_path() for node in self._gates.undecided()]

    @property
    def breakpoints(self) -> list[str]:
        """Paths of the nodes before which the tree stops, in the order of the tree."""
        marked = self._gates.breakpoints
        return [node.full_path() for node in self._tree.nodes() if node in marked]

    @property
    def concurrent(self) -> bool:
        """False: each list of concurrent layering does one child after the other."""
        return self._tree.runtime.concurrent

    # -- when leaves begin -------------------------------------------------------------------------

    def stop(self) -> None:
        """Manual mode: what runs goes on to its end, and no leaf begins before `step`."""
        with self._between_ticks():
            self._gates.automatic = False

    def go(self) -> None:
        """Automatic mode: leaves begin by themselves. A failure is still to be decided on."""
        with self._between_ticks() as gates:
            gates.automatic = True
            gates.released.update(gates.held)

    def step(self, node: str | None = None) -> list[str]:
        """Let the leaves begin that want to: all those that may run at once, or a single one.

        Args:
            node: one of `held`

        Returns:
            paths of these leaves; empty if none is held

        Raises:
            BehaviorTreeError: the node is not held
        """
        with self._between_ticks() as gates:
            chosen = gates.wanting()
            if node is not None:
                found = self._node(node)
                if found not in chosen:
                    raise BehaviorTreeError(_not_so(found, "does not wait to begin", self.held))
                chosen = [found]
            gates.released.update(chosen)
            return [each.full_path() for each in chosen]

    def add_breakpoint(self, node: str) -> None:
        """Stop whenever a node is about to begin, at the first leaf in it."""
        with self._between_ticks(node) as gates:
            gates.breakpoints[self._node(node)] = None

    def remove_breakpoint(self, node: str) -> None:
        """Stop there no more. Raises BehaviorTreeError if there is no breakpoint."""
        with self._between_ticks(node) as gates:
            found = self._node(node)
            if found not in gates.breakpoints:
                raise BehaviorTreeError(_not_so(found, "has no breakpoint", self.breakpoints))
            del gates.breakpoints[found]

    def set_value(self, place: str, text: str) -> None:
        """Write a blackboard entry; see `behavior_tree.run_control.values.write_value`."""
        write_value(self._tree, place, text)

    def run_to(self, node: str) -> None:
        """Go on by itself, and stop when this node is about to begin, once."""
        with self._between_ticks(node) as gates:
            gates.stop_before.add(self._node(node))
            gates.automatic = True
            gates.released.update(each for each in gates.held if each not in gates.stop_before)

    def stop_after(self, node: str) -> None:
        """Stop when this node has ended, once; the mode stays until then."""
        with self._between_ticks(node) as gates:
            gates.stop_after.add(self._node(node))

    def start_from(self, node: str) -> None:
        """Let the next run begin at this node, as if all before it had succeeded. What is around it
        begins as always, conditions included; what it needs on the blackboard must be there.

        Raises:
            LogicError: the tree runs
            BehaviorTreeError: what comes before is not defined by a node around it
        """
        with self._between_ticks() as gates:
            if self._tree.root_node().status is RUNNING or self.failed:
                raise LogicError("the tree runs: halt it, then begin elsewhere")
            gates.begin_at(self._node(node))

    def set_concurrent(self, concurrent: bool) -> None:
        """Let lists of concurrent layering do one child after the other, or what can at once."""
        with self._between_ticks():
            self._tree.runtime.concurrent = concurrent
            for node in self._tree.nodes():
                if isinstance(node, ConcurrentSequence):
                    node.look_again()

    # -- what follows a failure --------------------------------------------------------------------

    def retry(self, node: str | None = None) -> str:
        """Let what has failed run again; returns its path.

        Args:
            node: one of `failed`; the only one if left out

        Raises:
            BehaviorTreeError: it has not failed, or none has, or several have
        """
        return self._decide(Decision.RETRY, node)

    def skip(self, node: str | None = None) -> str:
        """Go on as if what has failed had succeeded; as `retry`. No script of it runs for that."""
        return self._decide(Decision.SKIP, node)

    def give_up(self, node: str | None = None) -> str:
        """Let the failure be one; as `retry`."""
        return self._decide(Decision.GIVE_UP, node)

    def reset_failures(self) -> list[str]:
        """Forget all failures and stop: what has failed is as if it had not begun, and is held.

        Returns:
            paths of these nodes
        """
        with self._between_ticks() as gates:
            paths = self.failed
            gates.automatic = False
            for node in gates.failed:
                node.reset_status()
            gates.failed.clear()
            return paths

    def _decide(self, decision: Decision, name: str | None) -> str:
        with self._between_ticks() as gates:
            undecided = gates.undecided()
            if name is None:
                if len(undecided) != 1:
                    count = "several have failed" if undecided else "nothing has failed"
                    raise BehaviorTreeError(f"{count}{_choice(self.failed)}")
                node = undecided[0]
            else:
                node = self._node(name)
            if node not in undecided:
                raise BehaviorTreeError(_not_so(node, "has not failed", self.failed))
            gates.failed[node] = decision
            return node.full_path()

    # -- the tree ----------------------------------------------------------------------------------

    def find(self, name: str) -> str:
        """Path of the node of this path, or of the only one of this name.

        Raises:
            BehaviorTreeError: there is none, or several have the name
        """
        return self._node(name).full_path()

    def close(self) -> None:
        """End the control: the tree ticks as before. Nothing happens if that is done.

        Raises:
            LogicError: the tree waits at a failure; decide, or halt the tree
        """
        runtime = self._tree.runtime
        with runtime.between_ticks():
            if runtime.control is not self._gates:
                return
            failed = self.failed
            if failed:
                raise LogicError(
                    f"the tree waits at the failure of '{failed[0]}': retry, skip or give up"
                )
            if self._gates.failed and self._tree.root_node().status is not IDLE:
                raise LogicError("what was decided on a failure is done in the next tick: tick")
            self._gates.close()
            runtime.control = None
            select_kernels(self._tree.nodes())
        self._stop_following()
        if not self.concurrent:
            self.set_concurrent(True)
        runtime.emit_wake_up()

    @contextmanager
    def _between_ticks(self, *stops: str) -> Iterator[Gates]:
        """Change the gates, and wake the tree. With ``stops`` what stops it changes."""
        with self._tree.runtime.between_ticks():
            if self._tree.runtime.control not in (self._gates, None):
                raise LogicError("this RunControl is closed: another one controls the tree")
            yield self._gates
            if stops:
                self._gates.look_again()
        self._tree.emit_wake_up()

    def _restructured(self, _change: StructureChange) -> None:
        self._gates.look_again()

    def _node(self, name: str) -> TreeNode:
        nodes = list(self._tree.nodes())
        found = [node for node in nodes if node.full_path() == name]
        found = found or [node for node in nodes if node.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            paths = dict.fromkeys(node.full_path() for node in found)
            raise BehaviorTreeError(
                f"several nodes have the path or name '{visible(name)}'{_choice(paths)}: give them "
                "names of their own"
            )
        paths = dict.fromkeys(node.full_path() for node in nodes)
        known = [*paths, *(str(node.name) for node in nodes)]
        close = difflib.get_close_matches(name, dict.fromkeys(known), n=3, cutoff=0.5)
        shown = close or list(paths)[:_MOST_SHOWN]
        raise BehaviorTreeError(f"no node has the path or name '{visible(name)}'{_choice(shown)}")


def _not_so(node: TreeNode, what: str, those: list[str]) -> str:
    return f"'{node.full_path()}' {what}{_choice(those)}"


def _choice(paths: Iterable[str]) -> str:
    listed = ", ".join(f"'{path}'" for path in paths)
    return f" (there are {listed})" if listed else ""
