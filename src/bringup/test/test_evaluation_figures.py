# SPDX-License-Identifier: Apache-2.0
"""The books of an evaluation, and its disturber, without a stack."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from behavior_msgs.msg import MissionFeedback
from rich.console import Console

from behavior_bringup.evaluation.figures import (
    Report,
    print_report,
    record_line,
    totals,
)
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.jobs.object_trial import Disturber, disagreements
from behavior_bringup.missions.progress import Progress, panel
from behavior_bringup.terminal import say_verdict
from behavior_sim.judging import Disturbance, Situation, WorldObject

RUNNING = MissionFeedback.RUNNING


def record(seed: int, success: bool, sim: float | None, wall: float) -> EpisodeRecord:
    return EpisodeRecord(
        seed=seed,
        outcome="success" if success else "failure",
        reason="fine" if success else "broken\nwith details",
        sim_time_s=sim,
        wall_time_s=wall,
        disturbances=["1.0 s: moved blue"] if seed == 2 else [],
    )


METRICS = {
    "behavior_executor": {
        "execution_time": {"median": 0.0004, "p99": 0.002, "samples": 100, "unit": "s"}
    }
}
REPORT = Report(
    mission="stack_blocks",
    seed=1,
    disturb=True,
    records=[
        record(1, True, 40.0, 10.0),
        replace(record(2, True, 50.0, 20.0), component_metrics=METRICS),
        record(3, False, None, 9.0),
    ],
)


def test_the_document_has_the_keys_that_were_promised(tmp_path: Path) -> None:
    file = tmp_path / "new" / "report.json"
    REPORT.write(file)
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["episodes"] == 3
    assert document["successes"] == 2
    assert document["median_sim_time_s"] == 45.0
    assert document["median_wall_time_s"] == 15.0
    assert document["real_time_factor"] == 3.0
    keys = {"seed", "outcome", "reason", "sim_time_s", "wall_time_s"}
    assert all(keys <= set(entry) for entry in document["records"])
    assert document["component_metrics"] == METRICS, "the newest"


def test_without_successes_there_are_no_medians() -> None:
    empty = Report(mission="m", seed=0, disturb=False, records=[record(3, False, None, 1.0)])
    summary = empty.summary()
    assert summary["median_sim_time_s"] is None
    assert totals(summary) == "0 of 1 episodes succeeded"


def test_episodes_that_take_no_time_have_no_real_time_factor() -> None:
    quick = Report(mission="m", seed=0, disturb=False, records=[record(1, True, 1.0, 0.0)])
    assert totals(quick.summary()).endswith("1.0 s simulated, 0.0 s wall")


def test_an_episode_need_have_no_reason() -> None:
    silent = replace(record(4, True, 1.0, 2.0), reason="")
    assert record_line(silent) == "seed 4: success, 1.0 s sim, 2.0 s wall: "


def test_the_table_names_every_episode() -> None:
    out = io.StringIO()
    print_report(REPORT, Console(file=out, width=120))
    text = out.getvalue()
    for words in ("moved blue", "broken", "2 of 3", "45.0 s simulated", "median 0.40 ms"):
        assert words in text
    assert record_line(REPORT.records[2]) == "seed 3: failure, - sim, 9.0 s wall: broken"


def test_the_scene_must_agree_with_the_world() -> None:
    def block(x: float, held: bool = False) -> WorldObject:
        return WorldObject(name="b", position=np.array([x, 0.0, 0.0]), held=held)

    truth = {"b": block(0.5)}
    assert disagreements(truth, {"b": block(0.51)}) == []
    assert disagreements(truth, {"b": block(0.6)}) == ["b is 0.100 m off"]
    assert disagreements(truth, {"b": block(0.5, held=True)}) == ["b counts as held"]
    assert disagreements(truth, {}) == ["b is not in the scene"]


class Once:
    """Disturbs at the first occasion."""

    def __init__(self) -> None:
        self.seen: list[Situation] = []

    def due(self, situation: Situation) -> Disturbance | None:
        self.seen.append(situation)
        if len(self.seen) > 1:
            return None
        return Disturbance(kind="move", object="b", position=np.zeros(3), yaw=0.0, cause="moved b")

    def pending(self) -> list[str]:
        return []


def test_the_disturber_acts_only_while_its_mission_is_known() -> None:
    feedback: dict[str, Any] = {}
    answer = SimpleNamespace(done=lambda: True, result=lambda: SimpleNamespace(code=0, message=""))
    client: Any = SimpleNamespace(
        truth={},
        truth_time=1.0,
        feedback=feedback.get,
        finished=lambda action_id: feedback[action_id].state == MissionFeedback.FINISHED,
        disturb_later=lambda what: answer,
    )
    plan = Once()
    disturber = Disturber(client, plan, "id")
    client.on_truth()
    assert plan.seen == []
    feedback["id"] = SimpleNamespace(state=RUNNING, skill="Pick", phase="reach", elapsed=3.0)
    client.on_truth()
    client.on_truth()
    assert [situation.skill for situation in plan.seen] == ["pick", "pick"]
    assert disturber.done == ["3.0 s: moved b"]
    feedback["id"].state = MissionFeedback.FINISHED
    client.on_truth()
    assert len(plan.seen) == 2
    feedback["id"].state = RUNNING
    disturber.stop()
    client.on_truth()
    assert len(plan.seen) == 2


def test_reasons_keep_their_square_brackets() -> None:
    out = io.StringIO()
    console = Console(file=out, width=200)
    bad = EpisodeRecord(
        seed=1, outcome="failure", reason="port [grasp] [/]", sim_time_s=None, wall_time_s=1.0
    )
    print_report(Report(mission="[x]", seed=1, disturb=False, records=[bad]), console)
    say_verdict(False, "port [grasp] is open", console)
    console.print(panel(Progress(mission="x", state="running", active_path="a/[red]b")))
    for words in ("port [grasp] [/]", "[x]", "FAILURE: port [grasp] is open", "a/[red]b"):
        assert words in out.getvalue()


def test_what_the_simulation_refused_was_not_done_and_the_record_says_why() -> None:
    answer = SimpleNamespace(
        done=lambda: True, result=lambda: SimpleNamespace(code=102, message="the arm is in the way")
    )
    feedback = {"id": SimpleNamespace(state=RUNNING, skill="Pick", phase="reach", elapsed=3.0)}
    client: Any = SimpleNamespace(
        truth={},
        truth_time=1.0,
        feedback=feedback.get,
        finished=lambda action_id: feedback[action_id].state == MissionFeedback.FINISHED,
        disturb_later=lambda what: answer,
    )
    disturber = Disturber(client, Once(), "id")
    client.on_truth()
    assert disturber.done == []
    assert disturber.refused == ["3.0 s: moved b (refused: the arm is in the way)"]


def test_an_episode_that_was_left_alone_says_why() -> None:
    alone = EpisodeRecord(
        seed=4,
        outcome="success",
        reason="fine",
        sim_time_s=1.0,
        wall_time_s=1.0,
        not_disturbed=["push shut (no occasion)"],
    )
    assert record_line(alone).endswith("fine; not disturbed: push shut (no occasion)")
