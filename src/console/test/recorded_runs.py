# SPDX-License-Identifier: Apache-2.0
"""A run recorded without ROS: a tree that naps and fails for a reason, joints, and a mission."""

from behavior_recording import TreeRecording
from behavior_tree import BehaviorTreeFactory, NodeStatus

XML = """
<root BTCPP_format="4" main_tree_to_execute="naps">
  <BehaviorTree ID="naps">
    <Sequence name="both">
      <Script name="count" code="turns:=0"/>
      <Repeat num_cycles="{cycles}" name="again">
        <Sequence>
          <Script name="one more" code="turns:=turns+1"/>
          <Sleep name="nap" msec="50000"/>
        </Sequence>
      </Repeat>
      <AlwaysFailure name="sorry"/>
    </Sequence>
  </BehaviorTree>
</root>"""
WALL = 1_700_000_000_000_000_000
TICK = 10.0
"""[s] of the executor's clock, a second of wall time: the simulation runs fast. Nothing that a busy
machine adds to stamps comes near it."""


def cube_at(time):
    """Where along x the cube is [m] at a time [s]."""
    return time / 1000.0


class Run:
    """Records a run at a clock of its own, which begins at 100 s."""

    def __init__(self, path, cycles=3):
        self.time, self._messages = 100.0, 0
        factory = BehaviorTreeFactory(clock=lambda: self.time)
        self.tree = factory.create_tree_from_text(XML)
        self.tree.root_blackboard().set("cycles", cycles)
        self._recording = TreeRecording(path, self.tree, tree_id="naps", now=self._now, life=7)
        with self._recording:
            self._mission(2, "")
            while self._tick() is NodeStatus.RUNNING:
                pass
            self._mission(5, "sorry")
        self.end = self.time

    def _tick(self):
        self._message("/joint_states", "sensor_msgs/msg/JointState", self.time, name=["elbow"])
        self._objects()
        status = self._recording.tick()
        self.time = round(self.time + TICK, 6)
        return status

    def _objects(self):
        """A cube that moves by a millimetre a second."""
        pose = {"position": {"x": cube_at(self.time), "z": 0.5}, "orientation": {"w": 1.0}}
        cube = {"name": "cube", "class_id": "block", "pose": pose, "kind": "detected"}
        self._message("/scene/objects", "behavior_msgs/msg/SceneObjectArray", None, objects=[cube])

    def _mission(self, state, text):
        self._message(
            "/mission/feedback",
            "behavior_msgs/msg/MissionFeedback",
            None,
            state=state,
            text=text,
            action_id="m1",
            name="naps",
        )

    def _message(self, topic, kind, position, **values):
        stamp = {"sec": int(self.time), "nanosec": round(self.time % 1 * 1e9)}
        more = {} if position is None else {"position": [position]}
        header = {"stamp": stamp, "frame_id": "world"}
        self._recording.message(topic, kind, {"header": header, **values, **more})

    def _now(self):
        self._messages += 1
        return WALL + round((self.time - 100.0) * 1e8) + self._messages
