# SPDX-License-Identifier: Apache-2.0
"""The node in its own ROS domain: topics, services, and that bad input never stops it."""

import gc
import math
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")
pytest.importorskip("vision_msgs.msg")

from behavior_msgs.msg import SceneObject, SceneQuestion
from behavior_msgs.srv import AttachObject, FreezeObjects, QueryScene
from scene_rig import Rig

from behavior_ros.testing import until
from behavior_scene.node.detection_input import DetectionInput


@pytest.fixture
def rig():
    made = Rig()
    yield made
    made.close()


def test_detection_becomes_an_object_with_shape_and_colour(rig):
    rig.see()
    rig.until(lambda: rig.object() is not None)
    obj = rig.object()
    assert rig.newest.header.frame_id == "world"
    assert obj.state == SceneObject.TRACKED
    assert list(obj.shape.dimensions) == pytest.approx([0.0515] * 3)
    assert obj.color.b > 0.5
    assert obj.pose.position.x == pytest.approx(0.5)


def test_bad_input_is_counted_and_never_stops_the_node(rig):
    bad = {
        "not_finite": {"at": (math.nan, 0, 0)},
        "bad_quaternion": {"turn": (0, 0, 0, 0)},
        "unknown_frame": {"frame": "nowhere"},
        "unknown_class": {"name": "cat"},
        "from_the_future": {"stamp": rig.now() + 100.0},
        "from_the_past": {"stamp": rig.now() - 100.0},
    }
    for count, detection in enumerate(bad.values(), start=1):
        rig.see(**detection)
        rig.until(lambda count=count: rig.node.host.scene.defects.total() == count)
    rig.until(lambda: set(bad) <= set(rig.diagnostics))
    rig.hand(0.1)
    rig.see(frame="hand", stamp=-5.0)  # messages can hold such times, clocks cannot
    rig.until(lambda: rig.node.host.scene.defects.total() == len(bad) + 1)
    rig.see()
    rig.until(lambda: rig.object() is not None)


def test_attach_freeze_and_query(rig):
    rig.hand(0.1)
    rig.see()
    rig.until(lambda: rig.object() is not None)
    assert rig.call(AttachObject, "/scene/attach", name="cat", attach=True, link="hand").code == 101
    bad = rig.call(AttachObject, "/scene/attach", name="blue_block", attach=True, link="foot")
    assert bad.code == 102
    assert "foot" in bad.message
    rig.hand(0.1)
    assert (
        rig.call(AttachObject, "/scene/attach", name="blue_block", attach=True, link="hand").code
        == 0
    )
    rig.until(lambda: rig.object().state == SceneObject.ATTACHED)
    question = SceneQuestion(question=SceneQuestion.HELD, object="blue_block")
    assert rig.call(QueryScene, "/scene/query", question=question).answer.answer
    assert rig.call(AttachObject, "/scene/attach", name="blue_block", attach=False).code == 0
    assert rig.call(FreezeObjects, "/scene/freeze", names=["blue_block"], freeze=True).code == 0
    rig.until(lambda: rig.object().state == SceneObject.FROZEN)
    assert rig.call(FreezeObjects, "/scene/freeze", names=["cat"], freeze=True).code == 101
    refused = rig.call(QueryScene, "/scene/query", question=SceneQuestion(question=99))
    assert refused.code == 102


def test_who_asks_sees_at_once_what_would_be_shown_later():
    seldom = Rig(publish_rate=0.1, idle_period=10.0)
    try:
        seldom.see()
        seldom.until(lambda: seldom.object() is not None)
        before = seldom.newest.revision
        seldom.see(at=(0.51, 0.0, 0.026))
        seldom.until(lambda: seldom.node.host.scene.revision > before)
        answer = seldom.call(QueryScene, "/scene/query").answer
        assert answer.revision > before
        seldom.until(lambda: seldom.newest.revision >= answer.revision, timeout=5.0)
    finally:
        seldom.close()


def test_unseen_object_goes_stale(rig):
    rig.see()
    rig.until(lambda: rig.object() is not None)
    rig.until(lambda: rig.object().state == SceneObject.STALE)


def test_a_destroyed_scene_leaves_no_participant_to_the_collector():
    """Destroyed at any later moment, a participant can wait in vain for its own discovery."""

    def threads():
        return len(list(Path("/proc/self/task").iterdir()))

    Rig().close()  # what a process has once and for all
    gc.collect()
    before = threads()
    gc.disable()
    try:
        Rig().close()
        # The thread of the memory ends by itself, those of a participant that is left do not.
        until(lambda: threads() <= before, 20.0, "the end of all threads")
    finally:
        gc.enable()


def test_images_that_wait_for_a_hand_keep_no_others_waiting_when_the_clock_is_set_back(
    rig, monkeypatch
):
    rig.hand(0.0)
    rig.see(at=(0.5, 0.0, 0.0))
    rig.until(lambda: rig.object() is not None)
    rig.call(AttachObject, "/scene/attach", name="blue_block", attach=True, link="hand")
    host = rig.node.host
    rig.see(stamp=rig.now() + 0.2)  # where the hand is then nobody knows yet
    part = next(part for part in rig.node.parts if isinstance(part, DetectionInput))
    rig.until(lambda: part.waiting)
    now = host.now
    monkeypatch.setattr(host, "now", lambda: now() - 100.0)
    rig.until(lambda: not part.waiting, timeout=5.0)
