# SPDX-License-Identifier: Apache-2.0
"""The XML Schema agrees with the strict loader: what loads is valid, what breaks is not."""

# ruff: noqa: E501

import enum
from pathlib import Path

import pytest
from tree_kit import xml

from behavior_tree import BehaviorTreeFactory, InputPort, LoadError, NodeStatus, OutputPort
from behavior_tree.stand_ins import make_factory
from behavior_tree.xml.schema import write_tree_xsd

etree = pytest.importorskip("lxml.etree")


class Gear(enum.Enum):
    LOW = 1
    HIGH = 2


def factory():
    made = BehaviorTreeFactory(strict=True)
    made.register_scripting_enum("RED", 7)
    ports = [
        InputPort("goal", str, description="where <to> & 'why'"),
        InputPort("speed", float, 0.5),
        InputPort("gear", Gear, "LOW"),
        InputPort("times", int, 3),
        InputPort("free", bool, None),
        InputPort("anything", default="{some key}"),
        OutputPort("n", int),
    ]
    made.register_simple_action("Move", lambda node: NodeStatus.SUCCESS, ports)
    return made


def schema_of(made):
    return etree.XMLSchema(etree.fromstring(write_tree_xsd(made).encode()))


@pytest.fixture(scope="module")
def schema():
    return schema_of(factory())


def loads(document):
    try:
        factory().create_tree_from_text(document)
    except LoadError:
        return False
    return True


T = '<BehaviorTree ID="T"><AlwaysSuccess/></BehaviorTree>'
GOOD = [
    "<AlwaysSuccess/>",
    '<Move goal="x"/>',
    '<Move goal="{x}" speed="{=}" gear="HIGH" times="RED" free="TRUE" n="{n}" name="m" _skipIf="1" _uid="4"/>',
    '<Move goal="" speed="-1.5e3" gear="2" times="-4"/>',
    '<Control ID="Sequence" name="s"><Action ID="Move" goal="x"/></Control>',
    '<SubTree ID="T" _autoremap="true" any="{k}" name="t"/>',
    '<Switch2 variable="{v}" case_1="1" case_2="2"><AlwaysSuccess/><AlwaysSuccess/><AlwaysFailure/></Switch2>',
    '<Precondition if="a &lt; 1" else="SKIPPED"><AlwaysSuccess/></Precondition>',
    '<Repeat num_cycles="{n}"><AlwaysSuccess/></Repeat>',
    '<Parallel success_count="-1"><AlwaysSuccess/><AlwaysSuccess/></Parallel>',
]
BAD = [
    "<Nothing/>",
    "<Move/>",
    '<Move goal="x" sped="1"/>',
    '<Move goal="x" speed="fast"/>',
    '<Move goal="x" gear="MIDDLE"/>',
    '<Move goal="x" times="1.5"/>',
    '<Move goal="x" times="BLUE"/>',
    '<Move goal="x" free="yes"/>',
    '<Move goal="x" n="5"/>',
    "<Sequence/>",
    "<Inverter/>",
    "<Inverter><AlwaysSuccess/><AlwaysSuccess/></Inverter>",
    "<AlwaysSuccess><AlwaysSuccess/></AlwaysSuccess>",
    "<AlwaysSuccess/><AlwaysSuccess/>",
    '<Switch2 variable="{v}"><AlwaysSuccess/></Switch2>',
    '<Action ID="Sequence"><AlwaysSuccess/></Action>',
    '<SubTree name="t"/>',
    '<Sleep msec="-5"/>',
    '<AlwaysSuccess ID="x"/>',
]


@pytest.mark.parametrize("body", GOOD)
def test_good_trees_are_valid(schema, body):
    document = xml(body, T)
    assert loads(document)
    schema.assertValid(etree.fromstring(document))


@pytest.mark.parametrize("body", BAD)
def test_bad_trees_are_not(schema, body):
    document = xml(body, T)
    assert not loads(document)
    assert not schema.validate(etree.fromstring(document))


def test_documents(schema):
    def valid(text):
        return schema.validate(etree.fromstring(text))

    assert valid(f'<root BTCPP_format="4">{T}</root>')
    assert valid(
        f'<root BTCPP_format="4"><include path="a.xml" ros_pkg="p"/><TreeNodesModel><Action ID="Q"><input_port name="a">text</input_port></Action></TreeNodesModel>{T}</root>'
    )
    assert not valid(f"<root>{T}</root>")
    assert not valid('<root BTCPP_format="4"><include/></root>')
    assert not valid(
        '<root BTCPP_format="4"><BehaviorTree ID="a b"><AlwaysSuccess/></BehaviorTree></root>'
    )
    assert not valid('<root BTCPP_format="4"><TreeNodesModel/><TreeNodesModel/></root>')


def test_it_does_not_depend_on_the_order_of_registration():
    texts = []
    for names in ("AB", "BA"):
        made = BehaviorTreeFactory()
        for name in names:
            made.register_simple_action(name, lambda node: NodeStatus.SUCCESS)
        texts.append(write_tree_xsd(made))
    assert texts[0] == texts[1]


TREES = sorted(Path(__file__).parents[3].joinpath("trees").rglob("*.xml"))


@pytest.mark.skipif(not TREES, reason="the package is tested alone")
def test_trees_of_the_repository_are_valid():
    schema = schema_of(make_factory(TREES))
    for file in TREES:
        schema.assertValid(etree.parse(file))
        broken = file.read_bytes().replace(b"<Sequence ", b"<Sequence colour='x' ", 1)
        assert not schema.validate(etree.fromstring(broken))
