# SPDX-License-Identifier: Apache-2.0
"""A core with a clock, recorded events and nodes that do as told."""

from pathlib import Path

from behavior_executor.core import ExecutorCore, Settings
from behavior_executor.journal.journal import MissionJournal
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.catalogue import MissionCatalogue, MissionEntry
from behavior_executor.missions.mission import Code, Mission, MissionRequest, Policy, State
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.missions.tree_digests import TreeDigests
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory, Blackboard, Cause, InputPort, NodeStatus, TreeNode

TREE = """<!-- {about} -->
<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main">{body}</BehaviorTree>
</root>
"""
TREES = {
    "good": "<Sequence><Sleep msec='1000'/><AlwaysSuccess/></Sequence>",
    "fails": "<Sequence><Work name='lathe' fails='too hot'/></Sequence>",
    "raises": "<Sequence><AlwaysSuccess/><Raise name='bad one'/></Sequence>",
    "skipped": "<AlwaysSuccess _skipIf='true'/>",
    "forever": "<Sequence><Wait/></Sequence>",
    "unknown_node": "<Sequence>\n<Pikc/>\n</Sequence>",
    "missing_tree": "<SubTree ID='elsewhere'/>",
    "missing_include": "<AlwaysSuccess/>",
    "server": "<RetryUntilSuccessful num_attempts='2'><Server/></RetryUntilSuccessful>",
    "tells": "<Sequence><Script code=\"mission_detail:='half done'\"/><AlwaysFailure/></Sequence>",
    "stubborn": "<Sequence><Stubborn/></Sequence>",
}


class RecordingListener:
    """A manager that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple] = []
        self.why: Cause | None = None

    def settled(self) -> bool:
        return True

    def pre_tick(self, now: float) -> None:
        pass

    def post_tick(self, now: float) -> None:
        pass

    def refusal(self, request: MissionRequest) -> str:
        return ""

    def mission_started(self, request: MissionRequest) -> None:
        self.told.append(("started", request.action_id))

    def mission_paused(self) -> None:
        self.told.append(("paused",))

    def mission_resumed(self) -> None:
        self.told.append(("resumed",))

    def mission_ended(self, code: Code) -> None:
        self.told.append(("ended", code))

    def failure(self) -> Cause | None:
        return self.why


class Bench:
    """A core with a clock, recorded events and nodes that do as told."""

    def __init__(
        self,
        folder: Path,
        policy: Policy = Policy.REJECT,
        journal: MissionJournal | None = None,
        log: MissionLog | None = None,
        **settings: float | str,
    ) -> None:
        for name, body in TREES.items():
            (folder / f"{name}.xml").write_text(TREE.format(about=f"Tree {name}", body=body))
        (folder / "not_xml.xml").write_text("<!-- Broken -->\n<root>\n<oops></root>")
        text = TREE.format(about="", body="<AlwaysSuccess/>")
        include = text.replace("<BehaviorTree", "<include path='nowhere.xml'/><BehaviorTree", 1)
        (folder / "missing_include.xml").write_text(include)
        self.time = 0.0
        self.events: list[tuple[str, State]] = []
        self.problems: list[str] = []
        self.halted = 0
        self.managers: list[RecordingListener] = [RecordingListener()]
        self.server: str | None = None
        self.folder = folder
        self.log = log or MissionLog(journal or MissionJournal(), warn=self.problems.append)
        self.factory = self._factory()
        self.core = ExecutorCore(
            catalogue=MissionCatalogue([folder]),
            queue=MissionQueue(default_policy=policy),
            load=self._load,
            digests=lambda entry: TreeDigests().of(entry.path),
            managers=self.managers,
            listener=self,
            now=lambda: self.time,
            wall=lambda: self.time,
            settings=Settings(**settings),
            log=self.log,
        )

    def _factory(self) -> BehaviorTreeFactory:
        factory = BehaviorTreeFactory(clock=lambda: self.time)

        def fail(node: TreeNode) -> NodeStatus:
            node.set_failure_reason("too hot")
            return NodeStatus.FAILURE

        def explode(node: TreeNode) -> NodeStatus:
            raise ValueError("boom")

        def halted(node: TreeNode) -> None:
            self.halted += 1

        def serve(node: TreeNode) -> NodeStatus:
            if self.server is not None:
                node.set_failure_reason(self.server)
                return NodeStatus.FAILURE
            return NodeStatus.SUCCESS

        def run(node: TreeNode) -> NodeStatus:
            return NodeStatus.RUNNING

        factory.register_simple_action("Work", fail, [InputPort("fails", str)])
        factory.register_simple_action("Raise", explode)
        factory.register_simple_action("Server", serve)
        factory.register_simple_stateful_action("Wait", run, run, halted)
        factory.register_simple_stateful_action("Stubborn", run, run, explode)
        return factory

    def _load(self, entry: MissionEntry, values: dict) -> TreeRun:
        self.factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        for key, value in values.items():
            blackboard.set(key, value)
        tree = self.factory.create_tree_from_file(entry.path, blackboard)
        return TreeRun(tree, tree_id=entry.main_tree, file=entry.path)

    def mission_changed(self, mission: Mission) -> None:
        event = (mission.action_id, mission.state)
        self.log.when_kept(mission, lambda: self.events.append(event))
        self.last_detail = self.core.activity.detail

    def tree_loaded(self, mission: Mission, run: TreeRun) -> None:
        pass

    def tree_ticked(self, mission: Mission, run: TreeRun, duration: float) -> None:
        self.last_run = run

    def problem(self, text: str) -> None:
        self.problems.append(text)

    def submit(self, name: str, action_id: str = "a", **kwargs: object) -> Mission:
        return self.core.submit(MissionRequest(action_id, name=name, **kwargs))

    def tick(self, seconds: float = 0.05) -> None:
        self.time += seconds
        self.core.tick()

    def run(self, name: str, limit: int = 1000) -> Mission:
        mission = self.submit(name)
        for _ in range(limit):
            self.tick()
            if mission.is_final:
                return mission
        raise AssertionError(f"{name} did not end")
