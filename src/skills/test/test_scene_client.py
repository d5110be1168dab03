# SPDX-License-Identifier: Apache-2.0
"""A goal sees no older scene than there was when it began, however late the snapshots come."""

import numpy as np
import pytest
from behavior_msgs.msg import SceneObject, SceneObjectArray
from behavior_msgs.srv import AttachObject, QueryScene
from rclpy.node import Node
from shape_msgs.msg import SolidPrimitive

from behavior_ros import QOS_LATCHED
from behavior_ros.testing import Bench
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node import scene_client
from behavior_skills.node.scene_client import SceneClient, SceneTopic


class SceneStub:
    """A scene whose snapshots come when the test wants them to."""

    def __init__(self, node):
        self.revision = 0
        self.publisher = node.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        node.create_service(QueryScene, "/scene/query", self._query)
        node.create_service(AttachObject, "/scene/attach", self._attach)

    def show(self, revision, **objects):
        message = SceneObjectArray(revision=revision)
        message.header.frame_id = "world"
        for name, (x, kind) in objects.items():
            obj = SceneObject(name=name, kind=kind)
            obj.shape = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.1, 0.1, 0.1])
            obj.pose.position.x = x
            message.objects.append(obj)
        self.publisher.publish(message)

    def _query(self, request, response):
        response.code = 101
        response.answer.revision = self.revision
        return response

    def _attach(self, request, response):
        self.revision += 1
        response.revision = self.revision
        return response


class GoalBench(Bench):
    """A client, and its goal's context: every tick spins and counts as a tenth of a second."""

    def __init__(self):
        super().__init__()
        self.scene_node = self.add(Node("scene_stub", context=self.context))
        self.stub = SceneStub(self.scene_node)
        self.news = 0
        self.topic = SceneTopic(self.peer, lambda frame: np.eye(4), self._on_news)
        self.time, self.step, self.ticks, self.at_tick = 0.0, 0.002, 0, {}
        self.tf = {"world": np.eye(4)}
        self.until(self.topic.query.service_is_ready)
        self.until(self.topic.attacher.service_is_ready)

    def _on_news(self):
        self.news += 1

    def client(self):
        return SceneClient(self.topic, self, self.peer)

    def show(self, revision, **objects):
        """Show a snapshot, and wait until it is there."""
        self.stub.show(revision, **objects)
        self.until(lambda: self.topic.revision() == revision)

    def look_up(self, frame, stamp):
        if frame not in self.tf:
            raise SkillFailure(FailureCode.UNKNOWN_FRAME, f"no {frame}")
        return self.tf[frame]

    # -- the goal's context

    def now(self):
        return self.time

    def tick(self):
        self.ticks += 1
        if self.ticks in self.at_tick:
            self.at_tick[self.ticks]()
        for _ in range(5):
            self.executor.spin_once(timeout_sec=0.005)
        self.time += self.step


@pytest.fixture
def bench():
    made = GoalBench()
    yield made
    made.close()


def x_of(pose):
    return float(pose[0, 3])


def test_goal_that_follows_a_freeze_sees_the_frozen_pose(bench):
    """The snapshot of the freeze comes 30 ticks after the goal: the race, lost every time."""
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 7
    bench.at_tick[30] = lambda: bench.stub.show(7, cup=(0.2, "detected"))
    assert x_of(bench.topic.objects()["cup"].base_T_object) == 0.1  # without waiting
    assert x_of(bench.client().objects()["cup"].base_T_object) == pytest.approx(0.2)
    assert bench.ticks >= 30


def test_scene_is_asked_once_for_each_goal(bench):
    bench.show(7, cup=(0.1, "detected"))
    bench.stub.revision = 7
    client, news = bench.client(), bench.news
    client.objects()
    assert (
        bench.news == news + 1
    )  # the scene's answer: whoever waits need not wait for a joint state
    ticks = bench.ticks
    client.objects()
    assert bench.ticks == ticks


def test_frames_of_objects_come_from_the_snapshot_not_from_tf(bench):
    bench.tf["cup"] = np.diag([2.0, 2.0, 2.0, 1.0])  # what TF says is older
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 7
    bench.at_tick[20] = lambda: bench.stub.show(7, cup=(0.2, "detected"), slot=(0.3, "stack_slot"))
    client = bench.client()
    assert x_of(client.base_T_frame("cup", 0.0, bench.look_up)) == pytest.approx(0.2)
    assert x_of(client.base_T_frame("slot", 0.0, bench.look_up)) == pytest.approx(0.3)
    assert bench.client().base_T_frame("world", 0.0, bench.look_up) is bench.tf["world"]


def test_new_object_is_waited_for_and_a_deleted_one_is_unknown_although_tf_remembers_it(bench):
    bench.tf["cup"] = np.eye(4)
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 7
    bench.at_tick[20] = lambda: bench.stub.show(7, slot=(0.3, "stack_slot"))
    client = bench.client()
    assert x_of(client.base_T_frame("slot", 0.0, bench.look_up)) == pytest.approx(0.3)
    with pytest.raises(SkillFailure, match="'cup' is an object that the scene has lost or deleted"):
        client.base_T_frame("cup", 0.0, bench.look_up)
    with pytest.raises(SkillFailure, match="no nowhere"):
        client.base_T_frame("nowhere", 0.0, bench.look_up)


def test_derived_objects_are_places_not_things_but_for_zones(bench):
    bench.show(
        7, cup=(0.1, "detected"), slot=(0.3, "stack_slot"), old=(0.5, ""), keep_out=(0.7, "zone")
    )
    bench.stub.revision = 7
    objects = bench.client().objects()
    assert set(objects) == {"cup", "old", "keep_out"}
    assert [name for name, obj in objects.items() if obj.is_zone] == ["keep_out"]


def test_attaching_waits_for_the_revision_that_shows_it(bench):
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 6
    bench.at_tick[20] = lambda: bench.stub.show(7, cup=(0.1, "detected"))
    bench.client().attach("cup", "hand")
    assert bench.topic.revision() == 7


def test_a_simulation_that_runs_fast_gives_the_scene_no_less_time(bench):
    bench.step = 1.0
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 6
    bench.at_tick[20] = lambda: bench.stub.show(7, cup=(0.1, "detected"))
    bench.client().attach("cup", "hand")
    assert bench.topic.revision() == 7


def test_scene_that_does_not_publish_what_it_tells_of_is_lost(bench, monkeypatch):
    monkeypatch.setattr(scene_client, "TIMEOUT", 0.2)
    monkeypatch.setattr(scene_client, "TIMEOUT_WALL", 0.2)
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 7
    with pytest.raises(SkillFailure, match="at revision 7, but its newest snapshot") as error:
        bench.client().objects()
    assert error.value.failure is FailureCode.SERVER_LOST


def test_what_the_scene_is_asked_counts_as_work_until_it_is_answered(bench):
    """Else a simulation that waits for those who compute goes on, a step for each question."""
    bench.show(6, cup=(0.1, "detected"))
    bench.stub.revision = 6
    working = []
    bench.at_tick = {n: lambda: working.append(bool(bench.topic.workers)) for n in (1, 2, 3)}
    bench.at_tick[20] = lambda: bench.stub.show(7, cup=(0.1, "detected"))
    bench.client().attach("cup", "hand")
    assert working == [True, True, True]
    assert not bench.topic.workers


def test_the_groups_of_a_robot_read_each_snapshot_once(bench, monkeypatch):
    read, reads = scene_client.deserialize_message, []
    monkeypatch.setattr(
        scene_client, "deserialize_message", lambda *args: reads.append(args) or read(*args)
    )
    other = SceneTopic(bench.peer, lambda frame: 2.0 * np.eye(4))
    for revision in (6, 7):
        bench.show(revision, cup=(0.1 * revision, "detected"))
        bench.until(lambda: other.revision() == bench.topic.revision())
    assert len(reads) == 2
    assert x_of(bench.topic.objects()["cup"].base_T_object) == pytest.approx(0.7)
    assert x_of(other.objects()["cup"].base_T_object) == pytest.approx(1.4)
