# SPDX-License-Identifier: Apache-2.0
"""Detectors by name: that of the suite, and those that packages add.

A package offers a detector in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    detectors: {cups: "my_package.detector:CupDetector"}

It is a class, or a function, that makes a detector: a :class:`DetectorFactory`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from behavior_packages import packages
from behavior_scene.detector.estimate import Estimate
from behavior_scene.detector.finder import Frame
from behavior_scene.detector.settings import DetectorSettings

REGIONS = "regions"
"""The suite's own: it tells where in space the regions of an image are, whoever found these."""


class Detector(Protocol):
    """Finds objects in the frames of one camera."""

    settings: DetectorSettings
    """By class; may be exchanged at any time."""

    @property
    def rejected(self) -> Mapping[Any, int]:
        """How often what was seen was not reported, by a word that says why."""

    def find(self, frame: Frame) -> list[Estimate]:
        """The objects of a frame, in the frame that it asks to report in."""


class DetectorFactory(Protocol):
    """Makes a detector."""

    def __call__(self, settings: DetectorSettings) -> Detector:
        """Raises `RuntimeError` where the detector cannot be used here, and says why."""


def create_detector(name: str, settings: DetectorSettings) -> Detector:
    """A detector.

    Args:
        name: of one that a package offers.
        settings: by class.

    Raises:
        ValueError: there is no such detector, or its package is broken; the message names those
            that there are, or the place of the fault.
    """
    offer = packages().find("detectors", name)
    factory: DetectorFactory = offer.load()
    try:
        return factory(settings)
    except Exception as error:  # a package's code may raise anything
        raise offer.failure(error) from error
