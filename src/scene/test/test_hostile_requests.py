# SPDX-License-Identifier: Apache-2.0
"""Requests to the scene of any size and content: each is answered soon, in plain words.

The servers' callbacks are called as the executor calls them; nothing is sent.
"""

import contextlib
import re
import time

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")

from behavior_msgs.action import CheckScene, ManageScene  # noqa: E402
from behavior_msgs.msg import SceneQuestion  # noqa: E402
from behavior_msgs.srv import AttachObject, FreezeObjects, QueryScene, WhereSeen  # noqa: E402
from geometry_msgs.msg import Point  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from vision_msgs.msg import (  # noqa: E402
    Detection3D,
    Detection3DArray,
    ObjectHypothesisWithPose,
)

from behavior_ros.node.closing import destroy_node  # noqa: E402
from behavior_ros.testing import own_domain  # noqa: E402
from behavior_scene import Defect  # noqa: E402
from behavior_scene.node.detection_input import DetectionInput  # noqa: E402
from behavior_scene.node.manage_server import ManageServer  # noqa: E402
from behavior_scene.node.memory_part import MemoryPart  # noqa: E402
from behavior_scene.node.question_server import QuestionServer  # noqa: E402
from behavior_scene.node.scene_node import SceneNode  # noqa: E402
from behavior_scene.node.scene_services import SceneServices  # noqa: E402
from behavior_tree.shown_text import has_control_characters  # noqa: E402

MANAGE, CHECK = ManageScene.Goal, CheckScene.Goal
PER_REFUSAL = 0.015
"""[s] of processor time: three times what is promised, as on a busy machine with shared caches."""
LONGEST_ANSWER = 2_000
"""[characters]"""
MEGABYTE = "n" * 1_200_000
_PYTHON = re.compile(r"\w+Error\b|Exception|Traceback|<class|object at 0x")


class Handle:
    """A goal as the action server hands it over."""

    def __init__(self, goal):
        self.request, self.goal_id, self.is_cancel_requested = goal, id(self), False

    def publish_feedback(self, feedback):
        pass


@pytest.fixture(scope="module")
def parts():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=own_domain())
    node = SceneNode(context=context)
    yield {type(part): part for part in node.parts}
    destroy_node(node)
    rclpy.shutdown(context=context)


def finished(server, goal):
    """Result of a goal; one that waits is cancelled."""
    handle = Handle(goal)
    running = server._execute(handle)
    for _ in range(3):
        try:
            running.send(None)
        except StopIteration as end:
            return end.value
        handle.is_cancel_requested = True
        server.goals.cancel(handle)
    raise AssertionError("the goal does not end")


def manage(parts, **fields):
    return finished(parts[ManageServer], MANAGE(**fields))


def check(parts, timeout=0.0, **fields):
    goal = CHECK(question=SceneQuestion(**fields), once=True, timeout=timeout)
    return finished(parts[QuestionServer], goal)


def query(parts, **fields):
    request = QueryScene.Request(question=SceneQuestion(**fields))
    return parts[QuestionServer]._on_query(request, QueryScene.Response())


def shaped(kind, dimensions=(), corners=(), x=0.0):
    question = SceneQuestion(question=SceneQuestion.CONTAINS_FRAME, object="world")
    question.reference, question.shape.kind = "world", kind
    question.shape.dimensions = list(dimensions)
    question.shape.vertices = [Point(x=a, y=b, z=c) for a, b, c in corners]
    question.shape_pose.position.x = x
    return question


def ask(parts, question):
    return parts[QuestionServer]._on_query(
        QueryScene.Request(question=question), QueryScene.Response()
    )


def attach(parts, **fields):
    return parts[SceneServices]._on_attach(
        AttachObject.Request(attach=True, **fields), AttachObject.Response()
    )


def freeze(parts, names):
    return parts[SceneServices]._on_freeze(
        FreezeObjects.Request(names=names, freeze=True), FreezeObjects.Response()
    )


def where_seen(parts, **fields):
    running = parts[MemoryPart]._on_where_seen(
        WhereSeen.Request(limit=2**32 - 1, **fields), WhereSeen.Response()
    )
    with pytest.raises(StopIteration) as end:
        running.send(None)
    return end.value.value


def nominal(x, frame="world"):
    goal = MANAGE(operation=MANAGE.SETUP, names=["cup"], preview=True)
    goal.nominal_pose.pose.position.x, goal.nominal_pose.header.frame_id = x, frame
    return goal


def detectors(definition):
    return lambda parts: manage(parts, operation=MANAGE.CONFIGURE_DETECTOR, definition=definition)


def tracker(definition):
    return lambda parts: manage(parts, operation=MANAGE.CONFIGURE_TRACKER, definition=definition)


def setup(definition="", **fields):
    return lambda parts: manage(parts, operation=MANAGE.SETUP, definition=definition, **fields)


HOSTILE = {
    "definition of 10 MB": (setup("a: 1\n" * 2_000_000), "definition has 10000000 characters"),
    "definition of lists": (setup("[" * 8_000), "nested more than 20 levels"),
    "definition of blocks": (setup("- " * 4_000), "nested more than 20 levels"),
    "definition of aliases": (setup("a: &a [1]\nb: [*a, *a]"), "YAML aliases"),
    "definition of many objects": (
        setup("\n".join(f"o{i}: {{class: mug}}" for i in range(51))),
        "51 objects: at most 50",
    ),
    "definition of many keys": (
        setup("o: {" + ", ".join(f"k{i}: 1" for i in range(400)) + "}"),
        "more than 500 keys and values",
    ),
    "definition of unknown keys": (
        setup("o: {" + ", ".join(f"k{i}: 1" for i in range(100)) + "}"),
        "unknown key",
    ),
    "definition with a long name": (setup("n" * 300 + ": {class: a}"), "at most 256 characters"),
    "definition with control characters": (setup('"\\x1b[2J": {class: a}'), r"\x1b[2J"),
    "empty class": (setup(names=[""]), "object '': class: String should have at least 1 character"),
    "condition": (setup(f"a: {{class: a, where: '{'x+' * 400}1 > 0'}}"), "at most 512"),
    "nested condition": (setup(f"a: {{class: a, where: '{'(' * 500}'}}"), "cannot be read"),
    "tracker of 10 MB": (tracker("[" * 10_000_000), "definition has 10000000 characters"),
    "tracker of huge numbers": (tracker(f"nominal_rate: {'9' * 4_000}"), "more than 64 bits"),
    "detectors of 10 MB": (detectors("{" * 10_000_000), "definition has 10000000 characters"),
    "detector that is no node": (detectors("'a b': {enabled: true}"), "name of a node"),
    "names": (setup(names=["a"] * 100_000), "100000 names: at most 50"),
    "a name of 1.2 MB": (setup(names=[MEGABYTE]), "names[0] has 1200000 characters"),
    "a name that moves cursors": (setup(names=["\x1b[2J"]), r"\x1b[2J"),
    "history": (setup(names=["a"], minimum_history=10**9), "minimum_history is 1000000000"),
    "timeout below 0": (setup(names=["a"], timeout=-1.0), "timeout -1 s"),
    "timeout nan": (setup(names=["a"], timeout=float("nan")), "timeout nan s"),
    "timeout 1e300": (setup(names=["a"], timeout=1e300), "timeout 1e+300 s"),
    "link": (lambda p: manage(p, operation=MANAGE.ATTACH, link=MEGABYTE), "link has 1200000"),
    "memory": (lambda p: manage(p, operation=MANAGE.SAVE, definition=MEGABYTE), "definition has"),
    "pose nan": (lambda p: finished(p[ManageServer], nominal(float("nan"))), "holds nan"),
    "pose 1e300": (lambda p: finished(p[ManageServer], nominal(1e300)), "holds 1e+300"),
    "pose's frame": (lambda p: finished(p[ManageServer], nominal(0.0, MEGABYTE)), "frame_id has"),
    "question": (lambda p: query(p, object=MEGABYTE), "object has 1200000 characters"),
    "question that moves cursors": (lambda p: query(p, object="\x1b[2J"), r"\x1b[2J"),
    "check": (lambda p: check(p, reference=MEGABYTE), "reference has 1200000 characters"),
    "check's timeout": (lambda p: check(p, timeout=float("inf"), object="a"), "timeout inf s"),
    "dimensions": (lambda p: ask(p, shaped(1, [1.0] * 100_000)), "100000 shape.dimensions"),
    "dimensions of 1e300": (lambda p: ask(p, shaped(1, [1e300] * 3)), "holds 1e+300"),
    "corners": (lambda p: ask(p, shaped(4, (), [(0.0, 0.0, 0.0)] * 2_000)), "2000 shape.vertices"),
    "corner nan": (lambda p: ask(p, shaped(4, (), [(float("nan"), 0.0, 0.0)])), "holds nan"),
    "shape at 1e300": (lambda p: ask(p, shaped(0, [1.0], x=1e300)), "holds 1e+300"),
    "attach": (lambda p: attach(p, name=MEGABYTE), "name has 1200000 characters"),
    "attach to": (lambda p: attach(p, name="a", link="\x1b[2J"), r"\x1b[2J"),
    "freeze": (lambda p: freeze(p, ["a"] * 100_000), "100000 names: at most 50"),
    "seen": (lambda p: where_seen(p, name=MEGABYTE), "name has 1200000 characters"),
    "seen class": (lambda p: where_seen(p, class_id="\x1b[2J"), r"\x1b[2J"),
}


@pytest.mark.parametrize(("send", "why"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_request_is_refused_soon_and_in_plain_words(parts, send, why):
    spent = []
    for _ in range(5):
        begun = time.thread_time()
        answer = send(parts)
        spent.append(time.thread_time() - begun)
        assert answer.code != 0
        assert why in answer.message
        assert_plain(answer.message)
    # Making a large request takes longer than refusing it, and is not the scene's work.
    assert min(spent) - making(send) < PER_REFUSAL


def making(send):
    """Processor time [s] of making a request, without its being served."""

    class Nobody:
        def __getattr__(self, name):
            return lambda *arguments: iter(())

    class Nowhere(dict):
        def __missing__(self, key):
            return Nobody()

    begun = time.thread_time()
    with contextlib.suppress(AssertionError, AttributeError, TypeError):
        send(Nowhere())
    return time.thread_time() - begun


def assert_plain(text):
    assert text
    assert len(text) <= LONGEST_ANSWER
    assert not has_control_characters(text, lines=True)
    assert not _PYTHON.search(text), text


names = st.one_of(
    st.sampled_from(["", "world", "cup", "a" * 257, "\x1b[2J", "\0", "/x", "ä ö", "a\nb"]),
    st.text(max_size=20).filter(lambda text: not re.search("[\ud800-\udfff]", text)),
)
numbers = st.one_of(
    st.sampled_from([0.0, -1.0, 1.0, 1e-300, 1e6, 1e300, float("inf"), float("nan")]),
    st.floats(),
)
definitions = st.one_of(
    st.text("[]{}:,-?&*!|>'\"#%@ \nab10.e\x1b", max_size=60),
    st.sampled_from(
        [
            "{class: mug, near: world}",
            "a: {kind: custom, parent: world, pose: {position: [.nan, 0, 0]}}",
            "a: {kind: approach, frame_a: b, frame_b: a, distance: 1e300}",
            "a: {kind: custom, parent: a}",
            "a: {class: mug, where: 'name > 1'}",
            "a: {class: mug, where: 'x / 0 > 1'}",
            "a: {class: mug, region: {frame: b, shape: box, size: [1]}}",
            "objects: {1: 2}",
            "{detectors: 5}",
            "{detectors: {'a b': {enabled: true}}}",
            "{d: {enabled: [1, a, {}]}}",
            "{minimum_history: .inf, maximum_tracks: -1}",
        ]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_goal_of_manage_is_answered_in_plain_words(parts, data):
    draw = data.draw
    goal = MANAGE(
        operation=draw(st.integers(0, 12)),
        names=draw(st.lists(names, max_size=4)),
        definition=draw(definitions),
        link=draw(names),
        minimum_history=draw(st.sampled_from([0, 3, 10**9, 2**32 - 1])),
        preview=draw(st.booleans()),
        timeout=draw(numbers),
    )
    pose = goal.nominal_pose
    pose.header.frame_id = draw(names)
    pose.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    pose.pose.position.x, pose.pose.orientation.w = draw(numbers), draw(numbers)
    result = finished(parts[ManageServer], goal)
    assert result.code != 0 or result.message == "ok"
    assert_plain(result.message)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_question_is_answered_in_plain_words(parts, data):
    draw = data.draw
    question = SceneQuestion(
        question=draw(st.integers(0, 14)),
        object=draw(names),
        reference=draw(names),
        minimum=draw(numbers),
        maximum=draw(numbers),
        check_color=draw(st.booleans()),
    )
    question.shape.kind = draw(st.integers(0, 6))
    question.shape.dimensions = draw(st.lists(numbers, max_size=4))
    corners = draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=5))
    question.shape.vertices = [Point(x=x, y=y, z=z) for x, y, z in corners]
    question.shape_pose.position.x = draw(numbers)
    question.shape_pose.orientation.w = draw(numbers)
    question.since.sec = draw(st.integers(-(2**31), 2**31 - 1))
    hues = st.floats(width=32)
    question.color.hue_min, question.color.value_max = draw(hues), draw(hues)
    answer = ask(parts, question)
    assert answer.code in (0, 101, 102, 103)
    assert_plain(answer.message)
    goal = CHECK(question=question, once=draw(st.booleans()), timeout=draw(numbers))
    result = finished(parts[QuestionServer], goal)
    assert result.code in (0, 801, 802, 820, 841, 842)
    assert_plain(result.message)


def test_only_so_many_goals_wait(parts):
    server = parts[ManageServer]
    waiting = [Handle(MANAGE(operation=MANAGE.SETUP, names=["cup"])) for _ in range(50)]
    running = [server._execute(handle) for handle in waiting]
    for goal in running:
        goal.send(None)
    refused = manage(parts, operation=MANAGE.SETUP, names=["cup"])
    for handle, goal in zip(waiting, running, strict=True):
        server.goals.cancel(handle)
        with pytest.raises(StopIteration):
            goal.send(None)
    assert "50 goals wait for 50 objects already" in refused.message


def test_many_waiting_setups_leave_time_for_others(parts):
    server = parts[ManageServer]
    definition = "\n".join(f"o{i}: {{class: mug}}" for i in range(50))
    handle = Handle(MANAGE(operation=MANAGE.SETUP, definition=definition, timeout=100.0))
    running = server._execute(handle)
    running.send(None)
    spent = []
    for _ in range(5):
        begun = time.thread_time()
        server.goals.look()
        spent.append(time.thread_time() - begun)
    server.goals.cancel(handle)
    with pytest.raises(StopIteration):
        running.send(None)
    assert min(spent) < PER_REFUSAL


def detections(parts, count, class_id="mug"):
    """Have a message of detections taken in; returns new defects and processor time [s]."""
    part = parts[DetectionInput]
    message = Detection3DArray()
    message.header.frame_id = "world"
    message.header.stamp = part._host.node.get_clock().now().to_msg()
    for _ in range(count):
        found = ObjectHypothesisWithPose()
        found.hypothesis.class_id, found.hypothesis.score = class_id, 0.9
        message.detections.append(Detection3D(results=[found]))
    data = serialize_message(message)
    before = part._host.scene.defects
    begun = time.thread_time()
    part._on_detections("/detections", data)
    return part._host.scene.defects - before, time.thread_time() - begun


def test_message_of_too_many_detections_is_not_even_read(parts):
    found = [detections(parts, 5_000) for _ in range(5)]
    assert [defects for defects, _ in found] == [{Defect.TOO_MANY: 1}] * 5
    assert min(spent for _, spent in found) < PER_REFUSAL
    assert "at most 1048576" in parts[DetectionInput]._host.scene.intake.examples[Defect.TOO_MANY]


@pytest.mark.parametrize("class_id", ["n" * 300_000, "\x1b[2J"])
def test_class_that_is_no_name_makes_no_object(parts, class_id):
    defects, _ = detections(parts, 1, class_id)
    assert defects == {Defect.NO_CLASS: 1}


def test_message_that_is_no_message_is_counted(parts):
    host = parts[DetectionInput]._host
    before = host.scene.defects[Defect.NO_CLASS]
    parts[DetectionInput]._on_detections("/detections", b"\0\1\0\0\xff\xff\xff\xff")
    assert host.scene.defects[Defect.NO_CLASS] == before + 1
