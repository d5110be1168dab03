# SPDX-License-Identifier: Apache-2.0
"""Files of BehaviorTree.CPP 3: read, and converted without losing comments or formatting."""

# ruff: noqa: E501
import pytest

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus
from behavior_tree.xml.migrate import migrate

OLD = b"""<?xml version="1.0"?>
<root main_tree_to_execute = "Main" >
    <!-- version 3 -->
    <BehaviorTree ID="Main">
        <SequenceStar name="steps">
            <SetBlackboard output_key='goal' value="1;2;3"/>
            <SubTree ID="Move" target="goal"   result="{r}" name="m"/>
            <SubTree ID="Move" __shared_blackboard="true"/>
            <SubTree ID="Move" __shared_blackboard="false" target="goal"/>
            <SubTreePlus ID="Move" __autoremap="1" target="goal" speed="2"/>
            <Control ID="SequenceStar"><AlwaysSuccess/></Control>
            <RetryUntilSuccesful num_attempts="3">
                <BlackboardCheckInt value_A="{n}" value_B="42" return_on_mismatch="SUCCESS">
                    <AlwaysSuccess/> <!-- kept -->
                </BlackboardCheckInt>
            </RetryUntilSuccesful>
            <BlackboardCheckString value_A="{goal}" value_B="1;2;3"><AlwaysSuccess/></BlackboardCheckString>
            <Parallel success_threshold="2" failure_threshold="1">
                <AlwaysSuccess/>
                <AlwaysSuccess/>
            </Parallel>
            <Decorator ID="BlackboardCheckBool" value_A="{b}" value_B="true"><AlwaysSuccess/></Decorator>
        </SequenceStar>
    </BehaviorTree>
    <BehaviorTree ID="Move"><AlwaysSuccess/></BehaviorTree>
    <TreeNodesModel>
        <SubTree ID="Move"><input_port name="target" default="goal"/></SubTree>
    </TreeNodesModel>
</root>
"""
NEW = b"""<?xml version="1.0"?>
<root main_tree_to_execute = "Main" BTCPP_format="4" >
    <!-- version 3 -->
    <BehaviorTree ID="Main">
        <SequenceWithMemory name="steps">
            <SetBlackboard output_key='goal' value="1;2;3"/>
            <SubTree ID="Move" target="{goal}"   result="{r}" name="m"/>
            <SubTree ID="Move" _autoremap="true"/>
            <SubTree ID="Move" target="{goal}"/>
            <SubTree ID="Move" _autoremap="1" target="goal" speed="2"/>
            <Control ID="SequenceWithMemory"><AlwaysSuccess/></Control>
            <RetryUntilSuccessful num_attempts="3">
                <Precondition if="n == 42" else="SUCCESS">
                    <AlwaysSuccess/> <!-- kept -->
                </Precondition>
            </RetryUntilSuccessful>
            <Precondition if="goal == '1;2;3'"><AlwaysSuccess/></Precondition>
            <Parallel success_count="2" failure_count="1">
                <AlwaysSuccess/>
                <AlwaysSuccess/>
            </Parallel>
            <Decorator ID="Precondition" if="b == true"><AlwaysSuccess/></Decorator>
        </SequenceWithMemory>
    </BehaviorTree>
    <BehaviorTree ID="Move"><AlwaysSuccess/></BehaviorTree>
    <TreeNodesModel>
        <SubTree ID="Move"><input_port name="target" default="goal"/></SubTree>
    </TreeNodesModel>
</root>
"""


def test_everything_known_is_converted_and_the_rest_kept():
    done = migrate(OLD)
    assert done.data.decode() == NEW.decode()
    assert [(note.line, note.severity) for note in done.notes] == [(8, "warning")]
    assert migrate(NEW).was_version_4
    dos = migrate(OLD.replace(b"\n", b"\r\n"))
    assert dos.data == NEW.replace(b"\n", b"\r\n")


def test_reading_is_the_same_as_converting_first(tmp_path):
    (tmp_path / "old.xml").write_bytes(OLD)
    (tmp_path / "new.xml").write_bytes(NEW)
    results = []
    for name in ("old", "new"):
        factory = BehaviorTreeFactory()
        tree = factory.create_tree_from_file(tmp_path / f"{name}.xml")
        tree.root_blackboard().set("n", 42)
        tree.root_blackboard().set("b", True)
        shape = [
            (node.name(), node.registration_id(), node.config().input_ports)
            for node in tree.nodes()
        ]
        results.append((shape, tree.tick_while_running()))
    assert results[0] == results[1]
    assert results[0][1] is NodeStatus.SUCCESS
    factory = BehaviorTreeFactory()
    factory.register_behavior_tree_from_file(tmp_path / "old.xml")
    first = factory.load_warnings()[0]
    assert "version 3; it is read as if converted" in first.message
    assert "behavior tree migrate" in first.remedy


def old(body):
    return f'<root BTCPP_format="3">\n<BehaviorTree ID="M">\n{body}\n</BehaviorTree></root>'


@pytest.mark.parametrize(
    ("body", "words", "severity"),
    [
        (
            '<BlackboardCheckInt value_A="{n}"><AlwaysSuccess/></BlackboardCheckInt>',
            "value is missing",
            "error",
        ),
        (
            '<BlackboardCheckString value_A="{a-b}" value_B="x"><AlwaysSuccess/></BlackboardCheckString>',
            "neither a key",
            "error",
        ),
        (
            '<BlackboardCheckString value_A="{a}" value_B="it\'s"><AlwaysSuccess/></BlackboardCheckString>',
            "nor a literal",
            "error",
        ),
        ('<AlwaysSuccess _skipIf="x"/>', "script in version 4", "warning"),
        ("<FallbackStar><AlwaysSuccess/></FallbackStar>", "begins again", "warning"),
        (
            "<ReactiveSequence><AlwaysSuccess/></ReactiveSequence>",
            "one asynchronous child",
            "warning",
        ),
    ],
)
def test_what_needs_a_person_is_told_with_its_line(body, words, severity):
    done = migrate(old(body).encode())
    (note,) = done.notes
    assert words in note.message
    assert (note.line, note.severity) == (3, severity)
    assert b'BTCPP_format="4"' in done.data


def test_mistakes_in_an_old_file_keep_their_places():
    text = old('<SequenceStar><SubTree ID="Nothing" a="b"/>\n <Sleep msec="x"/></SequenceStar>')
    with pytest.raises(LoadError) as caught:
        BehaviorTreeFactory().create_tree_from_text(text)
    assert [(p.line, p.column) for p in caught.value.problems] == [(3, 24), (4, 9)]


def test_compat_reads_any_version_as_4():
    factory = BehaviorTreeFactory(compat="4.8")
    factory.create_tree_from_text(old("<AlwaysSuccess/>"))
    with pytest.raises(LoadError, match="not recognized: SequenceStar"):
        factory.create_tree_from_text(old("<SequenceStar><AlwaysSuccess/></SequenceStar>"))
