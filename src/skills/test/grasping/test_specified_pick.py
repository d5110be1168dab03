# SPDX-License-Identifier: Apache-2.0
"""A pick with a specification: every key changes what is done."""

import math
from pathlib import Path

import numpy as np
import pytest
from fakes import context_of, down, refused

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.pick import PickRequest, PickSkill
from behavior_skills.grasping.annotations import AnnotationError, read_grasps
from behavior_skills.grasping.process import ProcessWatch
from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.interfaces import (
    FailureCode,
    JointState,
    ObjectView,
    SkillFailure,
)
from behavior_skills.specification import SpecificationError, read_specification


def skill_for(rig, annotated="", grasps=(), lift_height=0.0, **keys):
    specification = PickSpecification.model_validate(keys)
    request = PickRequest(
        "blue", lift_height=lift_height, grasps=grasps, specification=specification
    )
    return PickSkill(context_of(rig, grasp_directory=annotated), request)


def pick(rig, **keys):
    return skill_for(rig, **keys).run()


def fails_with(failure, rig, **keys):
    return refused(failure, lambda: pick(rig, **keys), rig)


@pytest.fixture
def table(rig):
    rig[0].add("blue", 0.45, -0.2)
    return rig


def tool(rig):
    return rig[1].planner.robot.forward_kinematics(rig[0].q)


@pytest.mark.slow
def test_the_tool_obeys_the_filters(table):
    world = table[0]
    at = {}
    world.when("grasp", lambda: at.update(tool=tool(table)))
    pick(table, filter_z_dir=["downward", 170], filter_x_dir=["forward", 46])
    assert at["tool"][2, 2] < math.cos(math.radians(170)) + 1e-6
    assert at["tool"][0, 0] > math.cos(math.radians(46)) - 1e-6


def test_filters_that_nothing_passes_name_what_fell_to_what(table):
    message = fails_with(FailureCode.NO_GRASP, table, filter_z_dir=["upward", 40, 50])
    assert "24 by filter_z_dir: ['upward', 40, 50]" in message


@pytest.mark.parametrize(("side", "sign"), [("left", 1), ("right", -1)])
def test_the_side_of_the_object(table, side, sign):
    given = tuple(down(y=y) for y in (0.012, -0.012))
    grasp = pick(table, grasps=given, direction_to_obj=side)
    assert np.sign(grasp[1, 3]) == sign


def test_a_share_of_the_grasps_along_an_axis(table):
    given = tuple(down(x=x) for x in np.linspace(-0.01, 0.01, 11))
    grasp = pick(table, grasps=given, constraints=["x", 0.75, 0.85])
    assert grasp[0, 3] == pytest.approx(0.006)
    message = fails_with_again(table, grasps=given, constraints=["x", 0.96, 0.99])
    assert "11 by constraints" in message


def fails_with_again(rig, **keys):
    """With the gripper empty again."""
    world, _, hand = rig
    world.attached.clear()
    world.held = hand.held = None
    world.width = world._goal_width = 0.08
    return fails_with(FailureCode.NO_GRASP, rig, **keys)


def test_a_fixed_orientation_replaces_the_grasps_own(table):
    half = math.radians(45) / 2
    # Turned about x by 180 degrees, then by 45 degrees about the vertical.
    quaternion = [0.0, math.cos(half), math.sin(half), 0.0]
    at = {}
    table[0].when("grasp", lambda: at.update(tool=tool(table)))
    pick(table, grasps=(down(),), fixed_orientation=quaternion)
    assert np.allclose(at["tool"][:3, 2], [0, 0, -1], atol=2e-3)
    assert np.allclose(at["tool"][:2, 0], [math.sqrt(0.5)] * 2, atol=2e-3)


@pytest.mark.slow
def test_the_pre_grasp_offset_is_the_length_of_the_straight_part(table, monkeypatch):
    lengths = []
    real = table[1].straight_then_free

    def noted(q, target, offset, **options):
        lengths.append(float(np.linalg.norm(offset)))
        return real(q, target, offset, **options)

    monkeypatch.setattr(table[1], "straight_then_free", noted)
    pick(table, pre_grasp_offset=0.123)
    assert lengths[0] == pytest.approx(0.123)


def test_the_lift_is_between_its_bounds(table):
    at = {}
    table[0].when("grasp", lambda: at.update(tool=tool(table)))
    pick(table, post_grasp_offset_min=0.15, post_grasp_offset_max=0.17, seed=4)
    rise = tool(table)[2, 3] - at["tool"][2, 3]
    assert 0.149 < rise < 0.171


def test_back_to_the_pre_grasp_pose(table):
    at = {}
    table[0].when("grasp", lambda: at.update(tool=tool(table)))
    pick(table, return_to_pregrasp=True, pre_grasp_offset=0.09, grasps=(down(),))
    moved = tool(table)[:3, 3] - at["tool"][:3, 3]
    assert np.allclose(moved, [0, 0, 0.09], atol=2e-3)


def test_an_open_final_state_approaches_only(table):
    world, _, hand = table
    pick(table, final_gripper_state=1)
    assert "grasp" not in world.phases
    assert world.held is None
    assert hand.held is None
    assert world.width == pytest.approx(0.08, abs=1e-3)


def test_ignored_things_are_no_obstacles(table):
    world = table[0]
    world.add("cover_1", 0.45, -0.2, 0.14, size=(0.3, 0.3, 0.02))
    with pytest.raises(SkillFailure) as caught:
        pick(table)
    assert caught.value.failure in (FailureCode.PLANNING_FAILED, FailureCode.UNREACHABLE)
    pick(table, ignore_substring=["cover"])


def test_few_closing_steps_are_a_short_patience(table):
    table[0].gripper_stuck = True
    begun = table[0].time
    fails_with(FailureCode.TIMED_OUT, table, gripper_change_steps=3)
    assert table[0].time - begun < 3.0


def test_a_rise_that_must_be_seen(table):
    world = table[0]
    world.when("lift", lambda: world.hidden.add("blue"))
    message = fails_with(FailureCode.GRASP_MISSED, table, lift_th=0.02)
    assert "rise by 20 mm" in message


def test_a_rise_that_is_seen(table):
    pick(table, lift_th=0.02, post_grasp_offset_min=0.1, post_grasp_offset_max=0.1)
    assert table[0].held == "blue"


@pytest.mark.parametrize("valid", [True, False])
def test_a_process_that_cannot_be(table, valid):
    """For one joint state in the lift a joint is faster than any real one."""
    world = table[0]
    state = world.state

    def fast():
        now = state()
        return JointState(
            now.q, np.full(7, 9.0 if world.phases[-1] == "lift" else 0.0), now.width, now.measured
        )

    world.state = fast
    if valid:
        assert "9.0 rad/s" in fails_with(FailureCode.EXECUTION_FAILED, table)
        assert world.attached == {"blue": "gripper"}  # it is held all the same
    else:
        pick(table, process_valid=False)


def test_an_object_that_jumps_is_too_fast():
    watch = ProcessWatch()
    for time, x in ((1.0, 0.4), (1.1, 0.41), (1.2, 1.41)):
        pose = np.eye(4)
        pose[0, 3] = x
        obj = ObjectView("blue", ObjectState.TRACKED, pose, "box", (0.05,) * 3, time)
        watch.see(JointState(np.zeros(7), np.zeros(7), 0.0, 0.0), obj)
    assert watch.object_speed == pytest.approx(10.0)
    assert "10.0 m/s" in (watch.problem() or "")


@pytest.mark.slow
def test_hold_weights_keep_the_tool_level(table, planner):
    world = table[0]
    tilts = []
    tick = world.tick

    def watched():
        tick()
        tilts.append(tool(table)[2, 2])

    world.tick = watched
    pick(table, pre_grasp_hold_vec_weight=[5, 5, 5, 0, 0, 0])
    assert np.degrees(np.arccos(-np.max(tilts))) < np.degrees(0.02) + 2.0


def test_test_mode_ik_takes_the_first_failed_plan_as_the_end(table, monkeypatch):
    from behavior_motion import ErrorCode, Plan

    def fail(*_, **__):
        return Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))

    monkeypatch.setattr(table[1].planner, "plan_to_joints", fail)
    assert "any of 1 ways" in fails_with(FailureCode.PLANNING_FAILED, table, test_mode="ik")
    assert "any of 1 ways" not in fails_with(FailureCode.PLANNING_FAILED, table)


@pytest.fixture
def annotated(tmp_path):
    good = np.zeros(17)
    # score, width, height, depth, then approach and closing direction as columns, position
    rotation = np.column_stack([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    good[[0, 1, 3]] = 0.2, 0.0515, 0.01
    good[4:13] = rotation.ravel()
    good[13:16] = 0, 0, 0.02
    worse = good.copy()
    worse[0] = 0.9
    worse[13] = 0.008
    np.save(tmp_path / "block.npy", np.stack([worse, good]))
    (tmp_path / "block.yaml").write_text(
        "grasps: [{position: [0, 0, 0.004], orientation: [1, 0, 0, 0], width: 0.0515}]"
    )
    (tmp_path / "bad.yaml").write_text("grasps: [{position: [0, 0], orientation: [1, 0, 0, 0]}]")
    (tmp_path / "empty.yaml").write_text("grasps: []")
    np.save(tmp_path / "flat.npy", np.zeros(5))
    (tmp_path / "pickled.npy").write_bytes(b"\x80\x04.")
    return str(tmp_path)


def test_annotated_grasps_the_best_score_first(table, annotated):
    grasp = pick(table, annotated=annotated, npy_name="block.npy")
    assert np.allclose(grasp[:3, 3], [0, 0, 0.01])
    assert np.allclose(grasp[:3, 2], [0, 0, -1])


def test_annotated_grasps_scale_with_the_object(table, annotated):
    grasp = pick(
        table, annotated=annotated, npy_name="block.npy", grasp_scale=0.97, tcp_offset=-0.002
    )
    # The position is scaled, the gripper's depth beyond it is not.
    assert np.allclose(grasp[:3, 3], [0, 0, 0.97 * 0.02 - 0.01 - 0.002])


def test_annotations_as_yaml(table, annotated):
    grasp = pick(table, annotated=annotated, npy_name="block.yaml")
    assert np.allclose(grasp[:3, 3], [0, 0, 0.004])


def test_a_tilted_fixed_orientation_is_what_was_asked_for(table):
    """45 degrees from straight down."""
    half = math.radians(180 - 45) / 2
    at = {}
    table[0].add("blue", 0.45, -0.2, z=0.2)
    table[0].when("grasp", lambda: at.update(tool=tool(table)))
    # The tool's z 45 degrees forward of straight down.
    pick(table, grasps=(down(),), fixed_orientation=[math.cos(half), 0, math.sin(half), 0])
    assert np.allclose(at["tool"][:3, 2], [math.sqrt(0.5), 0, -math.sqrt(0.5)], atol=2e-3)


def test_of_many_annotated_grasps_the_best_is_tried_first(table, annotated):
    """Also where 40 others are more comfortable for the arm."""
    rows = np.repeat(np.load(f"{annotated}/block.npy")[1:], 41, axis=0)
    rows[:, 0] = 0.5
    best = rows[20]
    best[0], best[15] = 0.1, 0.021
    turned = np.column_stack([[0, 0, -1], [-1, 0, 0], [0, 1, 0]])  # closes along the object's x
    best[4:13] = turned.ravel()
    np.save(f"{annotated}/many.npy", rows)
    grasp = pick(table, annotated=annotated, npy_name="many.npy")
    assert grasp[2, 3] == pytest.approx(0.011)


def save(folder, change=None, rows=3, dtype=np.float64):
    """A file of proper grasps, one of which is changed."""
    row = np.zeros(17, dtype=dtype)
    row[[0, 1, 3]] = 0.2, 0.0515, 0.01
    row[4:13] = np.column_stack([[0, 0, -1], [0, 1, 0], [1, 0, 0]]).ravel()
    table = np.stack([row] * rows)
    if change is not None:
        change(table[1])
    np.save(folder / "bad.npy", table)


def _set(index, value):
    return lambda row: row.__setitem__(index, value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_set(0, np.nan), "Row 1 of .*bad.npy .* not finite"),
        (_set(15, np.inf), "Row 1 of .*bad.npy .* not finite"),
        (_set(1, -0.01), "Row 1 of .*bad.npy .* negative width"),
        (_set(4, 0.9), "Row 1 of .*bad.npy .* not orthonormal"),
        (_set(slice(4, 13), np.diag([1.0, 1, -1]).ravel()), "Row 1 of .*bad.npy .* mirrored"),
        (_set(13, 1e200), "Row 1 of .*bad.npy .* too far away"),
    ],
)
def test_a_row_that_is_no_grasp_is_named(tmp_path, change, why):
    save(tmp_path, change)
    with pytest.raises(AnnotationError, match=why) as caught:
        read_grasps(str(tmp_path), "bad.npy", scale=1.0, tcp_offset=0.0)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def write(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif name.endswith("npz"):
        np.savez(path, grasps=content)
    else:
        with path.open("wb") as file:
            np.save(file, content)


GOOD = "{position: [0, 0, 0], orientation: [1, 0, 0, 0]}"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.npz", np.zeros((2, 17)), "'a.npz' is no file of grasps"),
        ("a.npy", b"", "it is empty"),
        ("a.npy", b"PK\x03\x04nonsense", "a.npy"),
        ("a.npy", b"\x93NUMPY\x01\x00", "no NumPy array"),
        ("a.npy", np.zeros((0, 17)), "holds no grasps"),
        ("a.npy", np.zeros(0), "its shape is"),
        ("a.npy", np.zeros((2, 4, 4)), "its shape is"),
        ("a.npy", np.zeros((2, 17), dtype=complex), "complex numbers"),
        ("a.npy", np.array([["a"] * 17]), "not numbers"),
        ("a.npy", np.zeros((20_001, 17)), "at most 20000"),
        ("a.txt", b"", "ends with .npy, .yaml, .yml"),
        ("a.yaml", b"grasps: {", "is not YAML"),
        ("a.yaml", b"\xff\xfe\x00", "is not YAML"),
        ("a.yaml", b"5", "list under the key grasps"),
        ("a.yaml", f"grasps: [{GOOD}, 5]".encode(), "Grasp 1 of"),
        ("a.yaml", f"grasps: [{GOOD}, {GOOD.replace('1,', '2,')}]".encode(), "norm 2"),
        ("a.yaml", f"grasps: [{GOOD.replace('1,', '0,')}]".encode(), "norm 0"),
        ("a.yaml", f"grasps: [{GOOD[:-1]}, width: -1}}]".encode(), "width: Input should be"),
        ("a.yaml", f"grasps: [{GOOD[:-1]}, score: .nan}}]".encode(), "score: Input should be"),
        (
            "a.yaml",
            f"grasps: [{GOOD[:-1]}, score: 1{400 * '0'}}}]".encode(),
            "score: Input should be",
        ),
        ("none.npy", None, "No such file"),
        ("../block.npy", None, "not a path"),
    ],
)
def test_files_that_hold_no_grasps_are_told_in_a_sentence(tmp_path, name, content, why):
    if content is not None:
        write(tmp_path, name, content)
    with pytest.raises(AnnotationError) as caught:
        read_grasps(str(tmp_path), name, scale=1.0, tcp_offset=0.0)
    message = str(caught.value)
    assert why in message
    assert name.removeprefix("../") in message
    assert message.endswith(".")
    assert ".." not in message.replace("../", "").replace("...", "")


def test_an_archive_under_another_name(tmp_path):
    np.savez(tmp_path / "a.npz", grasps=np.zeros((2, 17)))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(AnnotationError, match="archive of arrays"):
        read_grasps(str(tmp_path), "a.npy", scale=1.0, tcp_offset=0.0)


def test_the_annotated_opening_is_not_the_objects_thickness(table, annotated):
    rows = np.load(f"{annotated}/block.npy")
    rows[:, 1] = 0.08
    np.save(f"{annotated}/wide.npy", rows)
    pick(table, annotated=annotated, npy_name="wide.npy")
    assert table[0].held == "blue"


def test_a_file_that_cannot_be_used_is_an_invalid_request(table, annotated):
    message = fails_with(
        FailureCode.INVALID_REQUEST, table, annotated=annotated, npy_name="bad.yaml"
    )
    assert "position: List should have" in message


def test_the_grasps_that_come_with_the_stacks(table):
    folder = Path(__file__).parents[4] / "config" / "grasps"
    pick(table, annotated=str(folder), npy_name="block.yaml")
    assert table[0].held == "blue"


def test_annotations_without_a_folder(table):
    message = fails_with(FailureCode.INVALID_REQUEST, table, npy_name="block.npy")
    assert "grasp_directory" in message


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(SpecificationError) as error:
        read_specification(
            PickSpecification,
            "{filter_z_dir: [down, 5], fixed_orientation: [2, 0, 0, 0], constraints: [x, 1, 0], "
            "post_grasp_offset_min: 0.2}",
        )
    for key in ("filter_z_dir", "fixed_orientation", "constraints", "post_grasp_offset_min"):
        assert key in str(error.value)


def test_unknown_keys_are_warned_about():
    warnings = PickSpecification.model_validate({"lift_thh": 1}).warnings()
    assert warnings == [
        "'lift_thh' is not a key of the pick skill and has no effect. Did you mean 'lift_th'?"
    ]
