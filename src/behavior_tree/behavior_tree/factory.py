# SPDX-License-Identifier: Apache-2.0
"""`BehaviorTreeFactory`: registers node types and trees, builds trees."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.collections_off import no_collections
from behavior_tree.errors import (
    BehaviorTreeError,
    LoadError,
    LogicError,
    XmlProblem,
)
from behavior_tree.kernel.claims import NO_PARTS, Parts
from behavior_tree.kernel.runtime import TreeRuntime
from behavior_tree.kernel.tree import Tree
from behavior_tree.node_types import NodeTypes
from behavior_tree.nodes.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.quirks import MENDED, quirks_for
from behavior_tree.xml.builder import TreeBuilder
from behavior_tree.xml.concurrency import concurrency_warnings
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import resolve_type, subtrees_below
from behavior_tree.xml.files import read_document
from behavior_tree.xml.key_types import KeyTypes
from behavior_tree.xml.lint import lint
from behavior_tree.xml.loader import (
    NO_SUCH_TREE,
    DocumentSet,
    Loader,
    PackageShare,
    SubTreePort,
    TreeDefinition,
    package_share,
    some_names,
)
from behavior_tree.xml.lone_change import is_lone_change
from behavior_tree.xml.networks import network_warnings
from behavior_tree.xml.recursion import recursion_problems
from behavior_tree.xml.resources import resource_problems
from behavior_tree.xml.substitution import (
    NodeOrNone,
    SubstitutionRule,
    matching_rule,
    rules_from_json,
)
from behavior_tree.xml.validator import Validator


class BehaviorTreeFactory(NodeTypes):
    """Node types and tree definitions, and the trees built from them.

    Args:
        clock: seconds, monotonic; all timing nodes use it, so a simulated clock works
        compat: None for this engine's semantics, ``"4.8"`` to copy BehaviorTree.CPP 4.8 with its
        defects; see `behavior_tree.quirks`
        strict: refuse a document for what is otherwise only a warning when it is loaded, such as a
            name that BehaviorTree.CPP 4.9 and later refuse
        package_share: from the name of a ROS package to its share directory, for
            ``<include ros_pkg="...">``; the default asks the ament index
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        compat: str | None = None,
        *,
        strict: bool = False,
        package_share: PackageShare = package_share,
    ) -> None:
        super().__init__(quirks_for(compat), strict=strict)
        self._clock = clock
        self._package_share = package_share
        self._trees: dict[str, TreeDefinition] = {}
        self._models: dict[str, dict[str, SubTreePort]] = {}
        self._node_models: dict[str, Element] = {}
        self._main_tree: str | None = None
        self._load_warnings: dict[XmlProblem, None] = {}
        self._auto_ids = 0
        self._rules: dict[str, SubstitutionRule] = {}
        self._parts: Parts = NO_PARTS

    def declare_resources(self, parts: Parts) -> None:
        """Say what names of ``commands`` stand for that are made of others.

        Leaves that command something of the same parts are not to run at once.

        Args:
            parts: such as ``{"both arms": frozenset({"left arm", "right arm"})}``; trees that are
                made from now on know it.
        """
        self._parts = dict(parts)

    # -- trees ----------------------------------------------------------------------------------

    def register_behavior_tree_from_file(self, filename: str | Path) -> None:
        """Register the trees of a file and its includes, replacing those of the same ID.

        Raises:
            LoadError: with all problems; the factory stays as it was
        """
        with no_collections():
            self._register(self._loader().load_file(Path(filename)), closed=False)

    def register_behavior_tree_from_text(self, xml_text: str) -> None:
        """`register_behavior_tree_from_file` for a string; includes are relative to the working
        directory.
        """
        with no_collections():
            self._register(self._loader().load_text(xml_text, Path.cwd()), closed=False)

    def registered_behavior_trees(self) -> list[str]:
        """IDs of all registered trees, sorted."""
        return sorted(self._trees)

    def clear_registered_behavior_trees(self) -> None:
        """Forget all trees."""
        self._trees.clear()
        self._models.clear()
        self._node_models.clear()
        self._load_warnings.clear()
        self._main_tree = None

    def subtree_ports(self, tree_id: str) -> dict[str, SubTreePort]:
        """Ports of a tree as a ``<TreeNodesModel>`` describes them; empty if none does."""
        return dict(self._models.get(tree_id, {}))

    def load_warnings(self) -> list[XmlProblem]:
        """What was read but hardly does what was meant, in all registered trees.

        Nodes that are never ticked, trees that are never used, trees that replace others of the
        same file, atomic parts below nodes that know nothing of locks, a missing ``BTCPP_format``,
        files of version 3.
        """
        found = [
            *self._load_warnings,
            *lint(self._trees, self._manifests, self._main_tree),
            *network_warnings(self._trees, self._manifests),
            *concurrency_warnings(self._trees, self._manifests),
        ]
        return sorted(found, key=_place)

    def create_tree(
        self, tree_name: str | None = None, blackboard: Blackboard | None = None
    ) -> Tree:
        """Build a registered tree.

        Args:
            tree_name: its ID; None for ``main_tree_to_execute``, or the only tree
            blackboard: becomes the root blackboard; a new one if None

        Raises:
            LoadError: no such tree, or problems found while building
        """
        tree_id = tree_name or self._default_tree()
        if tree_id not in self._trees:
            raise _load_error(f"{NO_SUCH_TREE}{tree_id}", f"registered: {self._known_trees()}")
        if self._quirks.unused_trees_unchecked:
            self._check_used_trees(tree_id)
        with no_collections():
            return self._create(tree_id, blackboard)

    def _create(self, tree_id: str, blackboard: Blackboard | None) -> Tree:
        runtime = TreeRuntime(
            self._clock, quirks=self._quirks, types=self._types, parts=self._parts
        )
        board = blackboard if blackboard is not None else Blackboard(types=self._types)
        above: Blackboard | None = board
        while above is not None:
            above.types = self._types
            above = above.parent
        builder = self.builder(runtime)
        root = builder.build(tree_id, board)
        tree = Tree(root, builder.subtrees, runtime)
        tree.manifests = self.manifests()
        return tree

    def builder(self, runtime: TreeRuntime) -> TreeBuilder:
        """Builder of one tree, or of nodes to be added to one, from what is registered."""
        return TreeBuilder(
            self._manifests,
            self._builders,
            self._trees,
            self._models,
            self._types,
            runtime,
            self._substitute if self._rules else None,
        )

    def check_tree(self, tree_id: str, element: Element) -> list[XmlProblem]:
        """All problems of a ``<BehaviorTree>`` element against what is registered."""
        validator = self._validator(self._trees, self._models, closed=True, structure_only=False)
        definition = TreeDefinition(tree_id, element)
        problems = validator.check(definition)
        trees = {**self._trees, tree_id: definition}
        return problems or resource_problems(trees, self._manifests, self._parts)

    def create_tree_from_text(self, text: str, blackboard: Blackboard | None = None) -> Tree:
        """Register the trees of a string and build its main tree."""
        with no_collections():
            return self._create_from(self._loader().load_text(text, Path.cwd()), blackboard)

    def create_tree_from_file(
        self, file_path: str | Path, blackboard: Blackboard | None = None
    ) -> Tree:
        """Register the trees of a file and its includes, and build its main tree."""
        with no_collections():
            return self._create_from(self._loader().load_file(Path(file_path)), blackboard)

    def _create_from(self, documents: DocumentSet, blackboard: Blackboard | None) -> Tree:
        kept = dict(self._trees), dict(self._models), self._main_tree
        if self._quirks.text_trees_unregistered:
            self._trees, self._models, self._main_tree = {}, {}, None
        try:
            return self._register_and_create(documents, blackboard)
        finally:
            if self._quirks.text_trees_unregistered:
                self._trees, self._models, self._main_tree = kept

    def _register_and_create(self, documents: DocumentSet, blackboard: Blackboard | None) -> Tree:
        own = documents.own_trees
        tree_id = documents.main_tree or (own[0] if len(own) == 1 else None)
        self._register(documents, closed=True, more=self._undecided(documents, tree_id))
        if documents.main_tree == "" and self._quirks.names_unchecked:
            raise _load_error(NO_SUCH_TREE, "name it")
        return self.create_tree(tree_id, blackboard)

    def _undecided(self, documents: DocumentSet, tree_id: str | None) -> list[XmlProblem]:
        """Why it is not known which tree of the documents to build."""
        root, trees = documents.root, documents.trees
        if root is None or documents.incomplete or documents.problems:
            return []  # told already
        if not trees:
            remedy = 'write <BehaviorTree ID="...">'
            return [root.problem("the document defines no tree", remedy)]
        if tree_id is None and self._main_tree is None and len(trees) > 1:
            remedy = f'write <root main_tree_to_execute="..."> with one of: {some_names(trees)}'
            return [root.problem("[main_tree_to_execute] was not specified correctly", remedy)]
        return []

    def check_file(self, file_path: str | Path) -> list[XmlProblem]:
        """All problems of a file and its includes, whichever of its trees were built.

        The trees of a file without problems are registered, so that `load_warnings` tells of them.
        """
        return self._problems(self._loader().load_file(Path(file_path)))

    def _problems(self, documents: DocumentSet) -> list[XmlProblem]:
        try:
            self._register(documents, closed=True)
        except LoadError as error:
            return list(error.problems)
        problems: list[XmlProblem] = []
        for tree_id in documents.trees:
            try:
                self.create_tree(tree_id)
            except LoadError as error:
                problems.extend(error.problems)
        return problems

    def check_documents(
        self,
        file_path: Path,
        contents: Mapping[Path, bytes],
        roots: Mapping[Path, Element] | None = None,
        retagged: Iterable[tuple[Element, Element]] | None = None,
    ) -> tuple[DocumentSet, list[XmlProblem]]:
        """A file and its includes, and all their problems, if some files had these contents.

        The factory stays as it was. Trees that it knows from these files do not count.

        Args:
            file_path: the first file
            contents: of files; others are read
            roots: root elements of files that an editor has read already
            retagged: nodes before and after a change, if the files had no problem before and
                nothing has changed but attributes of these
        """
        known = {Path(os.path.realpath(file)): data for file, data in contents.items()}

        def read(path: Path) -> bytes:
            data = known.get(Path(os.path.realpath(path)))
            return read_document(path) if data is None else data

        trees, models, nodes = self._trees, self._models, self._node_models
        warnings, main_tree = self._load_warnings, self._main_tree
        try:
            named = {str(file): root for file, root in (roots or {}).items()}
            documents = self._loader(read, named).load_file(Path(file_path))
            if retagged is not None and self._still_good(documents, retagged):
                return documents, []
            self._trees = {
                tree_id: definition
                for tree_id, definition in self._trees.items()
                if definition.element.source.file not in documents.files
            }
            return documents, self._problems(documents)
        finally:
            self._trees, self._models, self._node_models = trees, models, nodes
            self._load_warnings, self._main_tree = warnings, main_tree

    def _still_good(
        self, documents: DocumentSet, retagged: Iterable[tuple[Element, Element]]
    ) -> bool:
        """Whether changes can be seen to be good without looking at other nodes; False: they may
        be, or not.
        """
        if documents.problems or self._rules or self._quirks is not MENDED:
            return False
        validator = self._validator(
            documents.trees, documents.models, closed=True, structure_only=False
        )
        builder = self.builder(TreeRuntime(self._clock, quirks=self._quirks, types=self._types))
        for before, after in retagged:
            manifest = self._manifests.get(resolve_type(after) or "")
            if (
                manifest is None
                or after.tag == "SubTree"
                or not is_lone_change(before, after, manifest)
                or not validator.is_good(after)
                or not builder.takes_alone(after)
            ):
                return False
        return True

    def adopt(self, documents: DocumentSet) -> None:
        """Know the trees of documents that `check_documents` has found to be good, and no other."""
        self._trees, self._models = dict(documents.trees), dict(documents.models)
        self._node_models, self._main_tree = dict(documents.node_models), documents.main_tree
        self._load_warnings = dict.fromkeys(documents.warnings)

    def fork(self) -> BehaviorTreeFactory:
        """A factory with the same node types, values and rules, and no trees; what either gets
        later the other does not, except converters and scripting enums.
        """
        other = copy.copy(self)
        other._manifests, other._builders = dict(self._manifests), dict(self._builders)
        other._trees, other._models, other._node_models = {}, {}, {}
        other._rules, other._load_warnings, other._main_tree = dict(self._rules), {}, None
        return other

    def _loader(
        self,
        read: Callable[[Path], bytes] = read_document,
        roots: Mapping[str, Element] | None = None,
    ) -> Loader:
        return Loader(
            self._auto_id,
            read=read,
            roots=roots,
            check_format=not self._quirks.any_btcpp_format,
            check_names=not self._quirks.names_unchecked,
            share=self._package_share,
        )

    def _auto_id(self) -> str:
        tree_id = f"BehaviorTree_{self._auto_ids}"
        self._auto_ids += 1
        return tree_id

    def _register(
        self, documents: DocumentSet, *, closed: bool, more: Iterable[XmlProblem] = ()
    ) -> None:
        trees = {**self._trees, **documents.trees}
        models = {**self._models, **documents.models}
        node_models = {**self._node_models, **documents.node_models}
        late = self._quirks.unused_trees_unchecked
        complete = closed and not late and not documents.incomplete
        validator = self._validator(trees, models, closed=complete, structure_only=late)
        validator.node_models = node_models
        problems = [*documents.problems, *more]
        if self._strict:
            problems.extend(replace(each, severity="error") for each in documents.warnings)
        for definition in (*documents.trees.values(), *(documents.replaced if late else ())):
            problems.extend(validator.check(definition))
        if complete:
            problems.extend(documents.missing_main_tree(trees))
        if not late:
            problems.extend(recursion_problems(trees))
            problems.extend(resource_problems(trees, self._manifests, self._parts))
        if problems and not late:  # else the builder finds them
            problems.extend(self._type_conflicts(trees, models))
            builder = self.builder(TreeRuntime(self._clock, quirks=self._quirks, types=self._types))
            for definition in documents.trees.values():
                problems.extend(builder.refused_nodes(definition, validator.faulty))
        _raise_sorted(problems)
        self._trees = trees
        self._models = models
        self._node_models = node_models
        kept = [each for each in self._load_warnings if each.file not in documents.files]
        self._load_warnings = dict.fromkeys([*kept, *documents.warnings, *validator.warnings])
        if self._main_tree is None:
            self._main_tree = documents.main_tree

    def _type_conflicts(
        self, trees: dict[str, TreeDefinition], models: dict[str, dict[str, SubTreePort]]
    ) -> list[XmlProblem]:
        """Those of the trees that no other tree uses, then of what these do not lead to."""
        used = {name for tree in trees.values() for name in subtrees_below(tree.element)}
        walk = KeyTypes(self._manifests, trees, models)
        problems: list[XmlProblem] = []
        for tree_id in sorted(trees, key=used.__contains__):
            if tree_id not in walk.seen:
                problems.extend(walk.check(tree_id))
        return problems

    def _validator(
        self,
        trees: dict[str, TreeDefinition],
        models: dict[str, dict[str, SubTreePort]],
        *,
        closed: bool,
        structure_only: bool,
    ) -> Validator:
        return Validator(
            self._manifests,
            self._types,
            self._quirks,
            models,
            trees,
            closed,
            self._strict,
            structure_only,
        )

    def _check_used_trees(self, tree_id: str) -> None:
        """Full check of a tree and the SubTrees it reaches."""
        validator = self._validator(self._trees, self._models, closed=True, structure_only=False)
        problems: list[XmlProblem] = []
        todo, seen = [tree_id], {tree_id}
        while todo:
            definition = self._trees[todo.pop()]
            problems.extend(validator.check(definition))
            for used in subtrees_below(definition.element):
                if used in self._trees and used not in seen:
                    seen.add(used)
                    todo.append(used)
        _raise_sorted(problems)

    def _default_tree(self) -> str:
        if self._main_tree is not None:
            return self._main_tree
        if len(self._trees) == 1:
            return next(iter(self._trees))
        raise _load_error(
            "[main_tree_to_execute] was not specified correctly",
            f"name the tree to create, one of: {self._known_trees()}",
        )

    def _known_trees(self) -> str:
        return some_names(self._trees)

    # -- substitution ---------------------------------------------------------------------------

    def add_substitution_rule(self, pattern: str, rule: SubstitutionRule) -> None:
        """Build other nodes where ``pattern`` matches a node's name, type or (with ``*``, ``?``)
        full path.

        Args:
            pattern: which nodes; the first rule that matches counts
            rule: ID of a registered node type, a `TestNodeConfig`, or a function that makes the
                node from its name and configuration, or gives None where it shall stay
        """
        self._rules[pattern] = rule

    def load_substitution_rules_from_json(self, text: str) -> None:
        """Add the rules of a JSON document; see `behavior_tree.xml.substitution`."""
        self._rules.update(rules_from_json(text))

    def clear_substitution_rules(self) -> None:
        """Build all nodes as the XML says again."""
        self._rules.clear()

    def substitution_rules(self) -> dict[str, SubstitutionRule]:
        """The rules, in the order in which they are tried."""
        return dict(self._rules)

    def _substitute(self, registration_id: str, name: str, path: str) -> NodeOrNone | None:
        rule = matching_rule(self._rules, registration_id, name, path)
        if rule is None:
            return None
        if isinstance(rule, TestNodeConfig):
            return lambda node_name, config: TestNode(node_name, config, rule)
        if not isinstance(rule, str):
            return rule
        builder = self._builders.get(rule)
        if builder is None:
            raise LogicError(
                f"substitution rule for '{path}' names the node type [{rule}], which is not "
                f"registered"
            )
        return builder


def _raise_sorted(problems: list[XmlProblem]) -> None:
    if problems:
        raise LoadError(sorted(dict.fromkeys(problems), key=_place))


def _place(problem: XmlProblem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column


def _load_error(message: str, remedy: str) -> BehaviorTreeError:
    return LoadError([XmlProblem("behavior tree", 0, 0, "", message, remedy)])
