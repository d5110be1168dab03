# SPDX-License-Identifier: Apache-2.0
"""Questions to the node in its own ROS domain: service, action, clouds good and bad."""

import array
import math

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")

from action_msgs.msg import GoalStatus  # noqa: E402
from behavior_msgs.action import CheckScene  # noqa: E402
from behavior_msgs.msg import (  # noqa: E402
    ColorRange,
    SceneQuestion,
    SceneShape,
    SceneTrackArray,
)
from behavior_msgs.srv import FreezeObjects, QueryScene  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Pose, TransformStamped  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from sensor_msgs.msg import PointCloud2, PointField  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from behavior_ros import QOS_LATCHED, to_time  # noqa: E402
from behavior_ros.testing import Bench  # noqa: E402
from behavior_scene.node.question_server import QuestionServer  # noqa: E402
from behavior_scene.node.scene_node import SceneNode  # noqa: E402

Q = SceneQuestion


class Rig(Bench):
    """The scene node, and a node that plays camera and client. The hand stands at (0.5, 0, z)."""

    def __init__(self):
        super().__init__()
        self.node = self.make(SceneNode, points_linger=60.0)
        server = next(part for part in self.node.parts if isinstance(part, QuestionServer))
        self.points = server.clouds
        self.diagnostics = {}
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._diagnose, 10)
        self.clouds = self.peer.create_publisher(PointCloud2, "/camera/points", 5)
        self.detections = self.peer.create_publisher(Detection3DArray, "/detections", 10)
        self.tf = self.peer.create_publisher(TFMessage, "/tf", 10)
        self.query = self.peer.create_client(QueryScene, "/scene/query")
        self.check = ActionClient(self.peer, CheckScene, "/scene/check")
        self.until(self.query.service_is_ready)
        self.until(self.check.server_is_ready)
        self.until(lambda: self.tf.get_subscription_count() > 0)

    def _diagnose(self, message):
        for status in message.status:
            if status.name.endswith("points"):
                self.diagnostics = {item.key: item.value for item in status.values}

    def now(self):
        return self.peer.get_clock().now().nanoseconds * 1e-9

    def frame(self, name, at):
        transform = TransformStamped(child_frame_id=name)
        transform.header.frame_id = "world"
        transform.header.stamp = to_time(self.now())
        origin = transform.transform.translation
        origin.x, origin.y, origin.z = (float(number) for number in at)
        transform.transform.rotation.w = 1.0
        self.tf.publish(TFMessage(transforms=[transform]))

    def hand(self, z):
        """Move the hand, and wait until the scene knows."""
        self.frame("hand", (0.5, 0.0, z))

        def there():
            pose = self.node.host.link_pose("hand", None)
            return pose is not None and pose[2, 3] == pytest.approx(z)

        self.until(there)

    def cloud(self, points, color=0xFF0000, **changes):
        data = np.zeros((len(points), 4), dtype=np.float32)
        data[:, :3] = np.reshape(points, (-1, 3))
        data[:, 3] = np.array([color], dtype=np.uint32).view(np.float32)
        message = PointCloud2(
            height=1,
            width=len(points),
            fields=[
                PointField(name=name, offset=4 * place, datatype=7, count=1)
                for place, name in enumerate(("x", "y", "z", "rgb"))
            ],
            point_step=16,
            row_step=16 * len(points),
            data=array.array("B", data.tobytes()),
        )
        message.header.frame_id = "world"
        message.header.stamp = to_time(self.now())
        for name, value in changes.items():
            if name in ("frame_id", "stamp"):
                setattr(message.header, name, value)
            else:
                setattr(message, name, value)
        self.clouds.publish(message)

    def see(self, name, at):
        """Have a detector see a thing."""
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = name, 0.9
        position = result.pose.pose.position
        position.x, position.y, position.z = at
        message = Detection3DArray(detections=[Detection3D(results=[result])])
        message.header.frame_id = "world"
        message.header.stamp = to_time(self.now())
        self.detections.publish(message)

    def ask(self, question, name, /, **fields):
        request = QueryScene.Request(question=Q(question=question, object=name, **fields))
        return self.answer(self.query.call_async(request))

    def start(self, question, name, /, *, once=False, timeout=20.0, **fields):
        """Send a goal of /scene/check; returns its handle and a list that gets its feedback."""
        feedback = []
        goal = CheckScene.Goal(
            question=Q(question=question, object=name, **fields), once=once, timeout=timeout
        )
        future = self.check.send_goal_async(
            goal, feedback_callback=lambda message: feedback.append(message.feedback.answer)
        )
        return self.answer(future), feedback

    def result(self, handle):
        ended = self.answer(handle.get_result_async())
        return ended.status, ended.result


@pytest.fixture(scope="module")
def rig():
    made = Rig()
    yield made
    made.close()


NEAR = {"reference": "world", "minimum": 0.0, "maximum": 0.2}
BALL = {"shape": SceneShape(kind=SceneShape.SPHERE, dimensions=[0.1])}
SOME = [(0.5, 0.0, 0.01 * index) for index in range(5)]
"""Points within 0.1 m of (0.5, 0, 0)."""


def test_the_service_answers_about_frames_in_words(rig):
    rig.hand(0.3)
    found = rig.ask(Q.DISTANCE_Z_ABS, "hand", **NEAR)
    assert found.code == 0
    assert not found.answer.answer
    assert found.answer.value == pytest.approx(0.3)
    assert "0.300 m in height" in found.answer.text
    assert math.isnan(found.answer.mean_hsv[0])
    assert found.answer.stamp.sec > 0


def test_bad_questions_are_answered_with_what_is_wrong(rig):
    rig.hand(0.3)
    assert rig.ask(99, "hand").code == 102
    unknown = rig.ask(Q.DISTANCE, "cup", **NEAR)
    assert unknown.code == 101
    assert "cup" in unknown.message
    pyramid = rig.ask(Q.CONTAINS_FRAME, "hand", reference="world", shape=SceneShape(kind=9))
    assert pyramid.code == 102
    assert "convex_mesh" in pyramid.message
    twisted = Pose()
    twisted.orientation.w = 0.0
    bad = rig.ask(Q.CONTAINS_FRAME, "hand", reference="world", shape_pose=twisted, **BALL)
    assert bad.code == 102
    assert "unit quaternion" in bad.message
    colors = {"check_color": True, "color": ColorRange(saturation_min=1.0)}
    bad = rig.ask(Q.CONTAINS_POINTS, "hand", **BALL, **colors)
    assert bad.code == 102
    assert "saturation" in bad.message


def test_a_check_ends_with_the_first_yes_and_shows_the_value_meanwhile(rig):
    rig.hand(0.5)
    handle, feedback = rig.start(Q.DISTANCE_Z_ABS, "hand", **NEAR)
    rig.until(lambda: len(feedback) >= 2)
    assert feedback[-1].value == pytest.approx(0.5)
    assert not feedback[-1].answer
    rig.hand(0.1)
    status, result = rig.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.code == CheckScene.Result.SUCCESS
    assert result.answer.answer
    assert result.answer.value == pytest.approx(0.1)


def test_a_check_asked_once_ends_with_no(rig):
    rig.hand(0.5)
    handle, _ = rig.start(Q.DISTANCE_Z_ABS, "hand", once=True, **NEAR)
    status, result = rig.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.code == CheckScene.Result.ANSWER_IS_NO
    assert "not within 0..0.2" in result.message


def test_checks_that_cannot_succeed_say_why(rig):
    rig.hand(0.5)
    late, _ = rig.start(Q.DISTANCE_Z_ABS, "hand", timeout=0.2, **NEAR)
    _, result = rig.result(late)
    assert result.code == CheckScene.Result.TIMED_OUT
    assert "0.500 m" in result.message
    unknown, _ = rig.start(Q.HELD, "cup", timeout=0.2)
    _, result = rig.result(unknown)
    assert result.code == CheckScene.Result.UNKNOWN_OBJECT
    shape, _ = rig.start(Q.CONTAINS_POINTS, "cup", timeout=0.2, **BALL)
    _, result = rig.result(shape)
    assert result.code == CheckScene.Result.TIMED_OUT
    assert "point cloud on /camera/points" in result.message
    bad, _ = rig.start(Q.DISTANCE, "hand", timeout=-1.0, **NEAR)
    _, result = rig.result(bad)
    assert result.code == CheckScene.Result.INVALID_REQUEST
    assert "timeout" in result.message


def test_a_check_is_cancelled_at_once_and_others_go_on(rig):
    rig.hand(0.5)
    first, _ = rig.start(Q.DISTANCE_Z_ABS, "hand", **NEAR)
    second, _ = rig.start(Q.DISTANCE_Z_ABS, "hand", **NEAR)
    rig.until(first.cancel_goal_async().done)
    status, result = rig.result(first)
    assert status == GoalStatus.STATUS_CANCELED
    assert result.code == CheckScene.Result.CANCELED
    rig.hand(0.0)
    assert rig.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_points_are_counted_on_a_cloud_after_the_goal_never_on_one_before(rig):
    rig.hand(0.0)
    rig.ask(Q.CONTAINS_POINTS, "hand", **BALL)  # has the scene listen
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    before = rig.points.accepted
    rig.cloud(SOME)
    rig.until(lambda: rig.points.accepted > before)
    old = rig.ask(Q.CONTAINS_POINTS, "hand", minimum=5.0, maximum=5.0, **BALL)
    assert old.answer.answer, old
    handle, feedback = rig.start(Q.CONTAINS_POINTS, "hand", minimum=3.0, maximum=3.0, **BALL)
    rig.until(lambda: len(feedback) >= 3)
    assert not any(answer.answer for answer in feedback)
    assert all(answer.value == 0.0 for answer in feedback)
    rig.cloud(SOME[:3])
    _, result = rig.result(handle)
    assert result.code == CheckScene.Result.SUCCESS
    assert result.answer.value == 3.0
    assert list(result.answer.mean_hsv) == pytest.approx([0.0, 1.0, 1.0])
    assert rig.node.host.shown_shapes.at(rig.now())[0].answer.value == 3.0


def test_a_cloud_from_before_the_clock_was_set_back_counts_no_more(rig, monkeypatch):
    rig.ask(Q.CONTAINS_POINTS, "world", **BALL)  # has the scene listen
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    before = rig.points.accepted
    rig.cloud(SOME)
    rig.until(lambda: rig.points.accepted > before)
    assert rig.points.newest() is not None
    now = rig.node.host.now
    monkeypatch.setattr(rig.node.host, "now", lambda: now() - 100.0)
    assert rig.points.newest_after(now() - 50.0) is None


def test_feedback_comes_ten_times_a_second_at_most_however_many_clouds_there_are(rig):
    rig.hand(0.0)
    begin = rig.now()
    handle, feedback = rig.start(Q.CONTAINS_POINTS, "hand", minimum=99.0, maximum=99.0, **BALL)
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    accepted = rig.points.accepted
    while len(feedback) < 10:
        rig.cloud(SOME)
        rig.until(lambda before=accepted: rig.points.accepted > before)
        accepted = rig.points.accepted
    # Of ten intervals one may be half as long, where the first look came late.
    assert rig.now() - begin >= 0.1 * (len(feedback) - 1) - 0.05
    rig.until(handle.cancel_goal_async().done)


def test_clouds_are_left_alone_when_nobody_asks_for_a_while(rig):
    rig.points.linger = 0.1
    rig.ask(Q.CONTAINS_POINTS, "world", **BALL)
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    rig.until(lambda: rig.clouds.get_subscription_count() == 0)
    assert rig.points.waiting == 0
    rig.points.linger = 60.0


def test_colour_belongs_to_the_verdict(rig):
    rig.hand(0.0)
    bounds = {"minimum": 1.0, "maximum": 9.0, "check_color": True}
    full = {"saturation_max": 1.0, "value_max": 1.0}
    blue = ColorRange(hue_min=200.0, hue_max=280.0, **full)
    red = ColorRange(hue_min=340.0, hue_max=20.0, **full)
    handles = [
        rig.start(Q.CONTAINS_POINTS, "hand", once=True, color=color, **BALL, **bounds)[0]
        for color in (red, blue)
    ]
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    rig.cloud(SOME)
    codes = [rig.result(handle)[1].code for handle in handles]
    assert codes == [CheckScene.Result.SUCCESS, CheckScene.Result.ANSWER_IS_NO]


def test_malformed_clouds_are_counted_explained_and_do_not_stop_the_node(rig):
    rig.hand(0.0)
    handle, feedback = rig.start(Q.CONTAINS_POINTS, "hand", minimum=5.0, maximum=5.0, **BALL)
    rig.until(lambda: rig.clouds.get_subscription_count() > 0)
    nan = [(math.nan, math.nan, math.nan)]
    bad = {
        "cloud_big_endian": {"is_bigendian": True},
        "cloud_bad_fields": {"point_step": 8, "row_step": 999},
        "cloud_wrong_size": {"row_step": 4},
        "cloud_missing_fields": {"fields": []},
        "cloud_empty": {"points": []},
        "cloud_no_finite_point": {"points": nan},
        "cloud_unknown_frame": {"frame_id": "nowhere"},
        "cloud_from_the_future": {"stamp": to_time(rig.now() + 100.0)},
        "cloud_from_the_past": {"stamp": to_time(rig.now() - 100.0)},
    }
    for count, changes in enumerate(bad.values(), start=1):
        rig.cloud(changes.pop("points", SOME), **changes)
        rig.until(lambda count=count: rig.points.defects.total() == count)
    assert {defect.value for defect in rig.points.defects} == set(bad)
    rig.until(lambda: set(bad) <= set(rig.diagnostics))
    assert "little-endian" in rig.diagnostics["cloud_big_endian: newest case"]
    rig.until(lambda: "clocks" in feedback[-1].text or "old" in feedback[-1].text)
    rig.cloud(SOME)
    assert rig.result(handle)[1].code == CheckScene.Result.SUCCESS


def test_a_cloud_waits_for_the_transform_of_its_time(rig):
    rig.hand(0.0)
    handle, _ = rig.start(Q.CONTAINS_POINTS, "hand", minimum=5.0, maximum=5.0, **BALL)
    rig.frame("camera", (0.5, 0.0, -1.0))
    rig.until(lambda: rig.node.host.link_pose("camera", None) is not None)
    rig.cloud([(x - 0.5, y, z + 1.0) for x, y, z in SOME], frame_id="camera")
    rig.until(lambda: rig.points.waiting > 0)
    rig.frame("camera", (0.5, 0.0, -1.0))
    assert rig.result(handle)[1].code == CheckScene.Result.SUCCESS


def test_who_looks_sees_objects_tracks_and_shapes_and_no_ghosts(rig):
    newest, tracks = {}, []

    def keep(message):
        newest.clear()
        for marker in message.markers:
            newest[marker.ns, marker.id] = marker

    def texts():
        return {marker.text for marker in newest.values() if marker.action == Marker.ADD}

    looks = rig.peer.create_subscription(MarkerArray, "/scene/markers", keep, QOS_LATCHED)
    rig.peer.create_subscription(SceneTrackArray, "/scene/tracks", tracks.append, QOS_LATCHED)
    rig.hand(0.0)

    def seen():
        rig.see("mug", (0.5, 0.0, 0.0))
        return "mug_0" in texts()

    rig.until(seen)
    rig.until(lambda: tracks and tracks[-1].tracks)
    assert tracks[-1].tracks[0].class_id == "mug"
    assert rig.call(FreezeObjects, "/scene/freeze", freeze=True).code == 0
    rig.until(lambda: "mug_0 (frozen)" in texts())
    found = rig.ask(Q.CONTAINS_FRAME, "mug_0", reference="hand", **BALL)
    assert found.answer.answer
    assert found.answer.value == pytest.approx(0.0, abs=1e-6)
    rig.until(lambda: "0.000 m" in texts())
    shapes = [name for name, marker in newest.items() if marker.ns == "shapes"]
    rig.until(lambda: all(newest[name].action == Marker.DELETE for name in shapes))
    rig.peer.destroy_subscription(looks)
