# SPDX-License-Identifier: Apache-2.0
"""A short run of ``benchmarks/fuzz_tree_parsers.py``; the long ones are started by hand."""

import importlib.util
import random
import signal
from pathlib import Path

import pytest

from behavior_tree import BehaviorTreeFactory, LoadError
from behavior_tree.xml.key_types import KeyTypes
from behavior_tree.xml.loader import Loader

PROGRAM = Path(__file__).parents[3] / "benchmarks/fuzz_tree_parsers.py"


pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the package is tested alone")


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("fuzz_tree_parsers", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_type_conflicts_are_those_that_the_builder_finds(program):
    draw, conflicts = random.Random(4), 0
    for _ in range(120):
        documents = Loader(lambda: "M").load_text(program.grown(draw), Path.cwd())
        factory = BehaviorTreeFactory()
        walk = KeyTypes(factory.manifests(), documents.trees, documents.models)
        factory._register(documents, closed=True)
        for tree_id in documents.trees:
            found = {(problem.line, problem.column) for problem in walk.check(tree_id)}
            built = set()
            try:
                factory.create_tree(tree_id)
            except LoadError as error:
                built = {
                    (problem.line, problem.column)
                    for problem in error.problems
                    if "was initially created with type" in problem.message
                }
            assert found == built
            conflicts += len(built)
    assert conflicts > 5


@pytest.mark.slow
@pytest.mark.parametrize("target", ["XmlTarget", "ScriptTarget"])
def test_mutated_inputs_do_no_harm(program, target, tmp_path):
    kept = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGPROF)}
    program.watch()
    try:
        figures = program.fuzz(getattr(program, target)(), 3, tmp_path, inputs=100)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    assert figures["bad"] == 0, list(tmp_path.iterdir())
    assert len(figures["outcomes"]) > 1
