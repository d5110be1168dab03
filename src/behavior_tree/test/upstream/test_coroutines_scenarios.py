# SPDX-License-Identifier: Apache-2.0
"""An action written as a coroutine: the scenarios of gtest_coroutines.cpp.

The engine has no class for this: a stateful action resumes a generator once per tick.
"""

import threading
from functools import partial

import pytest

from behavior_tree import NodeStatus, StatefulActionNode

covers = partial(pytest.mark.upstream, "gtest_coroutines.cpp")


class Coroutine(StatefulActionNode):
    """Runs the generator ``steps()``: RUNNING until it returns its result."""

    def __init__(self, name, config, steps, log):
        super().__init__(name, config)
        self.steps, self.log, self.generator = steps, log, None

    def on_start(self):
        self.generator = self.steps()
        return self.on_running()

    def on_running(self):
        try:
            next(self.generator)
        except StopIteration as end:
            return end.value
        return NodeStatus.RUNNING

    def on_halted(self):
        self.generator.close()
        self.log.append(f"!{self.name}")


def acting(stage, milliseconds):
    """Register ``<Act/>`` that takes the time in the list ``milliseconds`` for its next run."""

    def steps():
        end = stage.now + milliseconds[0] / 1000
        while stage.now < end:
            yield
        return NodeStatus.SUCCESS if milliseconds[1] else NodeStatus.FAILURE

    stage.factory.register_node_type(Coroutine, "Act", steps, stage.log)
    return stage


@covers("CoroTest.do_action")
def test_runs_again_after_success_and_failure(ours):
    settings = [20, True]
    acting(ours, settings).load("<Act/>")
    results = [ours.run(), ours.run()]
    settings[1] = False
    results += [ours.run(), ours.run()]
    assert results == ["S", "S", "F", "F"]
    assert ours.log == []


@covers("CoroTest.do_action_timeout")
def test_is_halted_by_a_timeout(ours):
    settings = [50, True]
    acting(ours, settings).load('<Timeout msec="30"><Act name="a"/></Timeout>')
    assert ours.run() == "F"
    assert ours.take_log() == "!a"
    settings[0] = 10
    assert ours.run() == "S"
    assert ours.take_log() == ""


@covers("CoroTest.sequence_child")
def test_second_of_two_is_halted_by_a_timeout(ours):
    acting(ours, [20, True]).load(
        '<Timeout msec="35"><Sequence><Act name="a"/><Act name="b"/></Sequence></Timeout>'
    )
    assert ours.run() == "F"
    assert ours.take_log() == "!b"


@covers("CoroTest.OtherThreadHalt")
def test_is_halted_and_started_by_another_thread(ours):
    acting(ours, [50, True]).load('<Act name="a"/>')
    assert ours.tick() == "R"
    results = []
    for call in (ours.halt, lambda: results.append(ours.tick())):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert ours.log == ["!a"]
    assert results == ["R"]
