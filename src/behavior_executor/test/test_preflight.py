# SPDX-License-Identifier: Apache-2.0
"""A mission waits for what its trees need, or says before anything starts what is missing."""

from pathlib import Path

import pytest
from core_bench import Bench

from behavior_executor.journal.journal import RestartPolicy
from behavior_executor.missions.mission import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
)
from behavior_executor.running.preflight import (
    Requirement,
    failure_of,
    finding_of,
    missing_of,
    place_of,
)
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import CauseKind, TreeNode

PATIENCE = 5.0


class Servers:
    """A core whose nodes `Server` and `Wait` need servers that come and go."""

    def __init__(self, folder: Path) -> None:
        self.there: set[str] = set()
        self.bench = Bench(folder, preflight_patience=PATIENCE)
        self.core = self.bench.core
        self.core._load = self._load

    def _load(self, entry, values) -> TreeRun:
        made = self.bench._load(entry, values)
        needing = [n for n in made.tree.nodes() if n.registration_id() in ("Server", "Wait")]
        return TreeRun(made.tree, tree_id="", requirements=[self.requirement(n) for n in needing])

    def requirement(self, node: TreeNode) -> Requirement:
        name = f"/{node.registration_id().lower()}"
        return Requirement(
            f"action {name} (a/action/B)",
            lambda: name in self.there,
            node.full_path(),
            place_of(node),
            offered_by="kitchen",
        )

    @property
    def told(self) -> list[tuple]:
        return self.bench.managers[0].told


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(tmp_path)


def test_a_mission_waits_for_its_servers_and_then_runs(servers: Servers) -> None:
    mission = servers.bench.submit("server")
    servers.bench.tick()
    assert mission.state is State.INITIALIZING
    assert (
        mission.text
        == "waits with its start for what is not there yet: action /server (a/action/B)"
    )
    assert servers.told == [], "no manager hears of it yet"
    servers.bench.tick(PATIENCE - 1.0)
    assert mission.state is State.INITIALIZING
    servers.there.add("/server")
    servers.bench.tick()
    assert mission.code is Code.SUCCESS
    assert servers.told == [("started", "a"), ("ended", Code.SUCCESS)]
    assert [state for _, state in servers.bench.events] == [
        State.WAITING,
        State.INITIALIZING,
        State.INITIALIZING,
        State.RUNNING,
        State.FINISHED,
    ]
    assert mission.text == "done"


def test_a_tree_is_not_ticked_before_every_manager_has_settled(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = [False]
    monkeypatch.setattr(servers.bench.managers[0], "settled", lambda: settled[0])
    mission = servers.bench.submit("good")
    servers.bench.tick()
    servers.bench.tick(2.0 * PATIENCE)
    assert (mission.state, mission.text, servers.told) == (State.INITIALIZING, "", [])
    settled[0] = True
    servers.bench.tick()
    assert mission.code is Code.SUCCESS


def test_a_pause_is_no_time_for_which_a_step_waits_for_its_servers(servers: Servers) -> None:
    bench = servers.bench
    servers.there |= {"/server", "/wait"}
    steps = tuple(MissionRequest(f"s#{n}", name=name) for n, name in ((1, "good"), (2, "forever")))
    mission = servers.core.submit(MissionRequest("s", kind=Kind.SEQUENCE, steps=steps))
    bench.tick()
    servers.there.clear()
    while mission.steps_done == 0:
        bench.tick()
    bench.tick()
    assert "/wait" in mission.text
    bench.submit("", "s", kind=Kind.PAUSE)
    bench.tick(10.0 * PATIENCE)
    bench.submit("", "s", kind=Kind.RESUME)
    bench.tick(PATIENCE - 1.0)
    assert mission.state is State.RUNNING
    bench.tick(1.0)
    assert mission.code is Code.SERVER_LOST


def test_what_is_taken_up_again_needs_no_servers_of_steps_that_are_done(servers: Servers) -> None:
    servers.there.add("/wait")
    names = ("good", "server", "forever")
    steps = tuple(MissionRequest(f"s#{n}", name=name) for n, name in enumerate(names, 1))
    request = MissionRequest("s", kind=Kind.SEQUENCE, steps=steps)
    mission = Mission(request, accepted_at=0.0, state=State.RUNNING, steps_done=2)
    servers.core.restore([mission], RestartPolicy.RESUME)
    servers.bench.tick()
    assert mission.state is State.RUNNING
    assert servers.told == [("started", "s#3")]


def test_a_mission_says_before_anything_starts_what_is_missing(servers: Servers) -> None:
    mission = servers.bench.submit("server")
    servers.bench.tick()
    servers.bench.tick(PATIENCE)
    assert (mission.state, mission.code) == (State.FAILED, Code.SERVER_LOST)
    assert servers.told == []
    why = mission.failure
    assert why is not None
    assert why.cause is not None
    assert why.cause.kind is CauseKind.SERVER_LOST
    assert why.path.startswith("Server")
    assert why.cause.evidence == "action /server"
    assert "start the node 'kitchen'" in why.cause.remedy
    file = servers.bench.folder / "server.xml"
    for words in (
        "not started",
        "waited 5 s",
        "action /server (a/action/B)",
        why.path,
        f"{file}:3",
    ):
        assert words in mission.text
    servers.there.add("/server")
    assert servers.bench.run("server").code is Code.SUCCESS


def test_a_mission_that_waits_for_servers_can_be_cancelled(servers: Servers) -> None:
    mission = servers.bench.submit("forever")
    servers.bench.tick()
    servers.core.cancel("")
    assert (mission.state, mission.code) == (State.CANCELED, Code.CANCELED_BY_CLIENT)
    assert servers.told == []
    servers.bench.tick()
    assert servers.bench.run("good").code is Code.SUCCESS


def sequence(*names: str) -> MissionRequest:
    steps = tuple(MissionRequest(f"a#{i}", name=name) for i, name in enumerate(names, 1))
    return MissionRequest("a", kind=Kind.SEQUENCE, steps=steps)


def test_the_servers_of_all_steps_are_there_before_the_first_step(servers: Servers) -> None:
    mission = servers.core.submit(sequence("good", "server", "server"))
    servers.bench.tick()
    servers.bench.tick(PATIENCE)
    assert mission.code is Code.SERVER_LOST
    assert mission.steps_done == 0
    assert "action /server" in mission.text
    assert servers.told == []


def test_a_server_that_went_away_between_two_steps_is_waited_for(servers: Servers) -> None:
    servers.there.add("/server")
    mission = servers.core.submit(sequence("good", "server"))
    servers.bench.tick()
    servers.there.clear()
    while mission.steps_done == 0:
        servers.bench.tick()
    servers.bench.tick()
    assert mission.state is State.RUNNING
    assert "waits with its start" in mission.text
    paused = MissionRequest("", kind=Kind.PAUSE)
    servers.core.submit(paused)
    servers.there.add("/server")
    servers.bench.tick()
    assert mission.state is State.PAUSED
    servers.core.submit(MissionRequest("", kind=Kind.RESUME))
    servers.bench.tick()
    assert mission.code is Code.SUCCESS


def test_the_question_is_answered_without_running(servers: Servers) -> None:
    assert servers.core.preflight(MissionRequest("q", name="good")).failure is None
    why = servers.core.preflight(sequence("good", "server")).failure
    assert why is not None
    assert "action /server" in why.text
    assert "waited" not in why.text
    assert servers.bench.events == []
    with pytest.raises(MissionError) as unknown:
        servers.core.preflight(MissionRequest("q", name="goood"))
    assert unknown.value.code is Code.UNKNOWN_MISSION
    with pytest.raises(MissionError) as broken:
        servers.core.preflight(MissionRequest("q", name="unknown_node"))
    assert broken.value.code is Code.INVALID_TREE
    servers.bench.submit("good")
    servers.bench.tick()
    with pytest.raises(MissionError) as busy:
        servers.core.preflight(MissionRequest("q", name="good"))
    assert busy.value.code is Code.BUSY


def needing(what: str, there: bool = False, **more: object) -> Requirement:
    return Requirement(what, lambda: there, "main/Pick::4", "job.xml:12", **more)


def test_each_thing_is_told_once_with_all_who_need_it() -> None:
    missing = missing_of(
        [needing("action /pick (p/action/Pick)")] * 3 + [needing("topic /t", True)]
    )
    why = failure_of(missing)
    assert why.text == (
        "not started, as not everything is there that it needs: action /pick (p/action/Pick) for "
        "main/Pick::4 (job.xml:12) and 2 more nodes: start the nodes that offer it"
    )


def test_what_is_there_is_told_too() -> None:
    pick, topic = needing("action /pick (p/action/Pick)"), needing("topic /t", True)
    assert finding_of([topic, topic]).text == "everything is there that it needs\ntopic /t"
    found = finding_of([pick, topic])
    assert found.there == ("topic /t",)
    assert found.text == failure_of([pick]).text
    assert finding_of([]).text == "everything is there that it needs"


def test_a_name_of_another_type_is_told() -> None:
    why = failure_of([needing("topic /t (a/msg/B)", other_types=lambda: ["a/msg/C"])])
    assert "topic /t (a/msg/B), which is there with another type, a/msg/C, for" in why.text


def test_many_things_are_told_shortly() -> None:
    why = failure_of([needing(f"service /{i} (a/srv/B)", offered_by="x") for i in range(40)])
    assert "and 30 more" in why.text
    assert len(why.text) < 2000
