# SPDX-License-Identifier: Apache-2.0
"""Scene and skill servers without a robot, as nodes; run as a program, it serves the skills."""

import sys

from behavior_msgs.action import MoveArm, MoveGripper, Pick, Place
from behavior_msgs.msg import SceneObject, SceneObjectArray
from kinematic_world import H, World
from rclpy.node import Node
from shape_msgs.msg import SolidPrimitive

from behavior_ros import QOS_LATCHED, GoalContext, WorkerActionServer, run


class FakeScene(Node):
    """Publishes the blocks of a world at 10 Hz."""

    def __init__(self, world: World, **kwargs: object) -> None:
        super().__init__("fake_scene", **kwargs)
        self.world = world
        self._publisher = self.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self.create_timer(0.1, self.publish)

    def publish(self) -> None:
        message = SceneObjectArray()
        message.header.frame_id = "world"
        message.header.stamp = self.get_clock().now().to_msg()
        for name, place in self.world.blocks.items():
            entry = SceneObject(name=name, class_id=name)
            held = name == self.world.held
            entry.state = SceneObject.ATTACHED if held else SceneObject.TRACKED
            position = entry.pose.position
            position.x, position.y, position.z = place.x, place.y, place.z
            entry.pose.orientation.w = 1.0
            entry.shape = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[H, H, H])
            message.objects.append(entry)
        self._publisher.publish(message)


class FakeSkills(Node):
    """Serves the skills; each takes ``duration`` seconds."""

    def __init__(self, world: World, duration: float = 0.15, **kwargs: object) -> None:
        super().__init__("fake_skills", **kwargs)
        self.world = world
        self.duration = duration
        self.goals: list[str] = []
        self.cancelled: list[str] = []
        self._servers = [
            WorkerActionServer(self, Pick, "/pick", self._pick),
            WorkerActionServer(self, Place, "/place", self._place),
            WorkerActionServer(self, MoveArm, "/move_arm", self._move_arm),
            WorkerActionServer(self, MoveGripper, "/gripper", self._gripper),
        ]

    def _work(self, context: GoalContext, name: str, phase: object) -> None:
        self.goals.append(name)
        end = context.now() + self.duration
        try:
            while context.now() < end:
                context.publish_feedback(phase)
                context.sleep(min(0.1, self.duration))
        except Exception:
            self.cancelled.append(name)
            raise

    def _pick(self, context: GoalContext) -> Pick.Result:
        name = context.goal.object_name
        self._work(context, f"pick {name}", Pick.Feedback(phase="reach", progress=0.1))
        if name not in self.world.blocks:
            return Pick.Result(code=Pick.Result.UNKNOWN_OBJECT, message=f"no object '{name}'")
        self.world.blocks[name].z = 0.3
        self.world.blocks[name].x = 0.4
        self.world.blocks[name].y = 0.0
        self.world.grasped = self.world.held = name
        return Pick.Result()

    def _place(self, context: GoalContext) -> Place.Result:
        name = context.goal.object_name
        self._work(context, f"place {name}", Place.Feedback(phase="reach", progress=0.1))
        position = context.goal.target.pose.position
        block = self.world.blocks[name]
        block.x, block.y, block.z = position.x, position.y, position.z
        self.world.release()
        return Place.Result()

    def _move_arm(self, context: GoalContext) -> MoveArm.Result:
        goal = context.goal
        assert (goal.mode, goal.named_target) == (MoveArm.Goal.NAMED, "home")
        self._work(context, "home", MoveArm.Feedback(phase="move"))
        return MoveArm.Result()

    def _gripper(self, context: GoalContext) -> MoveGripper.Result:
        assert context.goal.mode == MoveGripper.Goal.CLOSE
        self._work(context, "close", MoveGripper.Feedback(phase="move"))
        return MoveGripper.Result()


if __name__ == "__main__":
    WORLD = World()
    sys.exit(run([lambda: FakeSkills(WORLD, duration=float(sys.argv[1]))], []))
