# SPDX-License-Identifier: Apache-2.0
"""Which tile of the map the robot needs."""

import pytest

from behavior_navigation.rules.tiles import Tile, TileRule, read_tiles

WEST, EAST = Tile("west", 0, 0, 19.5, 16), Tile("east", 14.5, 0, 34, 16)
RULE = TileRule((WEST, EAST), lookahead=1.5, margin=0.3)


@pytest.mark.parametrize(
    ("current", "robot", "ahead", "needed"),
    [
        ("west", (5, 5), (6, 5), None),
        ("west", (17.9, 8), (19.4, 8), None),
        ("west", (18.1, 8), (19.6, 8), "east"),  # on both, the way leaves the present one
        ("east", (18.1, 8), (19.6, 8), None),
        ("east", (16.0, 8), (14.4, 8), "west"),
        ("west", (19.7, 8), (21.0, 8), "east"),
        ("west", (19.7, 8), (19.0, 8), None),  # a little outside, and coming back
        ("west", (25.0, 8), (26.0, 8), "east"),  # carried away
        ("east", (5.0, 8), (5.0, 8), "west"),
        ("", (5, 5), (25, 5), None),  # nobody knows which map is in force
        ("cellar", (5, 5), (25, 5), None),
        ("west", (5, 40), (5, 41), None),  # on no tile at all
    ],
)
def test_tile_needed(current: str, robot: tuple, ahead: tuple, needed: str | None) -> None:
    assert RULE.needed(current, robot, ahead) == needed


def test_tiles_that_only_touch_are_changed_at_the_border() -> None:
    rule = TileRule((Tile("a", 0, 0, 10, 10), Tile("b", 10, 0, 20, 10)))
    assert rule.needed("a", (8.0, 5), (9.5, 5)) is None
    assert rule.needed("a", (9.0, 5), (10.5, 5)) == "b"
    assert rule.needed("b", (9.9, 5), (10.5, 5)) is None  # just behind the border: noise


def test_without_tiles_none_is_needed() -> None:
    assert TileRule().needed("west", (0, 0), (1, 1)) is None


def test_tiles_are_read_from_text() -> None:
    assert read_tiles(["west; 0;0;19.5;16", "", "east;14.5;0;34;16"]) == (WEST, EAST)


@pytest.mark.parametrize(
    "lines",
    [
        ["west;0;0;19.5"],
        ["west;0;0;19.5;high"],
        [";0;0;1;1"],
        ["west;5;0;1;1"],
        ["a;0;0;1;1", "a;2;2;3;3"],
    ],
)
def test_malformed_tiles_are_named(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"tile"):
        read_tiles(lines)
