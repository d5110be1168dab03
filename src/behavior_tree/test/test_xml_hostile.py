# SPDX-License-Identifier: Apache-2.0
"""Documents made to do harm get a clear error, soon, and little memory."""

# ruff: noqa: E501

import os
import time
import tracemalloc

import pytest
from tree_kit import xml

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.xml import document, loader

BOMB = (
    '<!DOCTYPE r [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(20))
    + "]><root>&u;</root>"
)
OPEN = '<root BTCPP_format="4">'


def refused(document, words):
    """Load bytes or text; the error says ``words``, soon and in little memory."""
    begin = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(LoadError, match=words) as caught:
            BehaviorTreeFactory().create_tree_from_text(document)
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 10  # traced memory makes it slow
    assert len(str(caught.value)) < 10**6
    return caught.value.problems


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "document types"),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><root/>', "document types"),
        (
            '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><root>&x;</root>',
            "document types",
        ),
        ("<root>&x;</root>", "undefined entity"),
        (OPEN + "<Inverter>" * 10_000, r"nesting depth exceeded \(limit: 256\)"),
        ("<" * 100_000, "not well-formed"),
        (f"<root {'a' * 1_000_000}='1'", "unclosed token"),
        (
            xml(f'<AlwaysSuccess {"a" * 1_000_000}="1"/>'),
            r"a port with name \[aaa.*1000000 characters",
        ),
        (xml(f'<Sleep msec="{"9" * 1_000_000}"/>'), r"9\.\.\. \(1000000 characters\)"),
        (xml(f'<Script code="{"(" * 15_000}"/>'), "nested deeper"),
        (xml(f'<Script code="a := {"9" * 15_000}"/>'), "64 bits"),
        (xml(f'<Script code="{"a+" * 1_000_000}"/>'), "longer than 20000 characters"),
        (xml(f"<{'N' * 1_000_000}/>"), "Node not recognized: NNN"),
        (
            xml("<Sequence>" + "".join(f"<N{i}/>" for i in range(3000)) + "</Sequence>"),
            "3000 problems",
        ),
        ("<root>\0</root>", "not well-formed"),
        ("<root>\ud800<x/></root>", "defines no tree"),
        ("\ufeff\ufeff<root/>", "not well-formed"),
        (xml('<Sequence name="a&#0;"/>'), "invalid character"),
        ('<root a="1" a="2"/>', "duplicate attribute"),
    ],
)
def test_text(text, words):
    refused(text, words)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<root>\xff\xfe</root>", "byte 0xFF is no UTF-8, and none is declared"),
        (b'<root a="\x00"/>', "not well-formed"),
        (b"\x00" * 1000, "Error parsing"),
        (b'<?xml version="1.0" encoding="no-such"?><root/>', "'no-such' is unknown"),
        (b'<?xml version="1.0" encoding="utf-16"?><root/>', "says that it is in utf-16"),
        (b'<?xml version="1.0" encoding="utf-7"?><root/>', "encoding utf-7 cannot be read"),
        ("<root/>".encode("utf-32"), "encoding UTF-32 cannot be read"),
        (b"", "no element"),
    ],
)
def test_bytes(tmp_path, data, words):
    (tmp_path / "a.xml").write_bytes(data)
    with pytest.raises(LoadError, match=words):
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "a.xml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_honest_encodings(tmp_path, encoding):
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?>' + xml('<AlwaysSuccess name="ä"/>')
    (tmp_path / "a.xml").write_bytes(text.encode(encoding))
    tree = BehaviorTreeFactory().create_tree_from_file(tmp_path / "a.xml")
    assert tree.root_node().name() == "ä"


def test_includes_that_never_end(tmp_path):
    for i in range(60):
        (tmp_path / f"{i}.xml").write_text(f'{OPEN}<include path="{i + 1}.xml"/></root>')
    with pytest.raises(LoadError, match="includes are nested deeper than 50"):
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "0.xml")
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "s.xml").write_text(f'{OPEN}<include path="self/s.xml"/></root>')
    with pytest.raises(LoadError, match="include cycle"):
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "s.xml")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "p.xml").write_text(
        f'{OPEN}<include path="pipe"/><include path="/dev/zero"/><include path="."/></root>'
    )
    with pytest.raises(LoadError, match=r"regular file[^$]*regular file[^$]*directory"):
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "p.xml")


@pytest.mark.slow
def test_two_million_nodes_are_refused_before_they_are_read():
    text = xml("<Sequence>" + "<AlwaysSuccess/>" * 2_000_000 + "</Sequence>")
    with pytest.raises(LoadError, match="more than 300000 elements") as caught:
        BehaviorTreeFactory().create_tree_from_text(text)
    assert caught.value.problems[0].column < len(text) / 5


def test_includes_that_are_too_much_together(tmp_path, monkeypatch):
    for module in (document, loader):
        monkeypatch.setattr(module, "MAX_ELEMENTS", 300)
    part = "<Sequence>" + "<AlwaysSuccess/>" * 60 + "</Sequence>"
    for i in range(5):
        (tmp_path / f"{i}.xml").write_text(
            f'{OPEN}<BehaviorTree ID="T{i}">{part}</BehaviorTree></root>'
        )
    includes = "".join(f'<include path="{i}.xml"/>' for i in range(5))
    (tmp_path / "main.xml").write_text(f"{OPEN}{includes}</root>")
    with pytest.raises(LoadError, match="more than 300 elements"):
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "main.xml")


def test_includes_and_subtrees_that_double(tmp_path):
    for i in range(40):
        (tmp_path / f"{i}.xml").write_text(OPEN + f'<include path="{i + 1}.xml"/>' * 2 + "</root>")
    (tmp_path / "40.xml").write_text(xml("<AlwaysSuccess/>"))
    tree = BehaviorTreeFactory().create_tree_from_file(tmp_path / "0.xml")
    assert tree.tick_once() is NodeStatus.SUCCESS
    twice = "".join(
        f'<BehaviorTree ID="T{i}"><Sequence><SubTree ID="T{i + 1}"/><SubTree ID="T{i + 1}"/></Sequence></BehaviorTree>'
        for i in range(40)
    )
    last = '<BehaviorTree ID="T40"><AlwaysSuccess/></BehaviorTree>'
    problems = refused(xml('<SubTree ID="T0"/>', twice + last), "more than 65535 nodes")
    assert problems[0].line == 1


@pytest.mark.slow
def test_chains_of_trees_deeper_than_the_stack():
    chain = "".join(
        f'<BehaviorTree ID="T{i}"><SubTree ID="T{i + 1}"/></BehaviorTree>' for i in range(2000)
    )
    last = '<BehaviorTree ID="T2000"><AlwaysSuccess/></BehaviorTree>'
    refused(xml('<SubTree ID="T0"/>', chain + last), "nested deeper than 256")
    refused(xml('<SubTree ID="T0"/>', chain + last.replace("<Always", "<Sometimes")), "recognized")
    nested = "<Inverter>" * 200
    deep = "".join(
        f'<BehaviorTree ID="T{i}">{nested}<SubTree ID="T{i + 1}"/>{"</Inverter>" * 200}</BehaviorTree>'
        for i in range(50)
    )
    refused(xml('<SubTree ID="T0"/>', deep + last.replace("2000", "50")), "nested deeper than 256")


def test_the_deepest_allowed_tree_works():
    chain = "".join(
        f'<BehaviorTree ID="T{i}"><SubTree ID="T{i + 1}"/></BehaviorTree>' for i in range(254)
    )
    last = '<BehaviorTree ID="T254"><AlwaysSuccess/></BehaviorTree>'
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_text(xml('<SubTree ID="T0"/>', chain + last))
    assert tree.tick_once() is NodeStatus.SUCCESS
    tree.halt_tree()
    assert factory.load_warnings() == []


@pytest.mark.parametrize(
    "node",
    [
        "Sequence",
        "ReactiveFallback",
        "ParallelAll",
        "ConcurrentSequence",
        "Inverter",
        'RetryUntilSuccessful num_attempts="2"',
        'Repeat num_cycles="2"',
        "RunOnce",
    ],
)
def test_a_deep_tree_that_runs_can_be_halted(node: str) -> None:
    deep = f"<{node}>" * 250 + '<Sleep msec="100000"/>' + f"</{node.split(maxsplit=1)[0]}>" * 250
    factory = BehaviorTreeFactory()
    register_authoring_nodes(factory)
    tree = factory.create_tree_from_text(xml(deep))
    assert tree.tick_once() is NodeStatus.RUNNING
    tree.halt_tree()
    assert all(
        each.status is NodeStatus.IDLE for subtree in tree.subtrees for each in subtree.nodes
    )


def test_many_comments_and_texts_take_linear_time():
    body = "<Sequence>" + "<!-- c -->text " * 200_000 + "<AlwaysSuccess/></Sequence>"
    begin = time.process_time()
    BehaviorTreeFactory().create_tree_from_text(xml(body))
    assert time.process_time() - begin < 5
