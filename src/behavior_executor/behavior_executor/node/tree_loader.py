# SPDX-License-Identifier: Apache-2.0
"""Makes the trees of missions, from the tree nodes of all managers and ROS interfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rclpy.node import Node

from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.missions.catalogue import EVERYTHING, MissionCatalogue, MissionEntry, Value
from behavior_executor.node.tree_nodes import (
    NodeContext,
    package_node_models,
    register_package_nodes,
)
from behavior_executor.running.preflight import Requirement, place_of
from behavior_executor.running.tree_run import TreeRun
from behavior_executor.scene.scene_manager import SceneManager
from behavior_ros import load_node_models, register_ros_nodes
from behavior_ros.leaves.needs import needs_of
from behavior_ros.leaves.node_models import NodeModelError
from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    Blackboard,
    Tree,
    write_tree_nodes_model_xml,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.decider import register_decider_nodes
from behavior_tree.sharing import SharedTree


class TreeLoader:
    """One factory, made anew on request."""

    def __init__(
        self,
        node: Node,
        *,
        managers: Sequence[BehaviorManager],
        nodes_file: str,
        clock: Callable[[], float],
        common: Mapping[str, Value],
        warn: Callable[[str], None],
        robot: str = "",
    ) -> None:
        """Make the factory.

        Args:
            node: through which tree nodes made from ROS interfaces talk.
            managers: register their tree nodes.
            nodes_file: tree nodes made from ROS interfaces; "*": those of packages; empty: none.
            clock: node time [s].
            common: values on the blackboard of every tree.
            warn: is given what is doubtful in a tree, for the log.
            robot: file that says which of its parts are commanded together; empty: none.

        Raises:
            ValueError: the robot's file is wrong.
            NodeModelError: the nodes file is wrong.
            OSError: it cannot be read.
        """
        self._node = node
        self._managers = managers
        self._nodes_file = nodes_file
        self._clock = clock
        self._common = common
        self._warn = warn
        self._parts = _resources(robot)
        self._factory = self._new_factory()

    @property
    def factory(self) -> BehaviorTreeFactory:
        """Knows the node types; another one after `reload`."""
        return self._factory

    def load(
        self, entry: MissionEntry, values: Mapping[str, Value], shared: SharedTree | None = None
    ) -> TreeRun:
        """The tree of a mission, from its file as it is now, or as it is being edited.

        Raises:
            BehaviorTreeError: it cannot be made.
            OSError: the file cannot be read.
        """
        self._factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        for key, value in {**self._common, **values}.items():
            blackboard.set(key, value)
        if shared is None:
            tree = self._factory.create_tree_from_file(entry.path, blackboard)
        else:
            tree = shared.create(self._factory, blackboard)
        for problem in self._factory.load_warnings():
            self._warn(str(problem))
        tree_id = entry.main_tree or entry.name
        return TreeRun(
            tree,
            tree_id=tree_id,
            requirements=self._requirements(tree),
            file=Path(entry.path),
        )

    def _requirements(self, tree: Tree) -> list[Requirement]:
        """What the nodes of a tree need of other nodes of ROS: as they tell, and the managers."""
        by_type = {key: needs for each in self._managers for key, needs in each.needs().items()}
        found = []
        for node in tree.nodes():
            for need in (*needs_of(node), *by_type.get(node.registration_id(), ())):
                found.append(
                    Requirement(
                        need.what,
                        need.ready,
                        node.full_path(),
                        place_of(node),
                        need.offered_by,
                        need.other_types,
                    )
                )
        return found

    def reload(self, catalogue: MissionCatalogue) -> list[str]:
        """Read the nodes file again and try every tree file; returns what is wrong with those.

        Trees are read from their files whenever a mission starts; this tells before one does.

        Raises:
            NodeModelError: the nodes file is wrong; the former one is still in force.
            OSError: it cannot be read; likewise.
        """
        self._factory = self._new_factory()
        problems = []
        for name in catalogue.names():
            entry = catalogue.find(name)
            self._factory.clear_registered_behavior_trees()
            try:
                self._factory.register_behavior_tree_from_file(entry.path)
            except (BehaviorTreeError, OSError, UnicodeDecodeError) as error:
                problems.append(f"{entry.path}: {error}")
        return problems

    def write_models(self, file: Path) -> None:
        """Write the models of all tree nodes, for Groot2.

        Raises:
            OSError: the file cannot be written.
        """
        file.write_text(
            write_tree_nodes_model_xml(self._factory.manifests().values()), encoding="utf-8"
        )

    def _new_factory(self) -> BehaviorTreeFactory:
        factory = BehaviorTreeFactory(clock=self._clock)
        factory.declare_resources(self._parts)
        register_decider_nodes(factory)
        register_authoring_nodes(factory)
        for manager in self._managers:
            manager.register_nodes(factory)
        scene = next((each for each in self._managers if isinstance(each, SceneManager)), None)
        context = NodeContext(node=self._node, scene=scene)
        register_package_nodes(factory, context, self._warn)
        if self._nodes_file:
            barriers = {k: v for each in self._managers for k, v in each.barriers().items()}
            if self._nodes_file == EVERYTHING:
                self._add_package_models(factory, barriers)
            else:
                models = load_node_models(self._nodes_file)
                register_ros_nodes(factory, self._node, models, barriers=barriers)
        return factory

    def _add_package_models(
        self, factory: BehaviorTreeFactory, barriers: Mapping[str, Callable[[Any], bool]]
    ) -> None:
        for models in package_node_models(factory.manifests(), self._warn):
            try:
                register_ros_nodes(factory, self._node, models, barriers=barriers)
            except NodeModelError as error:  # the models that fit are there
                self._warn(str(error))


def _resources(robot: str) -> dict[str, frozenset[str]]:
    """What is commanded together, as a robot's file says; nothing without one."""
    if not robot:
        return {}
    from behavior_motion.robot.robot_file import load_resources  # who only drives has no arms

    return load_resources(robot)
