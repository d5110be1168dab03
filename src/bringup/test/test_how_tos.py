# SPDX-License-Identifier: Apache-2.0
"""The tutorial and the how-tos of docs/, word for word: their files written, their commands run."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_reader import REPOSITORY, follow

from behavior_ros.testing import own_domain

DOCS = REPOSITORY / "docs"

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not DOCS.exists(), reason="the package is tested without its repository"),
]


@pytest.mark.parametrize("page", ["first_mission", "adding_a_planner", "adding_a_detector"])
def test_a_page_works_word_for_word(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    follow(DOCS / f"{page}.md", tmp_path)
