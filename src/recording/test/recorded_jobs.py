# SPDX-License-Identifier: Apache-2.0
"""Recordings of a small job, made in this process on a clock that stands still."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from behavior_recording import TreeRecording
from behavior_tree import (
    BehaviorTreeFactory,
    ConditionNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    StatefulActionNode,
    Tree,
    TreeNode,
)
from behavior_tree.cause import Cause, CauseKind

EPOCH = 1_700_000_000
"""Begin of every recording [s]."""
LETTERS = {"R": "RUNNING", "S": "SUCCESS", "F": "FAILURE"}

JOB = """
<root BTCPP_format="4" main_tree_to_execute="fetch">
  <BehaviorTree ID="fetch">
    <Sequence name="job">
      <Script name="prepare" code="attempts := 0"/>
      <RetryUntilSuccessful num_attempts="2">
        <Sequence name="attempt">
          <Look name="see" object="{object}"/>
          <SubTree ID="grasp" name="grasp" object="{object}" attempts="{attempts}"/>
        </Sequence>
      </RetryUntilSuccessful>
      <Place name="put down"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="grasp">
    <Sequence>
      <Script name="count" code="attempts += 1"/>
      <Pick name="pick it" object="{object}" force="{force}"/>
    </Sequence>
  </BehaviorTree>
</root>
"""


class Clock:
    """Stands still until moved [s]."""

    def __init__(self) -> None:
        self.now = float(EPOCH)

    def __call__(self) -> float:
        return self.now

    def nanoseconds(self) -> int:
        return round(self.now * 1e3) * 1_000_000


class Script:
    """Results of leaves by name; the last letter of one repeats."""

    def __init__(self, results: dict[str, str]) -> None:
        self.results, self.calls = results, Counter[str]()

    def __call__(self, node: TreeNode) -> NodeStatus:
        name = str(node.name)
        letters = self.results.get(name, "S")
        letter = letters[min(self.calls[name], len(letters) - 1)]
        self.calls[name] += 1
        return NodeStatus[LETTERS[letter]]


class _Skill(StatefulActionNode):
    def __init__(self, name: str, config: NodeConfig, script: Script, reason: str) -> None:
        super().__init__(name, config)
        self._script, self._slip = script, reason

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return {
            "object": InputPort("object", str, default="<block>"),
            "force": OutputPort("force", float),
        }

    def on_start(self) -> NodeStatus:
        return self.on_running()

    def on_running(self) -> NodeStatus:
        result = self._script(self)
        if result is not NodeStatus.RUNNING and self.raw_port("force"):
            self.set_output("force", 0.5 * self._script.calls[str(self.name)])
        if result is NodeStatus.FAILURE:
            remedy = "put it back within reach"
            self.set_failure_reason(Cause(CauseKind.REPORTED, self._slip, remedy=remedy))
        return result


class _Look(ConditionNode):
    def __init__(self, name: str, config: NodeConfig, script: Script) -> None:
        super().__init__(name, config)
        self._script = script

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return {"object": OutputPort("object", str)}

    def tick(self) -> NodeStatus:
        self.set_output("object", "<b>red</b>")
        return self._script(self)


def factory_of(clock: Clock, results: dict[str, str]) -> BehaviorTreeFactory:
    """Knows the leaves of the job."""
    script, factory = Script(results), BehaviorTreeFactory(clock)
    factory.register_node_type(_Look, "Look", script)
    factory.register_node_type(_Skill, "Pick", script, "the grip slipped off <script>x</script>")
    factory.register_node_type(_Skill, "Place", script, "the place is taken")
    return factory


def record(
    path: Path, xml: str = JOB, *, ticks: int = 20, extra: Any = None, **results: str
) -> NodeStatus:
    """Record a run of the job; the last status.

    Args:
        path: of the file
        xml: its tree
        ticks: at most
        extra: called with the recording before the first tick and after the last one
        results: letters by name of the leaf, ``_`` for a blank
    """
    clock = Clock()
    letters = {name.replace("_", " "): text for name, text in results.items()}
    tree: Tree = factory_of(clock, letters).create_tree_from_text(xml)
    recording = TreeRecording(
        path, tree, tree_id="fetch", action_id="m1", now=clock.nanoseconds, life=7
    )
    status = NodeStatus.IDLE
    with recording:
        if extra is not None:
            extra(recording, None)
        for _ in range(ticks):
            clock.now += 0.25
            status = recording.tick()
            if status.completed:
                break
        if extra is not None:
            extra(recording, status)
        recording.close("the mission ended")
    return status
