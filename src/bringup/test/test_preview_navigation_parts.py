# SPDX-License-Identifier: Apache-2.0
"""The parts of a preview that a robot brings which drives by a map; no stack is needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from behavior_msgs.msg import MissionAction

from behavior_bringup.errors import UsageError
from behavior_bringup.preview.agreement import ENDS, agreement
from behavior_bringup.preview.base_state import BelievedBase, seen_beside_map
from behavior_bringup.preview.differences import Tolerances, differences
from behavior_bringup.preview.kinds import NavigationKind, ObjectsKind, kind_of
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.navigation import navigation_world
from behavior_bringup.preview.order import previewed_order
from behavior_bringup.preview.report import Preview
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.state import NavigationState
from behavior_sim.recordings.motion_summary import Clearance, MotionSummary
from behavior_sim.worlds.resources import find_navigation_world

BASE = BelievedBase(pose=(2.0, 1.5, 0.0), tile="west", frames={"cart": (29.0, 8.0, 0.0)})
CRATE = {"seen_1": ((5.0, 1.0, 6.0, 1.1), (5.0, 1.1, 6.0, 1.2))}


def live(base: BelievedBase = BASE) -> LiveState:
    return LiveState(joints={}, frame="map", base=base)


def test_worlds_are_told_apart() -> None:
    assert isinstance(kind_of("navigation"), NavigationKind)
    assert isinstance(kind_of("block_stacking"), ObjectsKind)


def test_what_the_map_does_not_show_is_found_in_parts() -> None:
    shown = np.zeros((5, 6), dtype=bool)
    shown[0] = True
    seen = shown.copy()
    seen[2, 1:3] = seen[3, 2] = True
    seen[2, 5] = True
    found = seen_beside_map(seen, shown, (10.0, 20.0), 0.5)
    assert found == {
        "seen_1": ((10.5, 21.0, 11.5, 21.5), (11.0, 21.5, 11.5, 22.0)),
        "seen_2": ((12.5, 21.0, 13.0, 21.5),),
    }
    assert seen_beside_map(shown, shown, (0.0, 0.0), 0.1) == {}


def test_the_copy_begins_as_it_is_believed_and_says_what_is_not_told() -> None:
    config = load_navigation_world(find_navigation_world("warehouse"))
    base = replace(
        BASE, seen=CRATE, located=False, autonomous=False, switch_held=False, tile="east"
    )
    world = navigation_world(live(base), config)
    assert world.state == NavigationState(
        robot=(2.0, 1.5, 0.0),
        tile="east",
        located=False,
        obstacles={"seen_1/0": CRATE["seen_1"][0], "seen_1/1": CRATE["seen_1"][1]},
        frames=dict(BASE.frames),
    )
    told = " ".join(world.notes)
    for word in ("picker, porter", "1 places", "not localized", "has not chosen", "not held"):
        assert word in told
    assert len(navigation_world(live(), config).notes) == 1


def test_what_has_changed_is_told() -> None:
    assert differences(live(), live(), Tolerances()) == []
    near = replace(BASE, pose=(2.03, 1.5, 0.0))
    assert differences(live(), live(near), Tolerances()) == []
    after = replace(
        BASE,
        pose=(2.0, 3.0, 0.0),
        tile="east",
        located=False,
        seen=CRATE,
        frames={"cart": (28.0, 8.0, 0.0)},
        switch_held=False,
    )
    assert differences(live(), live(after), Tolerances()) == [
        "The robot stands elsewhere, by 1.50 m",
        "tile: east now, west before",
        "localized: no now, yes before",
        "deadman switch held: no now, yes before",
        "frame cart has moved by 1.00 m",
        "something new is seen at (5.5, 1.1)",
    ]
    gone = differences(live(replace(BASE, seen=CRATE)), live(), Tolerances())
    assert gone == ["what was seen at (5.5, 1.1) is gone"]
    assert differences(live(), live(replace(BASE, seen=CRATE)), ENDS) == []


def test_what_is_seen_with_other_cells_is_the_same_thing() -> None:
    other = {"seen_1": ((5.1, 1.0, 6.0, 1.2),)}
    before, after = replace(BASE, seen=CRATE), replace(BASE, seen=other)
    assert differences(live(before), live(after), Tolerances()) == []


def test_a_report_tells_of_the_robot(tmp_path: Path) -> None:
    motion = MotionSummary(
        times=np.arange(2.0),
        tool=np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]),
        touched=(),
        clearance=Clearance(distance=0.1, time=1.0, link="base", name="rack_a"),
        mover="robot",
    )
    end = live(replace(BASE, pose=(3.0, 4.0, 0.0)))
    found = Preview(
        mission="navigate",
        parameters={},
        success=True,
        reason="",
        duration=10.0,
        begin=live(),
        end=end,
        motion=motion,
    )
    lines = list(found.lines())
    assert lines[0] == "The robot moves 5.00 m."
    assert lines[2] == "Keeps 100 mm from everything else: least at 1.0 s, base from rack_a."
    assert found.row()["begin"]["base"]["tile"] == "west"
    said = list(agreement(found, 10.2, live(replace(BASE, pose=(3.0, 4.05, 0.0)))))
    assert said[1] == "The robot ended 50 mm from its preview."
    assert len(said) == 2


def test_a_place_is_a_mission() -> None:
    order = previewed_order("navigate", {"x": "1.5", "y": "2", "frame": "cart"})
    assert order.type == MissionAction.NAVIGATE_TO_POSE
    assert (order.goal.pose.position.x, order.goal.header.frame_id) == (1.5, "cart")
    with pytest.raises(UsageError, match=r"navigate takes x and y.*y: Field required"):
        previewed_order("navigate", {"x": "1"})


def test_a_file_of_steps_is_a_mission(tmp_path: Path) -> None:
    file = tmp_path / "round.yaml"
    file.write_text("steps: [{navigate: {x: 1, y: 2}}, {load_map: east}]\n", encoding="utf-8")
    order = previewed_order(str(file))
    assert (order.type, len(order.steps)) == (MissionAction.SEQUENCE, 2)
    with pytest.raises(UsageError, match="no parameters"):
        previewed_order(str(file), {"a": "b"})
