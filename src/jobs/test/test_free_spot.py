# SPDX-License-Identifier: Apache-2.0
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_jobs.free_spot import Disc, TableArea, sample_free_spot

AREA = TableArea()
DISCS = st.lists(
    st.builds(Disc, st.floats(0.2, 0.7), st.floats(-0.4, 0.4), st.floats(0.05, 0.2), st.booleans()),
    max_size=8,
)


def distance(spot: tuple[float, float], disc: Disc) -> float:
    return math.hypot(spot[0] - disc.x, spot[1] - disc.y)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(DISCS, st.integers(0, 1000))
def test_spots_keep_every_essential_limit(discs: list[Disc], seed: int) -> None:
    spot = sample_free_spot(AREA, discs, random.Random(seed), tries=200)
    if spot is None:
        return
    assert AREA.x_min <= spot[0] <= AREA.x_max
    assert AREA.y_min <= spot[1] <= AREA.y_max
    assert math.hypot(*spot) <= AREA.reach
    assert all(distance(spot, disc) >= disc.radius for disc in discs if disc.essential)


def test_free_spot_is_free_of_all() -> None:
    discs = [Disc(0.25, 0.30, 0.15), Disc(0.5, 0.0, 0.15), Disc(0.0, 0.0, 0.35, True)]
    for seed in range(50):
        spot = sample_free_spot(AREA, discs, random.Random(seed))
        assert spot is not None
        assert all(distance(spot, disc) >= disc.radius for disc in discs)


def test_without_room_the_least_violation_is_taken() -> None:
    everywhere = Disc(0.5, 0.0, 2.0)
    spot = sample_free_spot(AREA, [everywhere], random.Random(1))
    assert spot is not None
    assert distance(spot, everywhere) > 0.25  # near the rim: as far from the centre as it gets


def test_no_spot_in_an_essential_disc() -> None:
    assert sample_free_spot(AREA, [Disc(0.5, 0.0, 2.0, True)], random.Random(1)) is None


def test_same_seed_same_spot() -> None:
    spots = {sample_free_spot(AREA, [], random.Random(7)) for _ in range(3)}
    assert len(spots) == 1


def test_empty_area_is_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        TableArea(x_min=1.0, x_max=0.5)
