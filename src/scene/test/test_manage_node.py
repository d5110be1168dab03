# SPDX-License-Identifier: Apache-2.0
"""`/scene/manage` and `/scene/where_seen` in a ROS domain of their own."""

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")
pytest.importorskip("vision_msgs.msg")

from behavior_msgs.action import ManageScene  # noqa: E402
from behavior_msgs.msg import SceneObject  # noqa: E402
from behavior_msgs.srv import WhereSeen  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from scene_rig import Rig  # noqa: E402

from behavior_scene.node.detector_configuration import wanted_parameters  # noqa: E402

Goal, Result = ManageScene.Goal, ManageScene.Result


@pytest.fixture
def make_rig(tmp_path):
    made = []

    def make(**parameters):
        rig = Rig(memory=str(tmp_path / "memory"), **parameters)
        made.append(rig)
        return rig

    yield make
    for rig in made:
        rig.close()


@pytest.fixture
def rig(make_rig):
    return make_rig()


def see_until_known(rig, at=(0.5, 0.0, 0.026), name="blue_block"):
    def there():
        rig.see(name, at)
        obj = rig.object(name)
        return obj is not None and abs(obj.pose.position.x - at[0]) < 0.02

    rig.until(there)


def test_setup_waits_for_its_objects_and_tells_what_is_pending(rig):
    handle, feedback = rig.start(
        Goal.SETUP,
        definition="""
        mine: {class: blue_block, minimum_history: 3}
        slot: {kind: stack_slot, base: mine, height: 0.0515}
        """,
    )
    rig.until(lambda: feedback)
    assert feedback[0].progress == 0.0
    assert [text.split(":")[0] for text in feedback[0].pending] == ["mine", "slot"]
    assert "no free track of class 'blue_block'" in feedback[0].pending[0]
    ended = handle.get_result_async()

    def done():
        rig.see()
        return ended.done()

    rig.until(done)
    result = ended.result().result
    assert (result.code, result.message) == (Result.SUCCESS, "ok")
    assert [obj.name for obj in result.objects] == ["mine", "slot"]
    assert result.objects[1].kind == "stack_slot"
    assert list(result.objects[1].sources) == ["mine"]
    assert result.objects[1].pose.position.z == pytest.approx(0.026 + 0.0515, abs=1e-3)
    rig.until(lambda: rig.newest.revision >= result.revision)
    assert rig.object("slot") is not None
    assert rig.object("blue_block") is None


def test_setup_times_out_with_the_reason(rig):
    late = rig.manage(Goal.SETUP, names=["red_block"], timeout=0.2)
    assert late.code == Result.TIMED_OUT
    assert "not within 0.2 s: red_block: no free track of class 'red_block'" in late.message
    never = rig.manage(Goal.SETUP, definition="way: {kind: custom, parent: nowhere}", timeout=0.2)
    assert never.code == Result.NOT_DERIVABLE
    assert "'nowhere' is neither an object of the scene nor a known frame" in never.message


@pytest.mark.parametrize(
    ("operation", "fields", "said"),
    [
        (99, {}, "operation 99 is unknown"),
        (Goal.SETUP, {}, "nothing to set up"),
        (Goal.SETUP, {"names": ["cat"]}, "'cat' is neither an object nor a class"),
        (Goal.SETUP, {"definition": "a: {kind: cone}"}, "kind 'cone' is unknown"),
        (Goal.SETUP, {"definition": "{kind: custom, parent: b}"}, "it tells of one object"),
        (Goal.SETUP, {"definition": "a: {kind: custom, parent: a}"}, "depend on themselves: a"),
        (Goal.SETUP, {"names": ["red_block"], "timeout": float("nan")}, "timeout nan s"),
        (Goal.DELETE, {}, "names is empty"),
        (Goal.ATTACH, {}, "names is empty"),
        (Goal.RENAME, {"definition": "cup"}, "write a list of names"),
        (Goal.RENAME, {"names": ["a"], "definition": "[/b]"}, "cannot be the name of a frame"),
        (Goal.RENAME, {"names": ["a", "a"], "definition": "[b, c]"}, "2 new names for 1 objects"),
        (Goal.CONFIGURE_TRACKER, {"definition": "5"}, "write a mapping from parameters"),
        (Goal.CONFIGURE_TRACKER, {"definition": "{gaet: 5}"}, "unknown parameters ['gaet']"),
        (Goal.CONFIGURE_DETECTOR, {"definition": ""}, "write a mapping from detector nodes"),
    ],
)
def test_requests_that_make_no_sense_are_refused_with_a_remedy(rig, operation, fields, said):
    result = rig.manage(operation, **fields)
    assert result.code == Result.INVALID_REQUEST
    assert said in result.message


def test_unknown_objects_and_links(rig):
    assert rig.manage(Goal.UNFREEZE, names=["cat"]).code == Result.UNKNOWN_OBJECT
    assert rig.manage(Goal.DETACH, names=["cat"]).code == Result.UNKNOWN_OBJECT
    assert rig.manage(Goal.RESTORE, definition="never").code == Result.UNKNOWN_OBJECT
    assert rig.manage(Goal.DELETE, names=["cat"]).code == Result.SUCCESS
    see_until_known(rig)
    result = rig.manage(Goal.ATTACH, names=["blue_block"], link="foot")
    assert result.code == Result.UNKNOWN_LINK
    assert "'foot'" in result.message


def test_freeze_waits_for_what_is_not_there_yet_and_unfreezes(rig):
    handle, feedback = rig.start(Goal.FREEZE, names=["blue_block"])
    rig.until(lambda: feedback)
    assert list(feedback[0].pending) == ["blue_block: not in the scene"]
    rig.see()
    result = rig.result(handle)
    assert result.code == Result.SUCCESS
    assert result.objects[0].state == SceneObject.FROZEN
    assert rig.manage(Goal.FREEZE).objects[0].state == SceneObject.FROZEN
    assert rig.manage(Goal.UNFREEZE).objects[0].state != SceneObject.FROZEN


def test_an_object_is_renamed_and_told_under_its_name(rig):
    see_until_known(rig)
    result = rig.manage(Goal.RENAME, names=["blue_block"], definition="[mine]")
    assert (result.code, result.objects[0].name) == (Result.SUCCESS, "mine")
    rig.until(lambda: rig.newest.revision >= result.revision)
    assert rig.object("blue_block") is None
    rig.see()
    assert rig.object("mine") is not None
    unknown = rig.manage(Goal.RENAME, names=["blue_block"], definition="[other]")
    assert unknown.code == Result.UNKNOWN_OBJECT


def test_attach_detach_delete_and_clear(rig):
    see_until_known(rig)
    rig.hand(0.1)
    rig.until(lambda: rig.node.host.link_pose("hand", None) is not None)
    see_until_known(rig)
    held = rig.manage(Goal.ATTACH, names=["blue_block"], link="hand")
    assert (held.code, held.objects[0].attached_link) == (Result.SUCCESS, "hand")
    assert rig.manage(Goal.DETACH).objects[0].attached_link == ""
    partly = rig.manage(Goal.ATTACH, names=["blue_block", "cat"], link="hand")
    assert partly.code == Result.UNKNOWN_OBJECT
    rig.until(lambda: rig.newest.revision >= partly.revision)
    assert rig.object().attached_link == "", "attached by a goal that was refused"
    gone = rig.manage(Goal.DELETE, names=["blue_block"])
    rig.until(lambda: rig.newest.revision >= gone.revision)
    assert rig.object() is None
    rig.manage(Goal.CLEAR)
    see_until_known(rig)


def test_cancelled_goals_end_as_such(rig):
    handle, feedback = rig.start(Goal.SETUP, names=["red_block"], timeout=600.0)
    rig.until(lambda: feedback)
    cancelled = handle.cancel_goal_async()
    rig.until(cancelled.done)
    result = rig.result(handle)
    assert (result.code, result.message) == (Result.CANCELED, "cancelled by the client")


def test_preview_puts_objects_to_a_nominal_pose_without_perception(rig):
    pose = PoseStamped()
    pose.pose.position.x = 0.3
    text = "cup: {class: red_block}\nslot: {kind: stack_slot, base: cup, height: 0.1}"
    result = rig.manage(Goal.SETUP, definition=text, preview=True, nominal_pose=pose)
    assert result.code == Result.SUCCESS
    cup, slot = result.objects
    assert (cup.state, cup.text) == (SceneObject.FROZEN, "nominal pose, not perceived")
    assert (cup.pose.position.x, slot.pose.position.x) == pytest.approx((0.3, 0.3))
    assert slot.pose.position.z == pytest.approx(0.0515 / 2 + 0.05)
    pose.pose.orientation.w = 0.0
    bad = rig.manage(Goal.SETUP, definition=text, preview=True, nominal_pose=pose)
    assert bad.code == Result.INVALID_REQUEST
    assert "norm" in bad.message


def test_scene_saved_and_restored_after_a_restart_of_the_node(make_rig):
    rig = make_rig()
    see_until_known(rig)
    assert rig.manage(Goal.SAVE, definition="evening").code == Result.SUCCESS
    seen = rig.call(WhereSeen, "/scene/where_seen", name="blue_block")
    assert seen.sightings[0].pose.pose.position.x == pytest.approx(0.5, abs=0.02)
    rig.close()
    again = make_rig()
    result = again.manage(Goal.RESTORE, definition="evening")
    assert result.code == Result.SUCCESS
    obj = result.objects[0]
    assert (obj.state, obj.text) == (SceneObject.STALE, "as saved in 'evening', not seen since")
    assert obj.pose.position.x == pytest.approx(0.5, abs=0.02)
    assert again.manage(Goal.RESTORE, definition="x").message == (
        "no scene was saved as 'x'; there are ['evening']"
    )
    remembered = again.call(WhereSeen, "/scene/where_seen", class_id="blue_block", limit=5)
    assert remembered.sightings[0].pose.header.frame_id == "world"
    assert again.call(WhereSeen, "/scene/where_seen", name="cat").code == 101


def test_unusable_memory_is_told_of_and_stops_nothing(make_rig, tmp_path):
    (tmp_path / "memory").write_bytes(b"no database" * 100)
    rig = make_rig()
    result = rig.manage(Goal.SAVE, definition="evening")
    assert result.code == Result.STORAGE_FAILED
    assert str(tmp_path / "memory") in result.message
    assert rig.call(WhereSeen, "/scene/where_seen").code == 104
    see_until_known(rig)


def test_tracker_is_configured_for_tracks_to_come(rig):
    result = rig.manage(Goal.CONFIGURE_TRACKER, definition="{stability_frequency: 2.5}")
    assert result.code == Result.SUCCESS
    assert rig.node.host.scene.tracker.parameters.stability_frequency == 2.5


def test_names_of_detectors_count_from_the_namespace_unless_they_say_all():
    definition = "{exclusive: true, detectors: {/camera/near: {enabled: true}, far: {rate: 3}}}"
    known = ["/camera/near", "/robot/far", "side"]
    assert wanted_parameters(definition, known, "/robot") == {
        "/camera/near": {"enabled": True},
        "far": {"rate": 3},
        "side": {"enabled": False},
    }
    assert wanted_parameters("near: {enabled: true}", ["/near"]) == {"near": {"enabled": True}}


def test_detectors_are_configured_through_their_parameters(make_rig):
    rig = make_rig(detectors=["/one_detector", "/other_detector"])
    detectors = {}
    for name in ("one_detector", "other_detector"):
        detectors[name] = rclpy.create_node(name, context=rig.context)
        detectors[name].declare_parameter("enabled", True)
        detectors[name].declare_parameter("classes", "")
        rig.executor.add_node(detectors[name])
    try:
        result = rig.manage(
            Goal.CONFIGURE_DETECTOR,
            definition="""
            detectors: {one_detector: {classes: {cup: {confidence: 0.3}}}}
            exclusive: true
            """,
        )
        assert (result.code, result.message) == (Result.SUCCESS, "ok")
        one, other = detectors["one_detector"], detectors["other_detector"]
        assert one.get_parameter("classes").value == "cup:\n  confidence: 0.3\n"
        assert one.get_parameter("enabled").value is True
        assert other.get_parameter("enabled").value is False
        wrong = rig.manage(
            Goal.CONFIGURE_DETECTOR, definition="one_detector: {enabled: 5, colour: red}"
        )
        assert wrong.code == Result.INVALID_REQUEST
        assert "refused: one_detector: " in wrong.message
        absent = rig.manage(
            Goal.CONFIGURE_DETECTOR, definition="third: {enabled: true}", timeout=0.3
        )
        assert absent.code == Result.TIMED_OUT
        assert "third: no node /third is there" in absent.message
    finally:
        for node in detectors.values():
            node.destroy_node()


def test_revision_of_a_result_never_runs_ahead_of_what_was_published(rig):
    """Whoever waits for the revision of a result waits for something that was sent already."""
    see_until_known(rig)
    revisions = [
        rig.manage(operation, names=["blue_block"]).revision
        for operation in (Goal.FREEZE, Goal.UNFREEZE, Goal.FREEZE)
    ]
    assert revisions == sorted(set(revisions))
    rig.until(lambda: rig.newest.revision >= revisions[-1])
    assert rig.object().state == SceneObject.FROZEN
