# SPDX-License-Identifier: Apache-2.0
"""Which edges of the graph are avoided."""

import numpy as np

from behavior_navigation.rules.detours import Detours, Piece

# Robot, foot on the graph, a, b, foot, goal: three pieces of the five are edges.
POINTS = np.array([[0, 0], [1, 0], [4, 0], [8, 0], [10, 0], [10, 1]], dtype=float)
EDGES = ("o-a", "a-b", "b-c")


def test_edges_are_the_middle_pieces_of_a_route() -> None:
    detours = Detours(5.0)
    detours.take_route(POINTS, EDGES)
    assert detours.ahead(0.0, 100.0) == [
        Piece("o-a", 1.0, 4.0),
        Piece("a-b", 4.0, 8.0),
        Piece("b-c", 8.0, 10.0),
    ]
    assert [piece.edge for piece in detours.ahead(4.0, 3.0)] == ["a-b"]
    assert [piece.edge for piece in detours.ahead(3.5, 3.0)] == ["o-a", "a-b"]
    assert detours.ahead(10.0, 5.0) == []


def test_a_robot_that_stands_on_the_graph_has_a_piece_without_length() -> None:
    detours = Detours(5.0)
    detours.take_route(np.vstack([POINTS[1:2], POINTS[1:]]), EDGES)
    assert [piece.edge for piece in detours.ahead(0.0, 2.0)] == ["o-a"]


def test_routes_without_edges_avoid_nothing() -> None:
    detours = Detours(5.0)
    detours.take_route(POINTS, ())
    assert detours.give_up_way(0.0, 0.0, 5.0)
    assert detours.avoided == ()


def test_more_edges_than_pieces() -> None:
    detours = Detours(5.0)
    detours.take_route(POINTS[:2], EDGES)
    assert [piece.edge for piece in detours.ahead(0.0, 9.0)] == ["o-a"]


def test_what_was_avoided_stays_so_and_comes_once() -> None:
    detours = Detours(5.0)
    detours.take_route(POINTS, EDGES)
    assert detours.give_up_way(10.0, 0.0, 2.0)
    assert not detours.give_up_way(14.9, 5.0, 2.0)  # too soon
    assert detours.avoided == ("o-a",)
    assert detours.give_up_way(15.0, 3.0, 3.0)
    assert detours.avoided == ("o-a", "a-b")
    detours.drop_route()
    assert detours.give_up_way(30.0, 3.0, 3.0)
    assert detours.avoided == ("o-a", "a-b")
    assert not detours.avoid(["a-b"])
    assert detours.avoid(["a-b", "c-d"])
    assert detours.avoided == ("o-a", "a-b", "c-d")


def test_a_clock_that_is_set_back_does_not_lengthen_the_cool_down() -> None:
    detours = Detours(5.0)
    assert detours.give_up_way(100.0, 0.0, 1.0)
    assert detours.give_up_way(1.0, 0.0, 1.0)
