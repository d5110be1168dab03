# SPDX-License-Identifier: Apache-2.0
"""The specification as YAML: defaults, errors all at once, warnings."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from kit import spec

from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.placement import PlaceSpecification
from behavior_skills.specification import SkillSpecification, SpecificationError, read_mapping
from behavior_skills.specification import read_specification as read


def read_specification(text: str) -> PlaceSpecification:
    return read(PlaceSpecification, text)


def test_the_defaults_are_those_of_the_facts() -> None:
    read = read_specification("objects: [peg, bin]")
    assert read.place_direction == "vertical"
    assert read.position_constraint == "gripper"
    assert read.x_ratio_range == (0.4, 0.6)
    assert (read.pre_place_z_offset, read.place_z_offset) == (0.2, 0.1)
    assert (read.hesitate_steps, read.gripper_change_steps) == (0, 10)
    assert read.success_mode == "3diou"
    assert read.warnings() == []


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(SpecificationError) as error:
        read_specification(
            """
            objects: [peg, bin]
            place_direction: sideways
            pre_place_z_offset: .nan
            gripper_change_steps: 0
            post_place_hold_vec_weight: [1, 1, 1]
            """
        )
    for key in ("place_direction", "pre_place_z_offset", "gripper_change_steps", "post_place_hold"):
        assert key in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x_ratio_range: [0.6, 0.4]", "x_ratio_range"),
        ("place_direction: horizontal", "align_place_obj_axis is needed"),
        (
            "{place_direction: horizontal, position_constraint: object, "
            "align_place_obj_axis: [1, 0, 0]}",
            "offset_place_obj_axis is needed",
        ),
        ("align_pick_obj_axis: [0, 0, 0]", "no direction"),
        ("success_mode: iou", "success_mode 'iou'"),
        ("place_part_prim_path: lid", "'lid' is not in parts"),
        ("filter_z_dir: [down, 20]", "filter_z_dir"),
        ("align_plane_x_axis: [1, 0, 0]", "belong together"),
        ("{align_plane_x_axis: [1, 2, 3], align_plane_y_axis: [-2, -4, -6]}", "are parallel"),
        ("candidates: 100000", "less than or equal to 200"),
        ("hesitate_steps: 1000000000", "less than or equal to 6000"),
        ("seed: -1", "greater than or equal to 0"),
        ("seed: 4294967296", "less than 4294967296"),
        ("place_z_offset: 1.0e+300", "less than or equal to 10"),
        ("align_place_obj_axis: [1.0e+300, 0, 0]", "less than or equal to 1000"),
        ("ignore_substring: ['']", "ignore_substring.0"),
        ("ignore_substring: [' ']", "ignore_substring.0"),
        ("ignore_substring: ['*']", "ignore_substring.0"),
        ("ignore_substring: ['a?']", "ignore_substring.0"),
        ("filter_z_dir: [[1], 20]", "filter_z_dir"),
        ("filter_z_dir: [downward, true]", "angles are numbers"),
        ("filter_z_dir: [downward, .nan]", "angles are numbers"),
    ],
)
def test_what_does_not_fit_together_is_refused(text: str, why: str) -> None:
    values = {"objects": ["peg", "bin"], **yaml.safe_load(text)}
    with pytest.raises(SpecificationError, match=why):
        read_specification(yaml.safe_dump(values))


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "", "5"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(SpecificationError):
        read_specification(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("objects: [a, b]\nname: " + 17_000 * "x", "at most 8192"),
        ("{x: &a [1], y: *a}", "aliases"),
        (8_000 * "[", "nested more than 20"),
        (4_000 * "- ", "nested more than 20"),
        ("candidates: " + 5_000 * "9", "no valid YAML"),
        ("{1: 2}", "mapping of keys"),
        ("objects: [" + ", ".join(f"name_{i}" for i in range(400)) + "]", "at most 2"),
    ],
)
def test_what_is_too_much_is_refused_in_a_few_words(text: str, why: str) -> None:
    with pytest.raises(SpecificationError) as error:
        read_specification(text)
    assert why in str(error.value)
    assert len(str(error.value)) < 1000


def test_reasons_are_one_sentence() -> None:
    with pytest.raises(SpecificationError) as error:
        read_specification(
            "{objects: [a, a], filter_z_dir: [down, 5], filter_x_dir: [upward, 500], "
            "align_plane_x_axis: [1, 0, 0]}"
        )
    message = str(error.value)
    assert message.count(";") == 3
    assert not re.search(r"[.;:,]\s*[.;:,]", message.replace("...", ""))
    assert message.endswith(".")
    assert not message.endswith("..")


def test_many_unknown_keys_are_not_all_spoken_of() -> None:
    assert len(spec(**{f"key_{i}": 1 for i in range(3000)}).warnings()) == 20


def test_keys_without_effect_are_warned_about() -> None:
    warnings = spec(close_wait_steps=3, place_z_ofset=0.2, place_align_axis=[1, 0, 0]).warnings()
    assert len(warnings) == 3
    assert "Did you mean 'place_z_offset'" in warnings[1]
    assert "align_place_obj_axis" in warnings[2]


def test_a_tolerance_without_axes_is_warned_about() -> None:
    assert "align_obj_tol" in spec(align_obj_tol=5).warnings()[0]


def test_constraints_come_from_filters_axes_and_plane() -> None:
    B_R_C, E_R_O = np.eye(3), np.eye(3)
    assert spec().constraints(B_R_C, E_R_O) == []
    constraints = spec(
        filter_z_dir=["downward", 140],
        align_pick_obj_axis=[0, 0, 2],
        align_place_obj_axis=[1, 0, 0],
        align_obj_tol=10,
        align_plane_x_axis=[1, 0, 0],
        align_plane_y_axis=[0, 0, 1],
        align_plane_tol=5,
    ).constraints(B_R_C, E_R_O)
    assert [constraint.name for constraint in constraints] == [
        "filter_z_dir: ['downward', 140]",
        "align_obj_tol: 10",
        "align_plane_*_axis",
    ]
    alignment, plane = constraints[1:]
    assert alignment.tool == pytest.approx((0, 0, 1))
    assert alignment.low == pytest.approx(math.cos(math.radians(10)))
    assert plane.base == pytest.approx((0, -1, 0))
    assert plane.high == pytest.approx(math.sin(math.radians(5)))


def test_the_alignment_needs_all_three_keys() -> None:
    two = spec(align_pick_obj_axis=[0, 0, 1], align_place_obj_axis=[1, 0, 0])
    assert two.constraints(np.eye(3), np.eye(3)) == []


def test_the_documented_keys_are_those_there_are() -> None:
    page = (Path(__file__).parents[4] / "docs/skills.md").read_text()
    placing, picking = page.split("## Placing by specification")[1].split("## Picking")
    picking = picking.split("## Recordings")[0]
    for kind, text in ((PlaceSpecification, placing), (PickSpecification, picking)):
        ours = set(kind.model_fields) - set(SkillSpecification.model_fields)
        missing = [key for key in ours - {"name", "objects"} if f"`{key}`" not in text]
        assert missing == []
    example = re.search(r'parameters="(.*?)"', page, flags=re.DOTALL)
    assert example is not None
    specification = read_specification(example.group(1))
    assert specification.warnings() == []
    assert specification.success_mode == "contained"


@pytest.mark.parametrize(
    "text",
    [
        "a: !!int ''",
        "a: !!bool x",
        "a: !!timestamp x",
        "a: 2024-13-45",
        "a: !!float x",
        "a: !!binary ä",
        "? [a]\n: 1",
        "a: " + 5_001 * "9",
        20_000 * "[",
        "[" * 16_000,
        "!" + 10_000 * "x" + " y",
        "{a: b",
        "\x00",
        "*a",
        "- 1",
    ],
)
def test_whatever_yaml_raises_is_one_sentence(text):
    with pytest.raises(SpecificationError) as caught:
        read_mapping(text)
    message = str(caught.value)
    assert message.startswith("The specification")
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 400
    assert "Error" not in message
