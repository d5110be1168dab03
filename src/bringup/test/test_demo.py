# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest
from behavior_msgs.msg import MissionAction, MissionFeedback
from rich.console import Console

from behavior_bringup.errors import UsageError
from behavior_bringup.jobs import demo
from behavior_bringup.jobs.object_trial import rendering_words
from behavior_bringup.jobs.storyboard import Storyboard
from behavior_bringup.jobs.trial_run import order_of, stack_arguments
from behavior_bringup.stacks.description import Scalar
from behavior_sim.recordings.rendering import Caption, RenderReport


def test_the_backend_is_named() -> None:
    assert rendering_words(RenderReport(backend="egl", png="a.png", gif="a.gif")) == (
        "Drawn with EGL: a.png, a.gif"
    )
    second = RenderReport(backend="osmesa", png="p", gif="g", message="egl: no display")
    assert rendering_words(second) == "Drawn with OSMesa (egl: no display): p, g"


def test_missing_opengl_is_explained() -> None:
    words = rendering_words(RenderReport(backend="none", message="egl: a; osmesa: b"))
    assert words.startswith("No pictures")
    assert "osmesa: b" in words


def test_a_storyboard_tells_each_step_once():
    story = Storyboard()
    for second, phase in ((1, "reach"), (2, "reach"), (3, "grasp")):
        feedback = MissionFeedback(skill="Pick", phase=phase, detail="tower: blue")
        feedback.header.stamp.sec = second
        story.take(feedback)
    story.take(MissionFeedback())
    assert story.captions == [
        Caption(1.0, "Pick: reach   tower: blue"),
        Caption(3.0, "Pick: grasp   tower: blue"),
    ]


def broken(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("no OpenGL, no font, no room on the disk")


class Undrawable:
    """A trial of which there can be no picture."""

    draw = staticmethod(broken)


def test_a_picture_less_is_no_failure(tmp_path: Path) -> None:
    out = io.StringIO()
    demo.draw(
        cast("Any", Undrawable()), tmp_path / "x", Storyboard(), "", Console(file=out, width=200)
    )
    assert "No pictures: no OpenGL" in out.getvalue()


def test_a_stack_is_given_what_it_knows_and_is_asked_for_no_cameras_that_it_lacks() -> None:
    arguments: dict[str, Scalar] = {"world": "navigation", "seed": 3, "memory": "x"}
    known = stack_arguments("navigation", arguments, cameras=False)
    assert known == {"world": "navigation", "seed": 3}
    assert stack_arguments("block_stacking", {"memory": "x"}, cameras=True) == {
        "memory": "x",
        "cameras": True,
    }
    with pytest.raises(UsageError, match="'navigation' has no cameras"):
        stack_arguments("navigation", arguments, cameras=True)


def test_the_mission_of_a_job_is_a_tree_or_a_sequence() -> None:
    tree = order_of("stack_blocks")
    assert (tree.type, tree.name) == (MissionAction.RUN_BEHAVIOR, "stack_blocks")
    tour = order_of("warehouse_tour")
    assert (tour.type, len(tour.steps)) == (MissionAction.SEQUENCE, 5)
