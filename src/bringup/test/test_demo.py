# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from behavior_bringup.demo import rendering_words
from behavior_sim.rendering import RenderReport


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
