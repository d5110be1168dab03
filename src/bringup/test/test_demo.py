# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from behavior_msgs.msg import MissionFeedback

from behavior_bringup.demo import rendering_words
from behavior_bringup.storyboard import Storyboard
from behavior_sim.rendering import Caption, RenderReport


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
