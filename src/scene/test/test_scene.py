# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_motion.object_state import ObjectState
from behavior_scene import (
    Context,
    Defect,
    Query,
    Question,
    Scene,
    SceneParameters,
    UnknownLinkError,
    UnknownObjectError,
    answer,
    checked_detection,
    library_from_dict,
)
from behavior_scene.objects.definitions import DefinitionError, read_definitions

EDGE = 0.0515
LIBRARY = library_from_dict(
    {
        "classes": {
            name: {"shape": "box", "size": [EDGE] * 3, "instances": 1} for name in ("blue", "red")
        }
    }
)


class World:
    """A scene with a hand whose pose over time the test sets."""

    def __init__(self):
        self.hand = {}
        self.time = 0.0
        self.scene = Scene(LIBRARY, self._link_pose)

    def _link_pose(self, link, stamp):
        if link != "hand" or not self.hand:
            return None
        at = max(self.hand) if stamp is None else min(self.hand, key=lambda t: abs(t - stamp))
        pose = np.eye(4)
        pose[:3, 3] = self.hand[at]
        return pose

    def see(self, dt=0.1, hand=None, **objects):
        self.time += dt
        if hand is not None:
            self.hand[self.time] = hand
        self.scene.update(
            [detection(name, at, self.time) for name, at in objects.items()], self.time, self.time
        )
        return self.scene.snapshot(self.time).objects


def detection(name, at, stamp, confidence=1.0):
    return checked_detection(
        class_id=name,
        stamp=stamp,
        confidence=confidence,
        position=at,
        quaternion=(0, 0, 0, 1),
        world_T_frame=np.eye(4),
    )


def test_states_by_age():
    world = World()
    assert world.see(blue=(0.5, 0, 0))["blue"].state is ObjectState.TRACKED
    scene = world.scene
    assert scene.snapshot(world.time + 1.1).objects["blue"].state is ObjectState.STALE
    assert scene.snapshot(world.time + 5.1).objects["blue"].state is ObjectState.LOST
    lost = scene.snapshot(world.time + 5.1).objects["blue"]
    assert lost.world_T_object[0, 3] == 0.5


def test_attached_object_moves_with_the_link_without_detections():
    world = World()
    world.see(blue=(0.5, 0, 0), hand=(0.5, 0, 0.1))
    world.scene.attach("blue", "hand")
    held = world.see(hand=(0.2, 0.3, 0.6))["blue"]
    assert held.state is ObjectState.ATTACHED
    assert held.attached_link == "hand"
    np.testing.assert_allclose(held.world_T_object[:3, 3], (0.2, 0.3, 0.5))


def test_attach_pairs_the_detection_with_the_link_of_its_time():
    world = World()
    world.see(blue=(0.5, 0, 0.0), hand=(0.5, 0, 0.1))
    world.hand[world.time + 0.05] = (0.5, 0, 0.15)  # lifted since the image
    world.scene.attach("blue", "hand")
    pose = world.scene.snapshot(world.time + 0.05).objects["blue"].world_T_object
    np.testing.assert_allclose(pose[:3, 3], (0.5, 0, 0.05))


def test_stolen_object_is_detached_after_two_detections():
    world = World()
    world.see(blue=(0.5, 0, 0), hand=(0.5, 0, 0))
    world.scene.attach("blue", "hand")
    assert world.see(blue=(0.9, 0, 0))["blue"].state is ObjectState.ATTACHED
    stolen = world.see(blue=(0.9, 0, 0))["blue"]
    assert stolen.state is ObjectState.TRACKED
    np.testing.assert_allclose(stolen.world_T_object[:3, 3], (0.9, 0, 0))


def test_held_object_seen_slightly_off_stays_attached():
    world = World()
    world.see(blue=(0.5, 0, 0), hand=(0.5, 0, 0))
    world.scene.attach("blue", "hand")
    for _ in range(5):
        held = world.see(blue=(0.54, 0, 0))["blue"]
    assert held.state is ObjectState.ATTACHED
    np.testing.assert_allclose(held.world_T_object[:3, 3], (0.5, 0, 0))


def test_detached_object_stays_where_it_was_released():
    world = World()
    world.see(blue=(0.5, 0, 0), hand=(0.5, 0, 0))
    world.scene.attach("blue", "hand")
    world.see(hand=(0.2, 0, 0))
    world.scene.detach("blue")
    world.hand[world.time] = (0.2, 0, 0.3)
    released = world.scene.snapshot(world.time).objects["blue"]
    np.testing.assert_allclose(released.world_T_object[:3, 3], (0.2, 0, 0))


def test_renamed_objects_may_swap_names_and_follow_what_they_followed():
    world = World()
    world.see(blue=(0.5, 0, 0), red=(0.2, 0, 0))
    world.scene.rename({"blue": "red", "red": "blue"})
    seen = world.see(blue=(0.51, 0, 0), red=(0.2, 0, 0))
    assert list(seen) == ["red", "blue"]
    assert (seen["red"].class_id, seen["blue"].class_id) == ("blue", "red")
    assert seen["red"].world_T_object[0, 3] > 0.5
    assert seen["red"].sources == ("blue",)


def test_a_renamed_object_is_deleted_under_its_name_and_comes_back_under_its_tracks():
    world = World()
    world.see(blue=(0.5, 0, 0))
    world.scene.rename({"blue": "cup"})
    assert list(world.see(blue=(0.5, 0, 0))) == ["cup"]
    world.scene.delete(["cup"])
    assert world.see(blue=(0.5, 0, 0)) == {}, "its track makes no object of it again"
    world.scene.clear()
    assert list(world.see(blue=(0.5, 0, 0))) == ["blue"]


def test_a_renamed_object_whose_track_was_forgotten_is_found_again():
    world = World()
    world.see(blue=(0.5, 0, 0))
    world.scene.rename({"blue": "cup"})
    world.scene.tracker.tracks.clear()
    found = world.see(0.5, blue=(0.5, 0, 0))
    assert list(found) == ["cup"]
    assert found["cup"].state is ObjectState.TRACKED


def test_renaming_that_cannot_be_changes_nothing():
    world = World()
    before = world.see(blue=(0.5, 0, 0), red=(0.2, 0, 0))
    definitions = read_definitions("slot: {kind: stack_slot, base: red, height: 0.05}")
    assert world.scene.establish("slot", definitions["slot"], world.time) == ""
    with pytest.raises(DefinitionError, match="red: 2 objects would bear this name"):
        world.scene.rename({"blue": "red"})
    with pytest.raises(DefinitionError, match="slot: is defined by red: delete it first"):
        world.scene.rename({"blue": "a", "red": "b"})
    with pytest.raises(UnknownObjectError, match="cat"):
        world.scene.rename({"blue": "a", "cat": "b"})
    assert list(world.scene.snapshot(world.time).objects) == [*before, "slot"]


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1)), max_size=10))
def test_frozen_object_never_moves(points):
    world = World()
    before = world.see(blue=(0.5, 0, 0))["blue"].world_T_object
    world.scene.freeze(["blue"], True)
    for point in points:
        frozen = world.see(blue=point)["blue"]
        assert frozen.state is ObjectState.FROZEN
        np.testing.assert_array_equal(frozen.world_T_object, before)


def test_unfrozen_object_follows_again_and_unknown_names_change_nothing():
    world = World()
    world.see(blue=(0.5, 0, 0))
    world.scene.freeze([], True)
    with pytest.raises(UnknownObjectError):
        world.scene.freeze(["blue", "green"], False)
    assert world.see(blue=(0.6, 0, 0))["blue"].state is ObjectState.FROZEN
    world.scene.freeze(["blue"], False)
    assert world.see(blue=(0.6, 0, 0))["blue"].world_T_object[0, 3] == pytest.approx(0.6, abs=2e-3)


def test_unknown_object_and_link():
    world = World()
    world.see(blue=(0.5, 0, 0))
    with pytest.raises(UnknownObjectError):
        world.scene.attach("green", "hand")
    with pytest.raises(UnknownLinkError):
        world.scene.attach("blue", "hand")
    assert world.scene.snapshot(world.time).objects["blue"].state is ObjectState.TRACKED


@pytest.mark.parametrize(
    ("stamp", "defect"),
    [
        (10.3, Defect.FROM_THE_FUTURE),
        (7.9, Defect.FROM_THE_PAST),
        (9.4, Defect.FROM_THE_PAST),  # before the newest image
        (float("nan"), Defect.NOT_FINITE),
    ],
)
def test_images_with_a_bad_stamp_are_refused_and_counted(stamp, defect):
    scene = Scene(LIBRARY, lambda link, stamp: None)
    assert scene.update([detection("blue", (0, 0, 0), 9.5)], 9.5, 10.0)
    revision = scene.snapshot(10.0).revision
    assert not scene.update([detection("blue", (1, 0, 0), 9.5)], stamp, 10.0)
    assert scene.defects == {defect: 1}
    assert scene.snapshot(10.0).revision == revision


def test_defective_detections_are_counted_and_the_rest_is_used():
    scene = Scene(LIBRARY, lambda link, stamp: None, SceneParameters(maximum_detections=4))
    good = detection("blue", (0.5, 0, 0), 1.0)
    scene.update(
        [
            Defect.NOT_FINITE,
            detection("cat", (0, 0, 0), 1.0),
            detection("red", (0, 0, 0), 1.0, confidence=0.1),
            detection("red", (0, 0, 0), 9.0),
            detection("red", (0, 0, 0), -5.0),
            good,
            good,
            good,
        ],
        1.0,
        1.0,
    )
    assert list(scene.snapshot(1.0).objects) == ["blue"]
    assert scene.defects == {
        Defect.NOT_FINITE: 1,
        Defect.UNKNOWN_CLASS: 1,
        Defect.LOW_CONFIDENCE: 1,
        Defect.FROM_THE_FUTURE: 1,
        Defect.FROM_THE_PAST: 1,
        Defect.DOUBLE: 2,
    }
    scene.update([good] * 6, 1.1, 1.1)
    assert scene.defects[Defect.TOO_MANY] == 2


def test_revision_grows_and_snapshots_do_not_change():
    world = World()
    world.see(blue=(0.5, 0, 0))
    first = world.scene.snapshot(world.time)
    world.see(blue=(0.6, 0, 0))
    assert world.scene.snapshot(world.time).revision > first.revision
    assert first.objects["blue"].world_T_object[0, 3] == 0.5
    with pytest.raises(TypeError):
        first.objects["new"] = None


def ask(world, question, name, **kwargs):
    context = Context(
        world.scene.snapshot(world.time),
        lambda name: np.eye(4) if name == "world" else None,
        world.scene.pose_at,
    )
    return answer(context, Query(question, name, **kwargs))


def test_questions():
    world = World()
    world.see(blue=(0.3, 0.4, EDGE / 2), red=(0.31, 0.4, 1.5 * EDGE + 0.003))
    distance = ask(world, Question.DISTANCE_XY, "blue", reference="world", maximum=0.5)
    assert distance.answer
    assert distance.value == pytest.approx(0.5)
    assert not ask(world, Question.DISTANCE, "blue", reference="world", maximum=0.5).answer
    assert ask(world, Question.DISTANCE_Z, "red", reference="blue", maximum=1).value > EDGE
    assert ask(world, Question.ON_TOP_OF, "red", reference="blue").answer
    assert not ask(world, Question.ON_TOP_OF, "blue", reference="red").answer
    assert not ask(world, Question.INSIDE, "red", reference="blue").answer
    assert ask(world, Question.VISIBLE, "red", maximum=0.5).answer
    assert not ask(world, Question.HELD, "red").answer
    with pytest.raises(UnknownObjectError):
        ask(world, Question.DISTANCE, "blue", reference="nowhere")
    since = world.time
    world.see(dt=1.0, blue=(0.4, 0.4, EDGE / 2), hand=(0.4, 0.4, 0.1))
    moved = ask(world, Question.MOVED, "blue", since=since, minimum=0.05, maximum=1.0)
    assert moved.answer
    assert moved.value == pytest.approx(0.1, abs=1e-3)
    world.scene.attach("blue", "hand")
    assert ask(world, Question.HELD, "blue", reference="hand").answer
    assert not ask(world, Question.HELD, "blue", reference="other").answer


def test_held_object_in_fast_motion_is_recognised():
    world = World()
    world.see(blue=(0.5, 0, 0), hand=(0.5, 0, 0))
    world.scene.attach("blue", "hand")
    for step in range(1, 6):
        at = (0.5, 0.3 * step, 0.1)
        held = world.see(blue=at, hand=at)["blue"]
        assert held.state is ObjectState.ATTACHED
        np.testing.assert_allclose(held.world_T_object[:3, 3], at)


def test_link_poses_that_arrive_late_complete_the_attachment():
    world = World()
    known = {}
    scene = world.scene = Scene(LIBRARY, lambda link, stamp: known.get(stamp))

    def link_at(x, z):
        pose = np.eye(4)
        pose[:3, 3] = (x, 0, z)
        return pose

    world.see(blue=(0.5, 0, 0.0))
    stamp = world.time
    known[None] = link_at(0.5, -0.2)  # the newest that is known lags far behind
    scene.attach("blue", "hand")
    held = scene.snapshot(stamp).objects["blue"]
    assert held.state is ObjectState.ATTACHED
    np.testing.assert_allclose(held.world_T_object[:3, 3], (0.5, 0, 0))
    known[stamp] = link_at(0.5, 0.1)
    known[None] = link_at(0.3, 0.4)
    held = scene.snapshot(stamp).objects["blue"]
    np.testing.assert_allclose(held.world_T_object[:3, 3], (0.3, 0, 0.3))


@pytest.mark.slow
def test_what_a_hand_carries_fast_is_known_again_in_an_image_of_before():
    library = library_from_dict(
        {"classes": {"cup": {"shape": "sphere", "size": [0.05], "gate": 0.06}}}
    )
    world = World()
    world.scene = Scene(library, world._link_pose)
    for _ in range(10):
        world.see(cup=(0.0, 0, 0), hand=(0.0, 0, 0))
    (name,) = world.scene.snapshot(world.time).objects
    world.scene.attach(name, "hand")
    for step in range(1, 30):
        x = 0.3 * step
        # The hand is told of at once, images come 0.1 s later.
        world.hand[world.time + 0.2] = (x + 0.3, 0, 0)
        objects = world.see(cup=(x, 0, 0), hand=(x, 0, 0))
        assert list(objects) == [name], "another one is believed to be there"
        assert objects[name].state is ObjectState.ATTACHED


def test_the_size_of_a_thing_without_a_shape_is_averaged():
    """With that of single detections planners built what surrounds the arm anew for each image."""
    scene = Scene(library_from_dict({"classes": {"parcel": {"instances": 1}}}), lambda *_: None)
    sizes = [(0.2, 0.1, 0.1), (0.3, 0.1, 0.1), (0.0, 0.0, 0.0), (0.2, 0.1, 0.1)]
    told = []
    for k, size in enumerate(sizes):
        seen = replace(detection("parcel", (0.5, 0, 0), 0.1 * (k + 1)), size=size)
        scene.update([seen], 0.1 * (k + 1), 0.1 * (k + 1))
        told.append(scene.snapshot(0.1 * (k + 1)).objects["parcel"].shape.size[0])
    assert told == pytest.approx([0.2, 0.23, 0.23, 0.221])


def test_images_are_used_when_the_links_of_held_objects_are_known():
    world = World()
    known = {}
    scene = world.scene = Scene(LIBRARY, lambda link, stamp: known.get(stamp))
    assert scene.knows_links_at(3.0), "nothing is held"
    world.see(blue=(0.5, 0, 0.0))
    known[None] = np.eye(4)
    scene.attach("blue", "hand")
    assert not scene.knows_links_at(3.0)
    known[3.0] = np.eye(4)
    assert scene.knows_links_at(3.0)
    known.clear()
    assert scene.knows_links_at(4.0), "a link that nobody tells of is not waited for"
