# SPDX-License-Identifier: Apache-2.0
"""A program written for the binding of BehaviorTree.CPP runs on ours with the import changed."""

import inspect
import re

import pytest

pytest.importorskip("behaviortreepy")

import behaviortreepy as upstream
from binding_programs import PROGRAMS, TREE
from conformance_kit import silence

import behavior_tree as ours

NAMES = sorted(n for n in dir(upstream) if not n.startswith("_") and n != "importlib")
CLASSES = [name for name in NAMES if isinstance(getattr(upstream, name), type)]
METHODS = [
    (name, method)
    for name in CLASSES
    for method in sorted(dir(getattr(upstream, name)))
    if not method.startswith("_")
]
ENUMERATIONS = ("NodeStatus", "NodeType", "PortDirection")
INSTANCE_ATTRIBUTES = {"name", "status", "blackboard", "value"}
"""Ours are set when the object is made, not on the class."""


def tree():
    return ours.BehaviorTreeFactory().create_tree_from_text(TREE % "<AlwaysSuccess/>")


def instance(name):
    """An object of our class of this name, or a node."""
    return ours.NodeConfig() if name == "NodeConfig" else tree().root_node()


def parameters(doc):
    """Names and whether they may be left out, from the first line that pybind11 writes."""
    text = re.search(r"\((.*)\) ->", doc.splitlines()[0])[1]
    found = []
    for part in re.findall(r"(\w+): [^,()=\[\]]+(?:\[[^\]]*\])?( = [^,]+)?", text):
        found.append((part[0], bool(part[1])))
    return [each for each in found if each[0] != "self"]


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    mine, theirs = getattr(ours, name), getattr(upstream, name)
    assert isinstance(mine, type) == isinstance(theirs, type)
    assert callable(mine) == callable(theirs)
    assert name in ours.__all__


@pytest.mark.parametrize("name", CLASSES)
def test_class_hierarchy(name):
    mine = [base.__name__ for base in getattr(ours, name).__mro__]
    for base in getattr(upstream, name).__mro__:
        if base.__module__.startswith("behaviortreepy"):
            assert {base.__name__, "FileLogger"} & {*mine, name}


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_methods_and_their_parameters(name, method):
    theirs = getattr(getattr(upstream, name), method)
    if name in ENUMERATIONS:
        if method in {"name", "value"}:
            for each in getattr(upstream, name).__members__.values():
                assert getattr(getattr(ours, name)(int(each)), method) == getattr(each, method)
        else:
            assert getattr(getattr(ours, name), method).value == theirs.value
        return
    mine = getattr(getattr(ours, name), method, None)
    if mine is None or method in INSTANCE_ATTRIBUTES:
        assert method in INSTANCE_ATTRIBUTES
        assert hasattr(instance(name), method)
        return
    if not callable(theirs):
        return
    wanted = parameters(theirs.__doc__)
    known = list(inspect.signature(mine).parameters.values())
    known = [each for each in known if each.name != "self"]
    assert len(known) >= len(wanted)
    for (theirs_name, optional), parameter in zip(wanted, known, strict=False):
        if not re.fullmatch(r"arg\d+", theirs_name):
            assert parameter.name == theirs_name
        assert not optional or parameter.default is not inspect.Parameter.empty
    for extra in known[len(wanted) :]:
        assert extra.default is not inspect.Parameter.empty


@pytest.mark.parametrize("name", ["FileLogger", "StdCoutLogger", "Groot2Publisher"])
def test_constructors(name):
    wanted = parameters(getattr(upstream, name).__init__.__doc__)
    known = list(inspect.signature(getattr(ours, name)).parameters)
    assert known[: len(wanted)] == [each for each, _ in wanted]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_see_the_same(program):
    with silence():
        theirs, mine = program(upstream), program(ours)
    assert mine == theirs
