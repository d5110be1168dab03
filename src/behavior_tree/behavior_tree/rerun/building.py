# SPDX-License-Identifier: Apache-2.0
"""`Rebuilder`: builds trees in which whatever needs the world does what a record says."""

from __future__ import annotations

from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.basic_types import NodeType
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.decider import register_decider_nodes
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.manifest import NodeBuilder
from behavior_tree.kernel.runtime import TreeRuntime
from behavior_tree.kernel.tree import Tree
from behavior_tree.nodes.authoring import AUTHORING_NODES
from behavior_tree.nodes.builtin_nodes import BUILTIN_NODES
from behavior_tree.nodes.decider import DECIDER_NODES
from behavior_tree.placeholders import register_placeholders
from behavior_tree.quirks import quirks_for
from behavior_tree.rerun.leaves import RecordedAction, RecordedCondition
from behavior_tree.rerun.parents import RecordedControl, RecordedDecorator

_STAND_INS: dict[NodeType, NodeBuilder] = {
    NodeType.ACTION: RecordedAction,
    NodeType.CONDITION: RecordedCondition,
    NodeType.CONTROL: RecordedControl,
    NodeType.DECORATOR: RecordedDecorator,
}
_LEAVES = (NodeType.ACTION, NodeType.CONDITION)
_OWN = {*AUTHORING_NODES, *DECIDER_NODES}
"""Types of the engine that a factory need not know. Their leaves, such as a Goto, need no world."""


class Clock:
    """Shows the time that it was given."""

    def __init__(self, now: float) -> None:
        self.now = now
        """[s]"""
        self.moment = now
        """The time for leaves, see `behavior_tree.rerun.history.apart` [s]."""

    def __call__(self) -> float:
        return self.now


class Rebuilder:
    """Makes trees of documents.

    Args:
        factory: knows control nodes and decorators; None: the engine's own
        clock: of the trees
        compat: as for `BehaviorTreeFactory`
    """

    def __init__(
        self, factory: BehaviorTreeFactory | None, clock: Clock, compat: str | None
    ) -> None:
        self._factory = _own_factory(compat) if factory is None else factory.fork()
        self._known = set(self._factory.manifests())
        self._clock, self._compat = clock, compat

    def build(self, xml: str) -> Tree:
        """The main tree of a document.

        Raises:
            LoadError: it cannot be built
        """
        factory = self._factory
        factory.clear_registered_behavior_trees()
        register_placeholders(factory, xml)
        factory.register_behavior_tree_from_text(xml)
        runtime = TreeRuntime(self._clock, quirks=quirks_for(self._compat), types=factory.types)
        builder = factory.builder(runtime)
        builder.substitute = self._stand_in
        root = builder.build(factory._default_tree(), Blackboard(types=factory.types))
        return Tree(root, builder.subtrees, runtime)

    def _stand_in(self, type_id: str, name: str, path: str) -> NodeBuilder | None:
        """What takes the place of a node; None: it is itself."""
        manifest = self._factory.manifests().get(type_id)
        if manifest is None or type_id in BUILTIN_NODES:
            return None
        is_known = type_id in self._known
        if is_known and (manifest.type not in _LEAVES or type_id in _OWN):
            return None
        return _STAND_INS.get(manifest.type)


def _own_factory(compat: str | None) -> BehaviorTreeFactory:
    factory = BehaviorTreeFactory(compat=compat)
    register_decider_nodes(factory)
    register_authoring_nodes(factory)
    return factory
