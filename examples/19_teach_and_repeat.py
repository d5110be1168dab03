# SPDX-License-Identifier: Apache-2.0
"""In ten calls an empty tree becomes "pick the red ball into box B, retry twice", and runs.

The skills are fakes here, and the first grasp slips. For real, with a preview in a copied world:
`behavior up --world sorting --headless missions:=FOLDER`; this program with `--stack FOLDER`.

Prints:
    MADE MADE MADE MADE MADE MADE
    would succeed: True, did: done
"""

import sys
import tempfile
import threading
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

from behavior_bringup.preview.run import preview_mission
from behavior_bringup.stacks.connection import enter
from behavior_bringup.stacks.stack import Stack
from behavior_executor.client import MissionClient
from behavior_executor.editing.live_editor import LiveEditor
from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_tree import InputPort, NodeStatus

EMPTY = '<root BTCPP_format="4"><BehaviorTree ID="red_ball"><AlwaysSuccess/></BehaviorTree></root>'
PICK = '<Pick name="pick" object_name="red_ball_0" lift_height="0.1"/>'
JOB = f'<RetryUntilSuccessful num_attempts="3"><Sequence>{PICK}</Sequence></RetryUntilSuccessful>'
LEAVES = """<WaitUntilHeld name="held" object_name="red_ball_0"/>
<DropPose name="above" container="blue_tray" object_name="red_ball_0" poses="{above}"/>
<MoveArm name="carry" mode="POSE" poses="{above}"/>
<MoveGripper name="open" mode="WIDTH" width="0.063"/>""".splitlines()
RESULTS = iter([NodeStatus.FAILURE])  # of the fakes; then they succeed


class FakeSkills(BehaviorManager):
    def register_nodes(self, factory):
        for kind, *words in (leaf.strip("</>").split() for leaf in [PICK, *LEAVES]):
            ports = [InputPort(word.split("=")[0], str) for word in words[1:]]
            factory.register_simple_action(kind, lambda _: next(RESULTS, NodeStatus.SUCCESS), ports)


def author(folder, preview):
    Path(folder, "red_ball.xml").write_text(EMPTY)
    with LiveEditor("ann") as ann, MissionClient() as client:
        ann.join("red_ball")
        empty = ann.replica.find("AlwaysSuccess")
        made = [ann.edit({"op": "replace", "node": empty, "xml": JOB})]
        job = ann.replica.find("Sequence")
        made += [ann.edit({"op": "insert", "parent": job, "xml": leaf}) for leaf in LEAVES]
        made += [ann.edit({"op": "save"})]
        print(*(answer.code.name for answer in made))
        print(f"would succeed: {preview()}, did: {client.run('red_ball').message}")


if "--stack" in sys.argv:
    enter("default")
    author(sys.argv[-1], lambda: preview_mission(Stack(), "red_ball").success)
else:
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        values = {"tree_directories": [folder], "managers": ["__main__:FakeSkills"]}
        overrides = [Parameter(k, value=v) for k, v in {**values, "nodes_file": ""}.items()]
        executor = SingleThreadedExecutor()
        executor.add_node(BehaviorExecutor(parameter_overrides=overrides))
        spinning = threading.Thread(target=executor.spin, daemon=True)
        spinning.start()
        author(folder, lambda: True)
        executor.shutdown()
        spinning.join()
rclpy.shutdown()
