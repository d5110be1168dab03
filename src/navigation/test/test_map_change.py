# SPDX-License-Identifier: Apache-2.0
"""The books of a change of the map."""

import pytest

from behavior_navigation.rules.map_change import LoadAnswer, MapChange, TileRequest
from behavior_navigation.rules.state import MapPhase, NavigationState


class Loader:
    """Keeps what it is asked for."""

    def __init__(self) -> None:
        self.loads: list[tuple[int, str]] = []
        self.stopped = 0
        self.republished: list[float] = []

    def load(self, request_id: int, tile: TileRequest) -> None:
        self.loads.append((request_id, tile.tile_id))

    def stop_loading(self) -> None:
        self.stopped += 1

    def republish(self, acquired: float) -> None:
        self.republished.append(acquired)


@pytest.fixture
def change() -> MapChange:
    state = NavigationState()
    state.localization.good = True
    return MapChange(state, Loader(), load_timeout=5.0)


REST = (
    MapPhase.RESET_ROUTE,
    MapPhase.RESET_LOCALIZATION,
    MapPhase.WAIT_LOCALIZATION,
    MapPhase.ENABLING,
)


def load(change: MapChange) -> int:
    """Up to LOADING; the number of the request."""
    assert change.enter(MapPhase.DISABLING) == ""
    assert change.load() == ""
    return change.world.loads[-1][0]


def through(change: MapChange) -> None:
    number = load(change)
    assert change.wait_result() is None
    assert change.answer(LoadAnswer(number, True, acquired=3.5))
    assert change.wait_result() == ""
    assert change.republish() == ""
    for phase in REST:
        assert change.map.changing
        assert change.enter(phase) == ""
    assert change.complete() == ""


def test_a_change_from_request_to_end(change: MapChange) -> None:
    assert change.loaded
    assert change.request(TileRequest("east", id=4))
    assert change.requested
    assert not change.loaded
    through(change)
    assert change.loaded
    assert (change.map.tile_id, change.map.requested) == ("east", "")
    assert change.world.republished == [3.5]
    assert not change.map.changing
    assert not change.requested


def test_what_is_there_or_under_way_is_not_asked_for_again(change: MapChange) -> None:
    assert change.request(TileRequest("east", id=4))
    assert not change.request(TileRequest("east", id=4))  # twice
    assert not change.request(TileRequest("east"))
    through(change)
    assert not change.request(TileRequest("east", id=5))
    assert change.request(TileRequest("west", id=6))


@pytest.mark.parametrize("number", [-1, 1])
def test_answers_to_other_requests_are_ignored(change: MapChange, number: int) -> None:
    change.request(TileRequest("east"))
    mine = load(change)
    assert not change.answer(LoadAnswer(mine + number, True))
    assert change.wait_result() is None
    assert change.answer(LoadAnswer(mine, True))
    assert change.wait_result() == ""


def test_an_answer_that_comes_late_is_ignored(change: MapChange) -> None:
    change.request(TileRequest("east"))
    mine = load(change)
    change.state.now = 5.1
    assert "did not answer within 5 s" in change.wait_result()
    change.fail("late")
    assert not change.answer(LoadAnswer(mine, True))
    assert change.map.phase is MapPhase.FAILED


def test_maps_may_be_asked_for_by_where_they_lie_alone(change: MapChange) -> None:
    change.state.localization.map_id = "as the localizer calls it"
    for url in ("file:///hall.yaml", "file:///yard.yaml"):
        assert change.request(TileRequest("", url))
        through(change)
        assert change.localized
        assert not change.request(TileRequest("", url))
    assert change.request(TileRequest("east", "file:///east.yaml"))
    through(change)
    assert not change.request(TileRequest("east"))
    assert change.request(TileRequest("east", "file:///east_of_today.yaml"))
    load(change)
    assert change.request(TileRequest("", "file:///nowhere.yaml"))
    assert change.wait_result() is None
    change.answer(LoadAnswer(change.world.loads[-1][0], False, "no such file"))
    change.fail(change.wait_result() or "")
    assert "tile 'file:///nowhere.yaml', loading: no such file" in change.map.text


def test_the_newest_request_counts_while_loading(change: MapChange) -> None:
    change.request(TileRequest("east"))
    first = load(change)
    change.request(TileRequest("north"))
    change.request(TileRequest("south"))
    assert change.wait_result() is None
    assert [tile for _, tile in change.world.loads] == ["east", "south"]
    assert not change.answer(LoadAnswer(first, True))
    assert change.answer(LoadAnswer(change.world.loads[-1][0], True))
    assert change.wait_result() == ""
    change.republish()
    for phase in REST:
        change.enter(phase)
    change.complete()
    assert change.map.tile_id == "south"
    assert change.loaded


def test_a_request_after_loading_is_another_change(change: MapChange) -> None:
    change.request(TileRequest("east"))
    change.answer(LoadAnswer(load(change), True))
    change.wait_result()
    change.republish()
    change.request(TileRequest("west"))
    for phase in REST:
        change.enter(phase)
    assert change.complete() == ""
    assert change.map.tile_id == "east"
    assert change.requested
    through(change)
    assert change.map.tile_id == "west"


def test_refusals_are_told(change: MapChange) -> None:
    change.request(TileRequest("moon"))
    change.answer(LoadAnswer(load(change), False, "no such tile"))
    assert change.wait_result() == "no such tile"
    change.fail("no such tile")
    assert change.map.text == "tile 'moon', loading: no such tile"
    assert not change.requested
    assert not change.loaded
    assert change.failures == 1


def test_a_failed_change_is_tried_again_with_the_next_mission(change: MapChange) -> None:
    change.request(TileRequest("east"))
    load(change)
    change.fail("no")
    change.mission_started()
    assert change.requested
    assert change.map.changing  # still nothing may drive
    through(change)
    assert change.map.tile_id == "east"


def test_or_another_one_takes_its_place(change: MapChange) -> None:
    change.request(TileRequest("east"))
    load(change)
    change.fail("no")
    change.request(TileRequest("west"))
    change.mission_started()
    through(change)
    assert change.map.tile_id == "west"
    assert change.loaded


@pytest.mark.parametrize("last", [MapPhase.DISABLING, MapPhase.LOADING, *REST])
def test_a_mission_that_ends_in_the_middle_leaves_the_change_failed(
    change: MapChange, last: MapPhase
) -> None:
    change.request(TileRequest("east"))
    change.enter(MapPhase.DISABLING)
    if last is not MapPhase.DISABLING:
        change.load()
    if last in REST:
        change.answer(LoadAnswer(change.world.loads[-1][0], True))
        change.republish()
        for phase in REST[: REST.index(last) + 1]:
            change.enter(phase)
    assert change.map.phase is last
    change.mission_ended()
    assert change.map.phase is MapPhase.FAILED
    assert last.name in change.map.text
    assert change.map.tile_id == ""


def test_phases_are_gone_through_in_order(change: MapChange) -> None:
    assert "no tile" in change.enter(MapPhase.DISABLING)
    assert "cannot follow IDLE" in change.enter(MapPhase.RESET_ROUTE)
    assert "IDLE" in change.load()
    assert change.republish() == "no tile was loaded"
    assert "not over" in change.complete()
    assert "no tile is being loaded" in change.wait_result()
    change.request(TileRequest("east"))
    load(change)
    change.enter(MapPhase.RESET_LOCALIZATION)
    assert "cannot follow" in change.enter(MapPhase.RESET_ROUTE)


def test_without_a_tile_loader_nothing_is_loaded() -> None:
    change = MapChange(NavigationState(), Loader(), enabled=False)
    change.request(TileRequest("east"))
    assert not change.requested
    assert "use_tile_loader" in change.load()
    assert change.world.loads == []


def test_localized_means_in_the_new_map(change: MapChange) -> None:
    change.request(TileRequest("east"))
    load(change)
    place = change.state.localization
    for good, map_id, expected in (
        (True, "east", True),
        (True, "", True),  # a localizer that does not tell
        (True, "west", False),
        (False, "east", False),
    ):
        place.good, place.map_id = good, map_id
        assert change.localized is expected
