# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from xml.etree import ElementTree

from behavior_tree import (
    BehaviorTreeFactory,
    NodeStatus,
    OutputPort,
    PortDirection,
    register_placeholders,
)
from behavior_tree.monitoring.uid_document import uid_document

XML = """
<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main">
    <Sequence name="both">
      <SubTree ID="inner" name="one" key="{value}"/>
      <SubTree ID="inner"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="inner"><Fallback><Script code="a:=1" _skipIf="false"/></Fallback></BehaviorTree>
</root>"""


def test_every_node_of_the_running_tree_bears_its_number() -> None:
    tree = BehaviorTreeFactory().create_tree_from_text(XML)
    root = ElementTree.fromstring(uid_document(tree, "main"))
    assert root.get("main_tree_to_execute") == "main"
    numbers = {int(e.get("_uid", "0")) for t in root for e in t.iter() if e.tag != "BehaviorTree"}
    assert numbers == {node.uid() for node in tree.nodes()}
    assert root.find(".//Script").attrib == {  # type: ignore[union-attr]
        "name": "Script",
        "_uid": "4",
        "code": "a:=1",
        "_skipIf": "false",
    }


def test_instances_of_a_subtree_are_found_by_their_paths() -> None:
    tree = BehaviorTreeFactory().create_tree_from_text(XML)
    root = ElementTree.fromstring(uid_document(tree, "main"))
    paths = [element.get("_fullpath") for element in root.iter("SubTree")]
    assert [tree.get("_fullpath") for tree in root.iter("BehaviorTree")] == ["", *paths]


def test_it_tells_what_its_own_node_types_are_and_how_subtrees_are_connected() -> None:
    factory = BehaviorTreeFactory()
    port = OutputPort("found", int, description="how many < 3 & more")
    factory.register_simple_action("Count", lambda node: NodeStatus.SUCCESS, [port])
    body = "<SubTree ID='inner' _autoremap='true'/>"
    more = "<BehaviorTree ID='inner'><Count found='{n}'/></BehaviorTree>"
    main = f"<BehaviorTree ID='m'>{body}</BehaviorTree>"
    tree = factory.create_tree_from_text(
        f"<root BTCPP_format='4' main_tree_to_execute='m'>{main}{more}</root>"
    )
    text = uid_document(tree, "m")
    root = ElementTree.fromstring(text)
    assert root.find(".//SubTree").get("_autoremap") == "true"  # type: ignore[union-attr]
    assert [each.get("ID") for each in root.iter("Action")] == ["Count"]
    again = BehaviorTreeFactory()
    register_placeholders(again, text)
    assert again.manifests()["Count"].ports["found"].direction is PortDirection.OUTPUT
