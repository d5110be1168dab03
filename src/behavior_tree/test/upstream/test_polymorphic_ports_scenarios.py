# SPDX-License-Identifier: Apache-2.0
"""Ports of related classes: the scenarios of gtest_polymorphic_ports.cpp.

What upstream needs a registry of casts for is Python's ``isinstance``.
"""

from functools import partial

import pytest
from port_kit import giver, keeper

from behavior_tree import BidirectionalPort, Blackboard, BlackboardError, NodeStatus

covers = partial(pytest.mark.upstream, "gtest_polymorphic_ports.cpp")


class Animal:
    pass


class Cat(Animal):
    pass


class Sphynx(Cat):
    pass


class Dog(Animal):
    pass


def readable(value, *kinds):
    """Which of the kinds a stored value can be read as."""
    board = Blackboard.create()
    board.set("pet", value)
    good = []
    for kind in kinds:
        try:
            assert board.get_as("pet", kind) is value
            good.append(kind)
        except BlackboardError:
            pass
    return good


ALL = (Animal, Cat, Sphynx, Dog)


@pytest.mark.parametrize(
    ("kind", "as_kinds"),
    [
        pytest.param(
            *(Animal, [Animal]),
            marks=covers("PolymorphicPortTest.AnyCast_SameType"),
        ),
        pytest.param(
            *(Cat, [Animal, Cat]),
            marks=covers(
                "PolymorphicPortTest.AnyCast_Upcast",
                "PolymorphicPortTest.AnyCast_UnrelatedTypes",
                "PolymorphicPortTest.Blackboard_UpcastAndDowncast",
            ),
        ),
        pytest.param(
            *(Sphynx, [Animal, Cat, Sphynx]),
            marks=covers(
                "PolymorphicPortTest.AnyCast_TransitiveUpcast",
                "PolymorphicPortTest.Blackboard_TransitiveUpcast",
            ),
        ),
        pytest.param(
            *(Dog, [Animal, Dog]), marks=covers("PolymorphicPortTest.AnyCast_UnrelatedTypes")
        ),
    ],
)
def test_value_is_read_as_its_class_and_those_above(kind, as_kinds):
    assert readable(kind(), *ALL) == as_kinds


@covers("PolymorphicPortTest.AnyCast_DowncastWithRuntimeTypeCheck")
def test_entry_of_the_upper_class_holds_the_lower_one():
    board = Blackboard.create()
    board.create_entry("pet", Cat)
    board.set("pet", Sphynx())
    assert isinstance(board.get_as("pet", Sphynx), Sphynx)
    board.set("pet", Cat())
    with pytest.raises(BlackboardError):
        board.get_as("pet", Sphynx)


@pytest.mark.parametrize(
    ("declared", "made", "reader"),
    [
        pytest.param(*(Cat, Cat, Animal), marks=covers("PolymorphicPortTest.XML_ValidUpcast")),
        pytest.param(
            *(Sphynx, Sphynx, Animal), marks=covers("PolymorphicPortTest.XML_TransitiveUpcast")
        ),
        pytest.param(
            *(Animal, Cat, Cat), marks=covers("PolymorphicPortTest.XML_DowncastSucceedsAtRuntime")
        ),
    ],
)
def test_connected_ports_of_related_classes(mended, declared, made, reader):
    giver(mended, "Give", declared, made())
    own = keeper(mended, declared, "KeepDeclared")
    kept = keeper(mended, reader)
    mended.load(
        '<Sequence><Give value="{pet}"/><KeepDeclared value="{pet}"/><Keep value="{pet}"/>'
        "</Sequence>"
    )
    assert mended.run() == "S"
    assert own == kept
    assert isinstance(kept[0], made)


@covers("PolymorphicPortTest.XML_DowncastFailsAtRuntime")
def test_value_of_the_upper_class_is_not_the_lower_one(mended):
    giver(mended, "Give", Animal, Animal())
    kept = keeper(mended, Cat)
    mended.load('<Sequence><Give value="{pet}"/><Keep value="{pet}"/></Sequence>')
    assert "Cat" in mended.raises()
    assert kept == []


@covers("PolymorphicPortTest.XML_InvalidConnection_UnrelatedTypes")
def test_unrelated_classes_are_not_connected(ours):
    giver(ours, "Give", Cat, Cat())
    keeper(ours, Dog)
    message = ours.refuses('<Sequence><Give value="{pet}"/><Keep value="{pet}"/></Sequence>')
    assert "[pet]" in message


@covers("PolymorphicPortTest.XML_InoutRejectsTypeMismatch")
def test_port_that_also_writes_needs_the_same_class(ours):
    giver(ours, "Give", Cat, Cat())
    ours.factory.register_simple_action(
        "Change", lambda _: NodeStatus.SUCCESS, [BidirectionalPort("value", Animal)]
    )
    message = ours.refuses('<Sequence><Give value="{pet}"/><Change value="{pet}"/></Sequence>')
    assert "[pet]" in message
