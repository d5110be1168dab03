# SPDX-License-Identifier: Apache-2.0
"""Nodes that get an object of the program: the scenario of gtest_interface.cpp."""

import pytest

from behavior_tree import NodeStatus, StatefulActionNode


class Motor:
    def __init__(self):
        self.moves = 0

    def move(self):
        self.moves += 1


class Follow(StatefulActionNode):
    def __init__(self, name, config, motor):
        super().__init__(name, config)
        self.motor = motor

    def on_start(self):
        self.motor.move()
        return NodeStatus.RUNNING

    def on_running(self):
        self.motor.move()
        return NodeStatus.SUCCESS


@pytest.mark.upstream("gtest_interface.cpp", "Factory.VirtualInterface_Issue_945")
def test_object_is_handed_to_every_node(ours):
    motor = Motor()
    ours.factory.register_node_type(Follow, "Follow", motor)
    assert ours.load("<Sequence><Follow/><Follow/></Sequence>").run() == "S"
    assert motor.moves == 4
