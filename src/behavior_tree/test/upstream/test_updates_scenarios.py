# SPDX-License-Identifier: Apache-2.0
"""Nodes that look whether an entry was written: the scenarios of gtest_updates.cpp."""

from functools import partial

import pytest
from scenario_kit import subtree

covers = partial(pytest.mark.upstream, "gtest_updates.cpp")

LOOK = subtree(
    "Look",
    '<Sequence><Fallback><WasEntryUpdated entry="a"/><Do name="stale"/></Fallback>'
    '<SkipUnlessUpdated entry="a"><Do name="fresh"/></SkipUnlessUpdated></Sequence>',
)
USE = '<SubTree ID="Look" _autoremap="true"/>'


@pytest.mark.parametrize(
    ("body", "log"),
    [
        pytest.param(f"<Sequence>{USE}</Sequence>", "stale", marks=covers("EntryUpdates.NoEntry")),
        pytest.param(
            f'<Sequence><Script code="a := 1; b := 1"/>{USE}</Sequence>',
            *("fresh",),
            marks=covers("EntryUpdates.Initialized"),
        ),
        pytest.param(
            f'<Sequence><Script code="a := 1"/><Repeat num_cycles="2">{USE}</Repeat></Sequence>',
            *("fresh stale",),
            marks=covers("EntryUpdates.UpdateOnce"),
        ),
        pytest.param(
            f'<Repeat num_cycles="2"><Sequence><Script code="a := 1"/>{USE}</Sequence></Repeat>',
            *("fresh fresh",),
            marks=covers("EntryUpdates.UpdateTwice"),
        ),
    ],
)
def test_writes_are_seen_once(stage, body, log):
    assert stage.load(body, LOOK).run() == "S"
    assert stage.take_log() == log
