# SPDX-License-Identifier: Apache-2.0
"""Panels of other packages: what is listed, and which files are served."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from behavior_console.offered_panels import modules_route, offered_panels


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of panels of the package `my_jobs`, beside all that is there."""
    share = tmp_path / "share" / "my_jobs"
    panels = share / "panels"
    (panels / "parts").mkdir(parents=True)
    index = tmp_path / "share/ament_index/resource_index/behavior_packages"
    index.mkdir(parents=True)
    (index / "my_jobs").touch()
    (share / "behavior.yaml").write_text("panels: [panels]\n")
    (share / "secret.js").write_text("1")
    (panels / "battery_state.js").write_text("export default () => {};")
    (panels / "parts" / "look.css").write_text("p { color: var(--text); }")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    return panels


def test_a_panel_is_listed_by_its_package_and_name(package):
    assert {
        "id": "my_jobs/battery_state",
        "title": "Battery state",
        "url": "/modules/my_jobs/battery_state.js",
    } in offered_panels()


def test_what_lies_in_the_folder_is_served_and_nothing_else(package):
    page = TestClient(Starlette(routes=[modules_route()]))
    module = page.get("/modules/my_jobs/battery_state.js")
    assert module.text == "export default () => {};"
    assert module.headers["content-type"].startswith("text/javascript")
    assert page.get("/modules/my_jobs/parts/look.css").status_code == 200
    (package / "link.js").symlink_to("../secret.js")
    for path in (
        "my_jobs/%2e%2e/secret.js",
        "my_jobs/..%2fsecret.js",
        "my_jobs/link.js",
        "my_jobs//etc/passwd",
        "my_jobs/parts",
        "my_jobs/none.js",
        "my_jobs/%00.js",
        f"my_jobs/{'long' * 100}.js",
        "behavior_jobs/battery_state.js",
    ):
        refused = page.get(f"/modules/{path}")
        assert refused.status_code == 404, path
        assert "offers no panel file" in refused.text
