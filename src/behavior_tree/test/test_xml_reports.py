# SPDX-License-Identifier: Apache-2.0
"""All problems of a document set in one report; warnings apart from errors."""

# ruff: noqa: E501

import pytest
from tree_kit import Rig, xml

from behavior_tree import BehaviorTreeFactory, InputPort, LoadError, NodeStatus, SyncActionNode


def report(text, factory=None):
    with pytest.raises(LoadError) as caught:
        (factory or BehaviorTreeFactory()).create_tree_from_text(text)
    return [problem.message for problem in caught.value.problems]


def warnings(text, main=True):
    factory = BehaviorTreeFactory()
    factory.register_simple_action("A", lambda node: NodeStatus.SUCCESS)
    if main:
        factory.create_tree_from_text(text)
    else:
        factory.register_behavior_tree_from_text(text)
    return [
        (problem.path.rsplit("/", 1)[-1], problem.message) for problem in factory.load_warnings()
    ]


def test_files_and_kinds_of_mistakes_come_in_one_report(tmp_path):
    (tmp_path / "broken.xml").write_text("<root BTCPP_format='4'><BehaviorTree>")
    (tmp_path / "types.xml").write_text(
        "<root BTCPP_format='4'><BehaviorTree ID='Types'><Sequence>"
        "<NeedsInt v='{p}'/><NeedsList v='{p}'/></Sequence></BehaviorTree></root>"
    )
    (tmp_path / "main.xml").write_text(
        "<root BTCPP_format='4' main_tree_to_execute='Main'><include path='broken.xml'/>"
        "<include path='types.xml'/><BehaviorTree ID='Main'><Sequence><SubTree ID='Loop'/>"
        "<SubTree ID='InTheBrokenFile'/><Sleep msec='soon'/><SubTree ID='Types' name='t' p='{q}'/>"
        "<SubTree ID='Types' name='t'/></Sequence></BehaviorTree>"
        "<BehaviorTree ID='Loop'><SubTree ID='Main'/></BehaviorTree></root>"
    )
    factory = BehaviorTreeFactory()
    for name, kind in (("NeedsInt", int), ("NeedsList", list)):
        factory.register_simple_action(
            name, lambda node: NodeStatus.SUCCESS, [InputPort("v", kind)]
        )
    with pytest.raises(LoadError) as caught:
        factory.create_tree_from_file(tmp_path / "main.xml")
    found = [(p.file.rsplit("/", 1)[1], p.message) for p in caught.value.problems]
    wanted = [
        ("broken.xml", "no element found"),
        ("main.xml", "can not be converted"),
        ("main.xml", "Duplicate SubTree path"),
        ("main.xml", "Main -> Loop -> Main"),
        ("types.xml", "initially created with type [int] and, later type [list]"),
    ]
    assert len(found) == len(wanted)
    for (file, message), (where, words) in zip(found, wanted, strict=True):
        assert file == where
        assert words in message
    assert all(p.line and p.column for p in caught.value.problems)
    assert factory.registered_behavior_trees() == []


def test_what_a_class_refuses_is_in_the_same_report():
    class Picky(SyncActionNode):
        def __init__(self, name, config):
            super().__init__(name, config)
            raise ValueError(f"{name} is no name")

    factory = BehaviorTreeFactory()
    factory.register_node_type(Picky, "Picky")
    found = report(
        '<root BTCPP_format="4" main_tree_to_execute="Nain"><BehaviorTree ID="Main"><Sequence>'
        '<Nope/><Picky name="a"/><Inverter/><SubTree ID="Gone"/></Sequence></BehaviorTree>'
        '<BehaviorTree ID="Spare"><Picky name="b"/></BehaviorTree></root>',
        factory,
    )
    wanted = ["name: Nain", "recognized: Nope", "a is no name", "exactly 1 child", "name: Gone"]
    for message, words in zip(found, [*wanted, "b is no name"], strict=True):
        assert words in message
    both = xml('<Sequence><Picky name="a"/><Picky name="b"/></Sequence>')
    assert len(report(both, factory)) == 2


def test_which_tree_is_meant_is_in_the_same_report():
    trees = "".join(f'<BehaviorTree ID="{each}"><Nope/></BehaviorTree>' for each in "AB")
    found = report(f'<root BTCPP_format="4">{trees}</root>')
    assert len(found) == 3
    assert "main_tree_to_execute" in found[0]


def test_an_id_that_was_made_up_is_not_told():
    many = "<Sequence><Nope/><NeedsInt v='{p}'/><NeedsList v='{p}'/><Picky/></Sequence>"
    for body in ("", many, "<Sequence><AlwaysFailure/><AlwaysSuccess/></Sequence>"):
        factory = BehaviorTreeFactory(strict=True)
        for name, kind in (("NeedsInt", int), ("NeedsList", list)):
            factory.register_simple_action(
                name, lambda node: NodeStatus.SUCCESS, [InputPort("v", kind)]
            )
        text = f'<root BTCPP_format="4"><BehaviorTree>{body}</BehaviorTree></root>'
        try:
            factory.create_tree_from_text(text)
        except LoadError as error:
            found = error.problems
        else:
            found = factory.load_warnings()
        assert found
        assert all(each.path.split("/")[0] == "BehaviorTree" for each in found)
        assert "BehaviorTree_" not in str(LoadError(found))


def test_strict_refuses_what_is_a_warning_otherwise():
    text = '<root><BehaviorTree ID="A B"><AlwaysSuccess/></BehaviorTree></root>'
    factory = BehaviorTreeFactory()
    factory.create_tree_from_text(text)
    assert len(factory.load_warnings()) == 2
    assert len(report(text, BehaviorTreeFactory(strict=True))) == 2


@pytest.mark.parametrize(
    ("body", "unreached"),
    [
        ("<Sequence><A/><AlwaysFailure name='f'/><A name='x'/><A/></Sequence>", "x"),
        ("<Fallback><AlwaysSuccess/><A name='x'/></Fallback>", "x"),
        (
            "<Sequence><KeepRunningUntilFailure><A/></KeepRunningUntilFailure><A name='x'/></Sequence>",
            "x",
        ),
        (
            "<Sequence><Inverter><ForceSuccess><A/></ForceSuccess></Inverter><A name='x'/></Sequence>",
            None,  # A may be SKIPPED
        ),
        (
            "<Fallback><Sequence><Sleep msec='1'/><Script code='a:=1'/></Sequence><A name='x'/></Fallback>",
            "x",
        ),
        (
            "<Sequence><Repeat num_cycles='-1'><AlwaysSuccess/></Repeat><A name='x'/></Sequence>",
            "x",
        ),
        (
            "<Sequence><Repeat num_cycles='3'><AlwaysSuccess/></Repeat><A name='x'/></Sequence>",
            None,
        ),
        ("<Sequence><AlwaysFailure _skipIf='1'/><A name='x'/></Sequence>", None),
        ("<Sequence><AlwaysFailure _onFailure='a:=1'/><A name='x'/></Sequence>", "x"),
        ("<IfThenElse><AlwaysSuccess/><A/><A name='x'/></IfThenElse>", "x"),
        ("<WhileDoElse><A/><A/><A name='x'/></WhileDoElse>", None),
        ("<TryCatch><AlwaysSuccess/><A name='x'/></TryCatch>", "x"),
        ("<Sequence><SubTree ID='Fails'/><A name='x'/></Sequence>", "x"),
        ("<Sequence><Fallback><A/><AlwaysFailure/></Fallback><A name='x'/></Sequence>", None),
        ("<Parallel><AlwaysFailure/><A name='x'/></Parallel>", None),
    ],
)
def test_nodes_that_no_tick_reaches(body, unreached):
    more = "<BehaviorTree ID='Fails'><AlwaysFailure/></BehaviorTree>"
    found = [where for where, message in warnings(xml(body, more)) if "never ticked" in message]
    assert found == ([] if unreached is None else [unreached])


def test_unused_replaced_and_unversioned():
    found = warnings(
        "<root main_tree_to_execute='M'><BehaviorTree ID='M'><A/></BehaviorTree>"
        "<BehaviorTree ID='Spare'><A/></BehaviorTree>"
        "<BehaviorTree ID='M'><SubTree ID='Used'/></BehaviorTree>"
        "<BehaviorTree ID='Used'><A/></BehaviorTree></root>"
    )
    assert [message.split(" ")[:2] for _, message in found] == [
        ["BTCPP_format", "is"],
        ["tree", "'Spare'"],
        ["tree", "'M'"],
    ]
    library = "<root BTCPP_format='4'><BehaviorTree ID='M'><A/></BehaviorTree></root>"
    assert warnings(library, main=False) == []


def test_a_warning_says_that_it_is_one():
    rig = Rig()
    rig.tree("<Sequence><AlwaysFailure/><AlwaysSuccess/></Sequence>")
    (warning,) = rig.factory.load_warnings()
    assert str(warning).startswith("<text>:1:")
    assert "] warning: this node is never ticked, because <AlwaysFailure> in line 1" in str(warning)


def test_a_described_but_unregistered_type_is_told_apart():
    body = xml("<Fly/>", '<TreeNodesModel><Action ID="Fly"/></TreeNodesModel>')
    with pytest.raises(LoadError, match="only describes it: register it"):
        BehaviorTreeFactory().create_tree_from_text(body)


def test_injected_package_resolver_and_absolute_paths(tmp_path):
    file = tmp_path / "a.xml"
    file.write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>'
    )

    def share(package):
        if package != "mine":
            raise LookupError(f"no package {package}")
        return tmp_path

    factory = BehaviorTreeFactory(package_share=share)
    include = '<root BTCPP_format="4"><include ros_pkg="{}" path="{}"/></root>'
    factory.register_behavior_tree_from_text(include.format("mine", "a.xml"))
    assert factory.registered_behavior_trees() == ["A"]
    with pytest.raises(LoadError, match="no package other"):
        factory.register_behavior_tree_from_text(include.format("other", "a.xml"))
    assert factory.load_warnings() == []
    factory.register_behavior_tree_from_text(include.format("other", file))
    assert "ros_pkg is ignored" in factory.load_warnings()[0].message


def test_a_file_included_again_wins_again(tmp_path):
    for name, leaf in (("a", "AlwaysSuccess"), ("b", "AlwaysFailure")):
        (tmp_path / f"{name}.xml").write_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="T"><{leaf}/></BehaviorTree></root>'
        )
    (tmp_path / "main.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="T"><include path="a.xml"/>'
        '<include path="b.xml"/><include path="./a.xml"/></root>'
    )
    tree = BehaviorTreeFactory().create_tree_from_file(tmp_path / "main.xml")
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_warnings_of_a_file_that_was_mended_are_gone(tmp_path):
    file = tmp_path / "a.xml"
    factory = BehaviorTreeFactory()
    for head, count in (("<root>", 1), ('<root BTCPP_format="4">', 0)):
        file.write_text(head + '<BehaviorTree ID="M"><AlwaysSuccess/></BehaviorTree></root>')
        factory.register_behavior_tree_from_file(file)
        assert len(factory.load_warnings()) == count
