# SPDX-License-Identifier: Apache-2.0
"""The command with the whole stack: simulation, skills, scene, executor. About a minute in all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rclpy
from commanded import behavior, eventually, stack_processes
from rcl_interfaces.srv import ListParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from behavior_ros.testing import own_domain

BEHAVIOR = [sys.executable, "-m", "behavior_bringup.cli"]


@pytest.fixture(autouse=True)
def domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))


def test_an_evaluated_episode_in_a_namespace_ends_with_the_tower(
    runtime: Path, tmp_path: Path
) -> None:
    """The other tests build it without one."""
    file = tmp_path / "report.json"
    options = ("--episodes", "1", "--namespace", "left", "--json", str(file))
    done = behavior("evaluate", "stack_blocks", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(file.read_text(encoding="utf-8"))
    assert (report["episodes"], report["successes"]) == (1, 1), report["records"]
    assert 5.0 < report["median_sim_time_s"] < 120.0
    assert report["records"][0]["seed"] == 0
    assert "execution_time" in report["component_metrics"]["behavior_executor"]
    assert stack_processes(runtime) == []


def test_an_interrupted_demonstration_leaves_nothing(runtime: Path, tmp_path: Path) -> None:
    log = tmp_path / "demo.log"
    with log.open("w", encoding="utf-8") as output:
        demo = subprocess.Popen(
            [*BEHAVIOR, "demo", "--out", str(tmp_path / "out")],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: "Pick" in log.read_text(encoding="utf-8"), "the mission runs")
        assert stack_processes(runtime)
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=90) == 130
    finally:
        demo.kill()
        demo.wait(timeout=240)
    assert "interrupted" in log.read_text(encoding="utf-8")
    assert stack_processes(runtime) == []


TOWER = ("mission", "run", "stack_blocks", "--param", "order=blue_block;yellow_block")


@pytest.mark.slow
def test_one_stack_through_a_killed_process_and_a_restart(runtime: Path) -> None:
    try:
        up = behavior("up", "--respawn", "--speed", "4")
        assert up.returncode == 0, up.stdout + up.stderr
        assert "already up" in behavior("up").stderr
        every_node_is_found_and_tells_its_parameters()
        names_are_known_or_answered()
        missions_fail_when_the_skills_die_and_succeed_when_they_are_back()
        a_decider_network_goes_on_with_the_tower()
        the_history_of_missions_survives_down_and_up(runtime)
    finally:
        down = behavior("down")
    assert down.returncode == 0
    assert stack_processes(runtime) == []
    assert "Nothing was up" in behavior("down").stdout


def every_node_is_found_and_tells_its_parameters() -> None:
    """What `ros2 node list` and `ros2 param list` ask."""
    domain = json.loads(behavior("status", "--json").stdout)["default"]["domain"]
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    looker = Node("looker", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(looker)
    wanted = {"simulation", "skills", "robot_state_publisher", "behavior_executor", "scene"}
    eventually(lambda: wanted <= set(looker.get_node_names()), "every node is in the graph")
    own = ("looker", "behavior_command", "_")
    names = [name for name in looker.get_node_names() if not name.startswith(own)]
    asked = [looker.create_client(ListParameters, f"/{name}/list_parameters") for name in names]
    eventually(lambda: all(each.service_is_ready() for each in asked), "parameter services")
    told = [each.call_async(ListParameters.Request()) for each in asked]
    for name, answer in zip(names, told, strict=True):
        executor.spin_until_future_complete(answer, timeout_sec=60.0)
        assert answer.done(), name
        assert "use_sim_time" in answer.result().result.names, name
    executor.shutdown()
    looker.destroy_node()
    rclpy.shutdown(context=context)


def names_are_known_or_answered() -> None:
    assert "stack_blocks" in behavior("mission", "list").stdout
    unknown = behavior("mission", "run", "juggle")
    assert unknown.returncode == 2
    assert "No mission 'juggle'" in unknown.stderr
    moved = ("disturb", "red_block", "--to", "0.4", "-0.1", "0.05")
    eventually(lambda: behavior(*moved).returncode == 0, "the block is moved")  # if not within 10 s
    assert "stays where it is" in behavior("disturb", "pink_block").stderr
    for onoff, said in (("on", "detector fails"), ("off", "detector works again")):
        assert said in behavior("disturb", "detector", "--fault", onoff).stdout
    unknown = behavior("disturb", "coffee", "--fault", "on")
    assert "'coffee' cannot fail in this world; choose from detector, grip" in unknown.stderr


def missions_fail_when_the_skills_die_and_succeed_when_they_are_back() -> None:
    mission = subprocess.Popen([*BEHAVIOR, *TOWER], stdout=subprocess.PIPE, text=True)
    assert mission.stdout is not None
    for line in mission.stdout:
        if "Pick: reach" in line:
            break
    assert behavior("kill", "skills").returncode == 0
    rest = mission.communicate(timeout=240)[0]
    # Either the failure is told, or the process was back in time and the mission went on.
    assert mission.returncode == 0 or "/pick" in rest
    state = json.loads(behavior("status", "--json").stdout)["default"]
    assert state["processes"]["executor"]["restarts"] == 0
    eventually(lambda: behavior(*TOWER).returncode == 0, "a mission after the restart")


def a_decider_network_goes_on_with_the_tower() -> None:
    order = "order=blue_block;yellow_block;red_block"
    done = behavior("mission", "run", "decider_stack_blocks", "--param", order)
    assert done.returncode == 0, done.stdout + done.stderr
    picked = [line for line in done.stdout.splitlines() if "holds" in line]
    assert picked
    assert all("holds red_block" in line for line in picked)


def the_history_of_missions_survives_down_and_up(runtime: Path) -> None:
    before = history()
    assert len(before) >= 2
    last = subprocess.Popen(
        [*BEHAVIOR, "mission", "run", "stack_blocks"], stdout=subprocess.DEVNULL
    )
    eventually(lambda: len(history()) == len(before) + 1, "the last mission in the journal")
    assert behavior("down").returncode == 0
    assert stack_processes(runtime) == []
    last.wait(timeout=240)
    again = behavior("up", "--speed", "4")
    assert again.returncode == 0, again.stdout + again.stderr
    after = {record["action_id"]: record for record in history()}
    assert {record["action_id"]: record for record in before}.items() <= after.items()
    assert len(after) == len(before) + 1
    # Where the last one ended is a matter of how long `down` took to start.
    (ended,) = (each for each in after.values() if each not in before)
    assert ended["state"] in ("canceled", "finished")


def history() -> list[dict[str, Any]]:
    done = behavior("mission", "history", "--json")
    return json.loads(done.stdout) if done.returncode == 0 else []


@pytest.mark.slow
@pytest.mark.parametrize("mission", ["open_door", "insert_shelf", "sort_balls"])
def test_the_job_is_done_in_every_world(mission: str, runtime: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    asked = ("--episodes", "1", "--recordings", "all", "--speed", "2", "--json", str(file))
    done = behavior("evaluate", mission, *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(file.read_text(encoding="utf-8"))
    assert (report["mission"], report["successes"]) == (mission, 1), report["records"]
    recording = tmp_path / "report.episodes.recordings" / "seed-0.mcap"
    again = behavior("replay", str(recording), "--rerun")  # decides the same without the robot
    assert again.returncode == 0, again.stdout + again.stderr
    assert stack_processes(runtime) == []
