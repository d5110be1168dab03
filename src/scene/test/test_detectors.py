# SPDX-License-Identifier: Apache-2.0
"""Detectors by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from behavior_packages import Packages, read_manifest
from behavior_scene.detector import Finder, create_detector, detectors, parse_settings

SUITE = Path(__file__).parents[1] / "behavior.yaml"
MANIFEST = """
detectors:
  cups: cup_package:Cups
  absent: cup_package:Absent
  broken: cup_package:Broken
"""
CODE = """
from behavior_scene.detector import Finder
class Cups(Finder): pass
class Broken:
    def __init__(self, settings): raise RuntimeError("there is no network file; download it")
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package beside the suite with a detector, and with two that do not work."""
    (tmp_path / "cup_package.py").write_text(CODE)
    manifest = tmp_path / "behavior.yaml"
    manifest.write_text(MANIFEST)
    monkeypatch.syspath_prepend(str(tmp_path))
    both = [read_manifest("behavior_scene", SUITE), read_manifest("cup_package", manifest)]
    monkeypatch.setattr(detectors, "packages", lambda: Packages(both))


def test_the_suites_own_enters_by_the_door() -> None:
    assert type(create_detector("regions", parse_settings(""))) is Finder


def test_a_package_adds_a_detector() -> None:
    settings = parse_settings("cup: {ignored: true}")
    detector = create_detector("cups", settings)
    assert type(detector).__name__ == "Cups"
    assert detector.settings is settings


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mugs", "no detector 'mugs': choose one of .*cups"),
        ("absent", r"behavior\.yaml:4: cup_package:Absent .*Absent"),
        ("broken", r"cup_package:Broken .*cup_package\.py:5: RuntimeError: there is no network"),
    ],
)
def test_what_cannot_be_had_is_told_with_its_place(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        create_detector(name, parse_settings(""))
