# SPDX-License-Identifier: Apache-2.0
"""Frames that goals are given in: unknown ones and those of which nobody tells any more."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped

from behavior_ros import TransformError, to_time
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.frame_lookup import FrameLookup


class Buffer:
    """Frames one metre apart along x in the order of their names, with the time of each."""

    def __init__(self, **heard: float) -> None:
        self.heard = heard
        self.asked_at: list[object] = []

    def lookup_transform(self, target: str, source: str, time: object = None) -> TransformStamped:
        found = TransformStamped()
        found.header.stamp = to_time(self.heard[self._known(source)])
        return found

    def lookup_matrix(self, target: str, source: str, time: object = None) -> np.ndarray:
        self.asked_at.append(time)
        matrix = np.eye(4)
        matrix[0, 3] = sorted(self.heard).index(self._known(source)) + 1.0
        return matrix

    def _known(self, frame: str) -> str:
        if frame not in self.heard:
            raise TransformError(f"there is no frame '{frame}'")
        return frame


def lookup(buffer: Buffer, *, most_age: float) -> FrameLookup:
    return FrameLookup(
        buffer,  # type: ignore[arg-type]
        base="base",
        world="world",
        most_age=most_age,
        now=lambda: 100.0,
    )


@pytest.mark.parametrize("most_age", [0.0, 2.0])
def test_fresh_frames_and_those_that_never_move_are_found(most_age: float) -> None:
    found = lookup(Buffer(cart=98.5, table=0.0), most_age=most_age)
    assert found("cart", 0.0)[0, 3] == 1.0
    assert found("table", 0.0)[0, 3] == 2.0
    assert np.array_equal(found("base", 0.0), np.eye(4))


def test_a_frame_of_which_nobody_tells_any_more_is_refused() -> None:
    buffer = Buffer(cart=90.0)
    with pytest.raises(
        SkillFailure, match=r"'cart' was last heard 10\.0 s ago, more than 2 s"
    ) as error:
        lookup(buffer, most_age=2.0)("cart", 0.0)
    assert error.value.failure is FailureCode.UNKNOWN_FRAME
    assert lookup(buffer, most_age=0.0)("cart", 0.0)[0, 3] == 1.0, "unless that does not matter"
    assert lookup(buffer, most_age=2.0)("cart", 89.0)[0, 3] == 1.0, "who asks for the past knows"
    assert buffer.asked_at[-1] is not None


@pytest.mark.parametrize("most_age", [0.0, 2.0])
def test_unknown_frames_and_none_are_refused_in_words(most_age: float) -> None:
    found = lookup(Buffer(cart=99.0), most_age=most_age)
    with pytest.raises(SkillFailure, match="'car' is not known: there is no frame 'car'"):
        found("car", 0.0)
    with pytest.raises(SkillFailure, match="no frame_id: give one such as 'world'"):
        found("", 0.0)
