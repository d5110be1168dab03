# SPDX-License-Identifier: Apache-2.0
"""The engines that a scenario runs on."""

import pytest
from scenario_kit import ENGINES, Stage


@pytest.fixture(params=ENGINES)
def stage(request):
    """Our engine, our engine as BehaviorTree.CPP 4.8, and the real BehaviorTree.CPP 4.8.2."""
    if request.param == "upstream":
        pytest.importorskip("behaviortreepy")
    return Stage(request.param)


@pytest.fixture(params=ENGINES[:2])
def ours(request):
    """Our engine in both settings: for what the binding of BehaviorTree.CPP cannot express."""
    return Stage(request.param)


@pytest.fixture
def mended():
    """Our engine as it is by default: for what BehaviorTree.CPP has only since 4.9."""
    return Stage("ours")
