# SPDX-License-Identifier: Apache-2.0
"""Files, registrations and malformed documents: the scenarios of gtest_factory.cpp."""

import gc
from functools import partial

import pytest
from scenario_kit import document, letter, subtree

from behavior_tree import (
    InputPort,
    LoadError,
    LogicError,
    NodeStatus,
    NodeType,
    SyncActionNode,
    write_tree_nodes_model_xml,
)

covers = partial(pytest.mark.upstream, "gtest_factory.cpp")

DOORS = subtree(
    "Doors",
    '<Sequence><Fallback><Inverter><Check name="closed"/></Inverter><SubTree ID="Open"/></Fallback>'
    '<Do name="pass"/></Sequence>',
)
OPEN = subtree(
    "Open",
    '<Fallback><Do name="pull"/><RetryUntilSuccessful num_attempts="5"><Do name="pick"/>'
    '</RetryUntilSuccessful><Do name="smash"/></Fallback>',
)


def root(content, attributes=""):
    return f'<root BTCPP_format="4" {attributes}>{content}</root>'


@covers("BehaviorTreeFactory.NotRegisteredNode", "BehaviorTreeFactory.MalformedXML_UnknownNodeType")
def test_unknown_node_type(stage):
    model = '<TreeNodesModel><Action ID="OpenDoor"/></TreeNodesModel>'
    for body in ('<Action ID="OpenDoor"/>', "<OpenDoor/>"):
        assert "OpenDoor" in stage.refuses(body, model)


@covers("BehaviorTreeFactory.XMLParsingOrder")
@pytest.mark.parametrize(
    "texts", [(DOORS + OPEN,), (OPEN + DOORS,), (DOORS, OPEN), (OPEN, DOORS)], ids=range(4)
)
def test_trees_are_listed_by_name(stage, texts):
    for text in texts:
        stage.factory.register_behavior_tree_from_text(root(text))
    assert stage.factory.registered_behavior_trees() == ["Doors", "Open"]


@covers("BehaviorTreeFactory.Subtree")
def test_nodes_of_each_subtree(ours):
    ours.load_xml(root(DOORS + OPEN, 'main_tree_to_execute="Doors"'))
    main, inner = ours.tree.subtrees
    names = ["Sequence", "Fallback", "Inverter", "closed", "Open", "pass"]
    assert [node.name for node in main.nodes] == names
    assert main.nodes[4].type() is NodeType.SUBTREE
    names = ["Fallback", "pull", "RetryUntilSuccessful", "pick", "smash"]
    assert [node.name for node in inner.nodes] == names


@covers("BehaviorTreeFactory.Issue7", "BehaviorTreeFactory.MalformedXML_EmptyBehaviorTree")
@pytest.mark.parametrize(
    "tree", ['<BehaviorTree ID="M"/>', '<BehaviorTree ID="M"> </BehaviorTree>']
)
def test_tree_without_a_node(stage, tree):
    assert "M" in stage.refuses_xml(root(tree))
    with pytest.raises(RuntimeError):
        stage.factory.register_behavior_tree_from_text(root(tree))


@covers("BehaviorTreeFactory.SubTreeWithRemapping")
def test_entries_on_both_sides_of_a_remapping(ours):
    ours.load(
        """<Sequence><Script code="a := 'hello'; b := 'bye'"/>"""
        """<SubTree ID="T" hello="{a}" bye="{b}" out="{c}"/></Sequence>""",
        subtree("T", """<Script code="out := hello .. bye"/>"""),
    )
    assert ours.run() == "S"
    outer, inner = (each.blackboard for each in ours.tree.subtrees)
    assert [outer.get(key) for key in "abc"] == ["hello", "bye", "hellobye"]
    assert [inner.get(key) for key in ("hello", "bye", "out")] == ["hello", "bye", "hellobye"]
    for key in "abc":
        assert inner.entry(key) is None
        assert type(outer.get(key)) is str


LEAF = '<BehaviorTree ID="{0}"><Do name="{0}"/></BehaviorTree>'
USE = '<BehaviorTree ID="{0}"><SubTree ID="{1}"/></BehaviorTree>'
FILES = {
    "alone.xml": LEAF.format("Alone"),
    "below/alone.xml": LEAF.format("Below"),
    "below/deep/alone.xml": LEAF.format("Deep"),
    "below/uses_sibling.xml": '<include path="alone.xml"/>' + USE.format("Sib", "Below"),
    "below/uses_deep.xml": '<include path="deep/alone.xml"/>' + USE.format("Down", "Deep"),
    "below/uses_parent.xml": '<include path="../alone.xml"/>' + USE.format("Up", "Alone"),
    "uses_below.xml": '<include path="below/alone.xml"/>' + USE.format("Main", "Below"),
    "then_sibling.xml": '<include path="below/uses_sibling.xml"/>' + USE.format("Main", "Sib"),
    "then_deep.xml": '<include path="below/uses_deep.xml"/>' + USE.format("Main", "Down"),
    "then_parent.xml": '<include path="below/uses_parent.xml"/>' + USE.format("Main", "Up"),
}
FROM = "BehaviorTreeFactory.CreateTreeFromFile"
CHILD = "WhichIncludesFileFromChildDirectory"


@pytest.mark.parametrize(
    ("file", "leaf"),
    [
        pytest.param("alone.xml", "Alone", marks=covers(FROM)),
        pytest.param(
            *("below/uses_sibling.xml", "Below"),
            marks=covers(FROM + "WhichIncludesFileFromSameDirectory"),
        ),
        pytest.param("uses_below.xml", "Below", marks=covers(FROM + CHILD)),
        pytest.param(
            *("then_sibling.xml", "Below"),
            marks=covers(FROM + CHILD + "WhichIncludesFileFromSameDirectory"),
        ),
        pytest.param("then_deep.xml", "Deep", marks=covers(FROM + CHILD + CHILD)),
        pytest.param(
            *("then_parent.xml", "Alone"),
            marks=covers(FROM + CHILD + "WhichIncludesFileFromParentDirectory"),
        ),
    ],
)
def test_included_files_are_found_beside_the_including_one(stage, tmp_path, file, leaf):
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        main = {"below/uses_sibling.xml": "Sib", "alone.xml": "Alone"}.get(name, "Main")
        path.write_text(root(content, f'main_tree_to_execute="{main}"'))
    stage.tree = stage.factory.create_tree_from_file(str(tmp_path / file))
    assert stage.run() == "S"
    assert stage.take_log() == leaf


@covers("BehaviorTreeFactory.WrongTreeName")
def test_name_of_no_tree(stage):
    stage.factory.register_behavior_tree_from_text(document("<AlwaysSuccess/>"))
    with pytest.raises(RuntimeError, match="Other"):
        stage.factory.create_tree("Other")


@covers("BehaviorTreeReload.ReloadSameTree")
def test_tree_registered_again_replaces_the_first(stage):
    results = []
    for body in ("<AlwaysSuccess/>", "<AlwaysFailure/>"):
        stage.factory.register_behavior_tree_from_text(document(body))
        stage.tree = stage.factory.create_tree("Main")
        results.append(stage.run())
    assert results == ["S", "F"]


class Described(SyncActionNode):
    @classmethod
    def metadata(cls):
        return {"foo": "hello", "bar": "42"}

    def tick(self):
        return NodeStatus.SUCCESS


FIELDS = (
    "            <MetadataFields>\n"
    '                <Metadata foo="hello"/>\n'
    '                <Metadata bar="42"/>\n'
    "            </MetadataFields>\n"
)


@covers("BehaviorTreeFactory.ManifestMethod")
def test_metadata_of_a_class_is_in_the_model(mended):
    mended.factory.register_node_type(Described, "Described")
    manifest = mended.factory.manifests()["Described"]
    assert dict(manifest.metadata) == Described.metadata()
    assert FIELDS in write_tree_nodes_model_xml(mended.factory.manifests().values())


@covers("BehaviorTreeFactory.addMetadataToManifest")
def test_metadata_added_to_a_registered_type(mended):
    assert mended.factory.manifests()["Do"].metadata == ()
    mended.factory.add_metadata_to_manifest("Do", Described.metadata())
    assert dict(mended.factory.manifests()["Do"].metadata) == Described.metadata()
    assert FIELDS in write_tree_nodes_model_xml(mended.factory.manifests().values())
    with pytest.raises(LogicError, match="Nobody"):
        mended.factory.add_metadata_to_manifest("Nobody", {})


@covers("BehaviorTreeFactory.FactoryDestroyedBeforeTick")
def test_tree_outlives_its_factory(ours):
    ports = [InputPort("value", int, 3)]
    ours.factory.register_simple_action(
        "Read", lambda node: NodeStatus.SUCCESS if node.get_input("value") == 3 else None, ports
    )
    tree = ours.load("<Read/>").tree
    del ours.factory
    gc.collect()
    assert letter(tree.tick_once()) == "S"


@covers("BehaviorTreeFactory.CreateTreeFromTextFindsRegisteredSubtree")
def test_text_uses_a_registered_tree(stage):
    stage.factory.register_behavior_tree_from_text(root(LEAF.format("Alone")))
    text = root(USE.format("New", "Alone"))
    if stage.mended:
        assert stage.load_xml(text).run() == "S"
        assert stage.take_log() == "Alone"
    else:  # only since 4.9
        assert "Alone" in stage.refuses_xml(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=covers(f"BehaviorTreeFactory.MalformedXML_{name}"))
        for name, text in (
            ("InvalidRoot", "<not valid xml!!!"),
            ("MissingRootElement", "<thing>" + LEAF.format("M") + "</thing>"),
            ("EmptyBehaviorTreeID", root(LEAF.format("") + LEAF.format("Other"))),
            (
                "MissingBehaviorTreeID",
                root("<BehaviorTree><AlwaysSuccess/></BehaviorTree>" * 2),
            ),
            (
                "DeeplyNestedElements",
                document("<Inverter>" * 300 + "<AlwaysSuccess/>" + "</Inverter>" * 300),
            ),
            ("MultipleBTChildElements", document("<AlwaysSuccess/><AlwaysFailure/>")),
            ("CompletelyEmpty", ""),
        )
    ],
)
def test_malformed_document(ours, text):
    with pytest.raises(LoadError) as caught:
        ours.load_xml(text)
    assert all(problem.message for problem in caught.value.problems)


@covers("BehaviorTreeFactory.MalformedXML_ModerateNestingIsOK")
def test_deep_nesting(stage):
    stage.load("<Inverter>" * 50 + "<AlwaysSuccess/>" + "</Inverter>" * 50)
    assert stage.run() == "S"


@covers("BehaviorTreeFactory.MalformedXML_EmptyRoot")
def test_document_without_trees(stage):
    stage.factory.register_behavior_tree_from_text(root(""))
    with pytest.raises(RuntimeError):
        stage.factory.create_tree("Main")
