# SPDX-License-Identifier: Apache-2.0
"""Marker of the tests that cover a scenario of BehaviorTree.CPP's own tests."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "upstream(file, *cases): covers these cases of BehaviorTree.CPP's tests/<file>; "
        "benchmarks/upstream_scenarios.py counts them",
    )
