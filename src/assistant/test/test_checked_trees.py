# SPDX-License-Identifier: Apache-2.0
"""Which trees from outside are looked at further."""

from __future__ import annotations

import pytest
from assistant_kit import PICK, checker, tree

from behavior_assistant.checked_trees import (
    MOST_BYTES,
    MOST_ELEMENTS,
    MOST_PROBLEMS,
    UNSAFE_NODES,
    digest,
    name_mistake,
)


def test_a_good_tree_has_no_problems_and_names_its_nodes():
    found = checker().check(f"\n {PICK} ")
    assert found.problems == ()
    assert (found.main_tree, found.xml, found.digest) == ("Main", PICK, digest(PICK))
    assert {"Pick", "Main"} <= found.nodes


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no element found"),
        ("a tree that picks", "syntax error"),
        ("<root", "unclosed token"),
        (tree("<Fly/>"), "Node not recognized: Fly"),
        (tree("<Pick/>"), "object_name"),
        (tree('<Pick object_name="cup" speed="9"/>'), "speed"),
        (tree("<Sequence/>"), "Sequence"),
        ('<root BTCPP_format="4"/>', "no <BehaviorTree>"),
        (tree("<AlwaysSuccess/>") * 2, "junk after document element"),
        (tree('<SubTree ID="Elsewhere"/>'), "Elsewhere"),
        (tree('<SubTree ID="Main"/>'), "Main"),
        (tree('<Script code="x := ("/>'), "Script"),
        (f'<!DOCTYPE r [<!ENTITY a "b">]>{PICK}', "document type"),
        (tree("<AlwaysSuccess/>" + "x" * MOST_BYTES), "are the most"),
        (tree(f"<Sequence>{'<AlwaysSuccess/>' * MOST_ELEMENTS}</Sequence>"), str(MOST_ELEMENTS)),
        (tree("<Inverter>" * 300 + "<AlwaysSuccess/>" + "</Inverter>" * 300), "nest"),
        ("\ud800", "not Unicode"),
        (
            '<root BTCPP_format="4"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree>'
            '<BehaviorTree ID="B"><AlwaysSuccess/></BehaviorTree></root>',
            "main_tree_to_execute",
        ),
    ],
)
def test_what_is_wrong_is_told_in_words(text, why):
    found = checker().check(text)
    assert why in " ".join(found.problems)
    assert "/nowhere" not in " ".join(found.problems)


def test_all_problems_are_told_at_once_but_not_thousands():
    assert len(checker().check(tree("<Sequence><Fly/><Swim/></Sequence>")).problems) == 2
    many = checker().check(tree(f"<Sequence>{'<Fly/>' * 500}</Sequence>")).problems
    assert len(many) == MOST_PROBLEMS + 1
    assert many[-1] == f"and {500 - MOST_PROBLEMS} more"


@pytest.mark.parametrize(
    "inside",
    [
        "<SuppressCollisions/>",
        '<Action ID="SuppressCollisions"/>',
        '<MoveArm avoid_collisions="false"/>',
        '<MoveArm avoid_collisions="{entry}"/>',
        '<Sequence><Inverter><MoveArm avoid_collisions="0"/></Inverter></Sequence>',
    ],
)
def test_what_switches_a_protection_off_is_for_people(inside):
    assert len(checker().check(tree(inside)).problems) == 1


def test_a_protection_may_be_named_if_it_stays_on():
    assert not checker().check(tree('<MoveArm avoid_collisions="true"/>')).problems


def test_what_only_describes_an_unsafe_node_is_harmless():
    models = '<TreeNodesModel><Action ID="SuppressCollisions"/></TreeNodesModel>'
    assert not checker().check(tree("<AlwaysSuccess/>", models)).problems


def test_unsafe_nodes_are_not_offered():
    assert "Pick" in checker().manifests()
    assert not set(checker().manifests()) & set(UNSAFE_NODES)


@pytest.fixture
def offered(tmp_path):
    """A folder of a package's trees, with one that is included."""
    folder = tmp_path / "trees"
    (folder / "subtrees").mkdir(parents=True)
    (folder / "subtrees" / "part.xml").write_text(tree("<AlwaysSuccess/>").replace("Main", "Part"))
    (tmp_path / "secret.xml").write_text(PICK)
    return folder


def test_what_packages_offer_is_included_by_its_whole_path(offered):
    text = tree('<SubTree ID="Part"/>', '<include path="subtrees/part.xml"/>')
    found = checker(offered).check(text)
    assert found.problems == ()
    assert str(offered / "subtrees" / "part.xml") in found.xml
    again = checker(offered).check(found.xml)
    assert (again.problems, again.xml) == ((), found.xml)


@pytest.mark.parametrize(
    "include",
    [
        'path="/etc/passwd"',
        'path="../secret.xml"',
        'path="subtrees/../../secret.xml"',
        'path="subtrees/none.xml"',
        'path="subtrees"',
        'path=""',
        'ros_pkg="behavior_tree" path="subtrees/part.xml"',
        "",
    ],
)
def test_nothing_else_of_the_machine_is_included(offered, include):
    found = checker(offered).check(tree("<AlwaysSuccess/>", f"<include {include}/>"))
    assert "<include> takes only" in found.problems[0]


def test_a_link_out_of_the_folder_is_not_followed(offered):
    (offered / "link.xml").symlink_to(offered.parent / "secret.xml")
    found = checker(offered).check(tree("<AlwaysSuccess/>", '<include path="link.xml"/>'))
    assert found.problems


def test_names_of_missions_are_plain_and_new():
    assert name_mistake("pick_cup2") == ""
    assert "already" in name_mistake("pick", ["pick"])
    for name in ("", "Pick", "a b", "../x", "a/b", "1a", "a" * 65, "a\n"):
        assert "lower-case" in name_mistake(name)


def test_checking_leaves_nothing_behind():
    one = checker()
    before = set(one.factory.manifests())
    one.check(PICK)
    one.check(tree("<Fly/>", '<TreeNodesModel><Action ID="Fly"/></TreeNodesModel>'))
    assert one.factory.registered_behavior_trees() == []
    assert set(one.factory.manifests()) == before


def test_a_node_that_only_the_tree_itself_describes_is_none():
    described = tree("<Fly/>", '<TreeNodesModel><Action ID="Fly"/></TreeNodesModel>')
    assert "Fly" in " ".join(checker().check(described).problems)
