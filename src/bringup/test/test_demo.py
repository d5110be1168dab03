# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NoReturn

import pytest
from behavior_msgs.msg import MissionFeedback
from rich.console import Console

from behavior_bringup import demo
from behavior_bringup.demo import rendering_words
from behavior_bringup.navigation import demo as navigation_demo
from behavior_bringup.navigation.evidence import Evidence
from behavior_bringup.storyboard import Storyboard
from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.recording import Moment
from behavior_sim.rendering import Caption, RenderReport
from behavior_sim.resources import find_navigation_world


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


def test_a_picture_less_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = tmp_path / "motion.npz"
    recording.touch()
    out = io.StringIO()
    monkeypatch.setattr(demo, "render_recording", broken)
    demo._render(recording, Storyboard(), Console(file=out, width=200))
    assert "No pictures: no OpenGL" in out.getvalue()


def test_a_picture_less_is_no_failure_of_the_tour_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = Evidence(load_navigation_world(find_navigation_world("warehouse")))
    evidence.recording.moments.append(Moment(1.0, Pose2D(), 0.0))
    out = io.StringIO()
    monkeypatch.setattr(navigation_demo, "draw_picture", broken)
    navigation_demo._draw(evidence, tmp_path, "", True, Console(file=out, width=200))
    assert "No pictures: no OpenGL" in out.getvalue()
