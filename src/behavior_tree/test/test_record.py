# SPDX-License-Identifier: Apache-2.0
"""What the record of a tree tells its readers: ticks, and the changes a callback would see."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest
from conformance_kit import Generator
from test_restore_random import World
from tree_kit import tree_of

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus
from behavior_tree.editing import TreeEditor
from behavior_tree.kernel import node_kernel
from behavior_tree.kernel.record import RecordBatch, TickRecord, outcomes

RUNNING, SUCCESS = NodeStatus.RUNNING, NodeStatus.SUCCESS


class Reader:
    completes_runs = False
    reads_times = True

    def __init__(self) -> None:
        self.seen: list[tuple[int, str, str]] = []
        self.times: list[int] = []
        self.threads: list[int] = []

    def read(self, batch: RecordBatch) -> None:
        changes = batch.changes
        self.times += changes.times
        self.threads.append(changes.thread)
        for node, old, new in zip(changes.nodes, changes.previous, changes.new, strict=True):
            self.told(node.uid(), old.name, new.name)

    def told(self, *change) -> None:
        self.seen.append(change)

    def on_interval(self) -> None:
        pass


class Events(list):
    """Whoever adds to it finds the changes so far in it."""

    def __init__(self, tree) -> None:
        super().__init__()
        self._tree = tree

    def append(self, event) -> None:
        self._tree.drain_changes()
        super().append(event)


class ReadWorld(World):
    def watch(self) -> None:
        self.events = Events(self.tree)
        reader = Reader()
        reader.told = lambda *change: list.append(self.events, change)
        self.tree.subscribe_changes(reader)


@pytest.mark.slow
@pytest.mark.parametrize("compat", [None, "4.8"])
@pytest.mark.parametrize("block", range(3))
def test_random_trees_tell_readers_what_they_tell_callbacks(block, compat) -> None:
    for seed in range(block * 60, (block + 1) * 60):
        case = Generator(seed).case()
        try:
            told, read = World(case, compat), ReadWorld(case, compat)
        except LoadError:
            continue
        for step in case.steps:
            if not told.step(*step):
                assert not read.step(*step)
                break
            assert read.step(*step)
        read.tree.drain_changes()
        assert list(read.events) == told.events, f"seed {seed}"


def until(predicate, timeout=60.0) -> None:
    deadline = time.monotonic() + timeout
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.002)


IDLE, FAILURE = NodeStatus.IDLE, NodeStatus.FAILURE


class Entries:
    """Keeps uid and statuses of all entries of a tree's record."""

    completes_runs = False
    reads_times = False

    def __init__(self, tree) -> None:
        self._tree = tree
        self.seen: list[tuple[int, NodeStatus, NodeStatus]] = []
        tree.subscribe_changes(self)

    def read(self, batch: RecordBatch) -> None:
        uids = [node.uid() for node in batch.nodes]
        self.seen += zip(uids, batch.previous, batch.new, strict=True)

    def on_interval(self) -> None:
        pass

    def of_tick(self) -> list[tuple[int, NodeStatus, NodeStatus]]:
        """Entries of one tick, without its beginning and the reset of the root."""
        self._tree.drain_changes()
        self.seen.clear()
        self._tree.tick_exactly_once()
        self._tree.drain_changes()
        return self.seen[1:-1]


ENDS = {"AlwaysSuccess": SUCCESS, "AlwaysFailure": FAILURE}


@pytest.mark.parametrize(
    ("parent", "ticked", "others", "result"),
    [
        ("Sequence", ["AlwaysSuccess"] * 3, [], SUCCESS),
        ("Sequence", ["AlwaysSuccess", "AlwaysFailure"], ["AlwaysSuccess"], FAILURE),
        ("Fallback", ["AlwaysFailure", "AlwaysSuccess"], ["AlwaysFailure"], SUCCESS),
        ("Fallback", ["AlwaysFailure"] * 2, [], FAILURE),
        ("ForceSuccess", ["AlwaysFailure"], [], SUCCESS),
        ("Inverter", ["AlwaysSuccess"], [], FAILURE),
    ],
)
def test_a_parent_that_ends_records_its_children_s_reset_before_its_own_end(
    parent, ticked, others, result
) -> None:
    leaves = "".join(f"<{leaf}/>" for leaf in [*ticked, *others])
    entries = Entries(tree_of(f"<{parent}>{leaves}</{parent}>"))
    ended = [(2 + i, ENDS[leaf]) for i, leaf in enumerate(ticked)]
    expected = [
        (1, IDLE, RUNNING),
        *((uid, IDLE, end) for uid, end in ended),
        *((uid, end, IDLE) for uid, end in ended),
        (1, RUNNING, result),
    ]
    assert entries.of_tick() == expected
    assert entries.of_tick() == expected, "what is kept from the first tick is the same"


def test_a_parent_records_the_children_that_an_edit_gave_it() -> None:
    factory = BehaviorTreeFactory()
    tree = tree_of("<Sequence><AlwaysSuccess/></Sequence>", factory)
    entries = Entries(tree)
    entries.of_tick()
    editor = TreeEditor(tree, factory)
    editor.insert(1, 0, "<AlwaysSuccess/>")
    assert [uid for uid, _, new in entries.of_tick() if new is IDLE] == [3, 2]
    editor.undo()
    assert [uid for uid, _, new in entries.of_tick() if new is IDLE] == [2]


def test_children_that_a_leaf_has_reset_are_not_recorded_twice() -> None:
    """A leaf that halts its tree resets those before it; their parent does not again."""
    factory = BehaviorTreeFactory()

    def halt(node):
        tree.halt_tree()
        return SUCCESS

    factory.register_simple_action("Halt", halt)
    tree = tree_of("<Sequence><AlwaysSuccess/><Halt/></Sequence>", factory)
    entries = Entries(tree)
    first = [entry for entry in entries.of_tick() if entry[0] == 2]
    assert first == [(2, IDLE, SUCCESS), (2, SUCCESS, IDLE)]


def test_a_batch_repeats_another_if_only_their_times_differ() -> None:
    node = tree_of("<AlwaysSuccess/>").root_node()

    def batch(*entries):
        return RecordBatch([item for entry in entries for item in entry], [], 0, 0)

    ticked, skipped = (5, node, IDLE, SUCCESS), (5, node, IDLE, IDLE)
    assert batch(ticked).repeats(batch((7, *ticked[1:])))
    assert not batch(ticked).repeats(batch(skipped))
    assert not batch(skipped).repeats(batch((5, node, SUCCESS, IDLE)))
    assert not batch(ticked).repeats(batch(ticked, skipped))


def test_a_leaf_that_blocks_holds_nothing_back() -> None:
    """What came before it reaches the readers while it blocks, again and again in one tick."""
    factory = BehaviorTreeFactory()
    reader = Reader()
    counts = []

    def block(node):
        before = len(reader.seen)
        until(lambda: len(reader.seen) > before)
        counts.append(len(reader.seen))
        return SUCCESS

    factory.register_simple_action("Block", block)
    tree = tree_of("<Sequence><Block/><Block/></Sequence>", factory)
    tree.subscribe_changes(reader)
    assert tree.tick_exactly_once() is SUCCESS
    assert counts == [2, 4]


def test_readers_get_what_happens_while_they_are_there() -> None:
    tree = tree_of("<Sequence><AlwaysSuccess/></Sequence>")
    first, second = Reader(), Reader()
    end_first = tree.subscribe_changes(first)
    tree.tick_exactly_once()
    end_second = tree.subscribe_changes(second)
    tree.tick_exactly_once()
    end_first()
    tree.tick_exactly_once()
    end_second()
    tree.tick_exactly_once()
    assert len(first.seen) == len(second.seen) == 10
    assert first.seen[:5] == [
        (1, "IDLE", "RUNNING"),
        (2, "IDLE", "SUCCESS"),
        (2, "SUCCESS", "IDLE"),
        (1, "RUNNING", "SUCCESS"),
        (1, "SUCCESS", "IDLE"),
    ]
    assert first.times == sorted(first.times)


def test_callbacks_and_readers_together() -> None:
    tree = tree_of("<Fallback><AlwaysFailure/><Inverter><AlwaysFailure/></Inverter></Fallback>")
    reader, seen = Reader(), []
    tree.subscribe_changes(reader)
    tree.tick_exactly_once()
    end = tree.subscribe_status_change(
        lambda node, old, new: seen.append((node.uid(), old.name, new.name))
    )
    tree.tick_exactly_once()
    end()
    tree.tick_exactly_once()
    tree.drain_changes()
    third = len(reader.seen) // 3
    assert reader.seen == seen * 3
    assert len(seen) == third


def test_each_change_has_the_thread_that_made_it() -> None:
    tree = tree_of("<Delay delay_msec='100000'><AlwaysSuccess/></Delay>")
    reader, threads = Reader(), []
    tree.subscribe_changes(reader)

    def halt() -> None:
        threads.append(threading.get_native_id())
        tree.halt_tree()

    assert tree.tick_exactly_once() is RUNNING
    other = threading.Thread(target=halt)
    other.start()
    other.join()
    tree.drain_changes()
    assert reader.threads == [threading.get_native_id(), *threads]


def test_neither_the_thread_nor_the_recorder_outlives_the_tree() -> None:
    tree = tree_of("<AlwaysSuccess/>")
    tree.subscribe_changes(Reader())
    thread = tree._recorder._thread
    gone = weakref.ref(tree)
    del tree
    gc.collect()
    assert gone() is None
    thread.join(timeout=60.0)
    assert not thread.is_alive()


def test_nodes_above_a_child_that_goes_on_count_as_ticked() -> None:
    factory = BehaviorTreeFactory()
    factory.register_simple_stateful_action("Move", lambda node: RUNNING, lambda node: RUNNING)
    tree = tree_of(
        "<Sequence><AlwaysSuccess/><Fallback><Inverter><Move/></Inverter><AlwaysSuccess/>"
        '</Fallback><AlwaysSuccess _skipIf="true"/></Sequence>',
        factory,
    )
    tree.record_ticks()
    tree.tick_exactly_once()
    assert [node.uid() for node in tree.ticked_nodes()] == [1, 2, 3, 4, 5]
    tree.tick_exactly_once()
    assert [node.uid() for node in tree.ticked_nodes()] == [1, 3, 4, 5]


def test_nodes_that_are_skipped_or_wait_count_as_ticked_and_halted_ones_do_not() -> None:
    factory = BehaviorTreeFactory()
    results = iter((SUCCESS, NodeStatus.FAILURE))
    factory.register_simple_condition("Check", lambda node: next(results))
    tree = tree_of(
        '<ReactiveSequence><AlwaysSuccess _skipIf="true"/><Check/>'
        '<Delay delay_msec="100000"><AlwaysSuccess/></Delay></ReactiveSequence>',
        factory,
    )
    tree.record_ticks()
    tree.tick_exactly_once()
    assert [node.uid() for node in tree.ticked_nodes()] == [1, 2, 3, 4]
    tree.tick_exactly_once()
    assert [node.uid() for node in tree.ticked_nodes()] == [1, 2, 3]


def test_what_nodes_came_to_does_not_depend_on_where_a_record_is_cut() -> None:
    factory = BehaviorTreeFactory()
    factory.register_simple_stateful_action("Move", lambda node: RUNNING, lambda node: RUNNING)
    body = """<ReactiveFallback>
      <Sequence><AlwaysSuccess _skipIf="true"/><AlwaysSuccess/><AlwaysFailure/></Sequence>
      <Sequence><Sequence><Move/></Sequence></Sequence>
    </ReactiveFallback>"""
    tree = tree_of(body, factory)
    record = tree.runtime.record = TickRecord()
    tree.tick_exactly_once()
    record.clear()
    tree.tick_exactly_once()
    items = list(record)
    failed = NodeStatus.FAILURE
    expected = [RUNNING, failed, NodeStatus.IDLE, SUCCESS, failed, RUNNING, RUNNING, RUNNING]
    for cut in range(0, len(items), 4):
        parts = (items[:cut], items[cut:])
        results, ticked = outcomes([RecordBatch(part, [], 0, 0) for part in parts])
        assert [results[node] for node in tree.nodes()] == expected, cut
        assert ticked == set(tree.nodes())


def test_each_entry_has_a_time_between_those_of_its_neighbours() -> None:
    factory = BehaviorTreeFactory()
    factory.register_simple_action(
        "Note", lambda node: (marks.append(time.monotonic_ns()), True)[1]
    )
    tree = tree_of("<Sequence><Sequence><Note/><Note/></Sequence><Note/></Sequence>", factory)
    reader, marks = Reader(), []
    tree.subscribe_changes(reader)
    begun = time.monotonic_ns()
    tree.tick_exactly_once()
    tree.drain_changes()
    assert [begun, *reader.times] == sorted([begun, *reader.times])
    ends = [
        when
        for when, (uid, _, new) in zip(reader.times, reader.seen, strict=True)
        if uid in (3, 4, 5) and new == "SUCCESS"
    ]
    assert all(mark < end for mark, end in zip(marks, ends, strict=True))
    assert all(end < mark for end, mark in zip(ends, marks[1:], strict=False))


def test_the_newest_parts_of_a_record_tell_the_last_status_of_each_node() -> None:
    tree = tree_of("<Sequence><AlwaysSuccess/><Inverter><AlwaysFailure/></Inverter></Sequence>")
    batches: list[RecordBatch] = []
    reader = Reader()
    reader.read = batches.append
    tree.subscribe_changes(reader)
    for _ in range(20):
        tree.tick_exactly_once()
    tree.drain_changes()
    (batch,) = batches
    parts = list(batch.newest_first(7))
    assert sum(map(len, parts)) == len(batch)
    last = {}
    for part in parts:
        last = part.last_statuses() | last
    assert last == batch.last_statuses()
    assert {pair[1] for pair in last.values()} == {NodeStatus.IDLE}


def test_the_clock_is_read_only_while_a_reader_looks_at_times(monkeypatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(node_kernel, "monotonic_ns", lambda: read.append(0) or len(read))
    tree = tree_of("<Sequence><AlwaysSuccess/><AlwaysSuccess/></Sequence>")
    assert Entries(tree).of_tick()
    assert not read
    forget = tree.subscribe_changes(Reader())
    tree.tick_exactly_once()
    assert len(read) == 4  # the beginning, the leaves, the reset of the root
    forget()
    tree.drain_changes()
    tree.tick_exactly_once()
    assert len(read) == 4


def test_a_batch_without_times_has_that_of_its_beginning() -> None:
    tree = tree_of("<AlwaysSuccess/>")
    node, entries = tree.root_node(), [(NodeStatus.IDLE, SUCCESS), (SUCCESS, NodeStatus.IDLE)]
    items = [item for before, after in entries for item in (0, node, before, after)]
    assert RecordBatch(items, [], 0, 17).changes.times == [17, 17]
