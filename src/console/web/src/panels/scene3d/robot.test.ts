// SPDX-License-Identifier: Apache-2.0
import { BoxGeometry, Color, Group, Mesh, MeshStandardMaterial, Vector3, type MeshLambertMaterial } from "three";
import { describe, expect, it } from "vitest";
import type { Transform } from "../../store";
import { FrameTree } from "./frames";
import { RobotLayer, serverRobot, type RobotSource } from "./robot";

const URDF = `<robot name="r">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"/>
  <link name="arm"><visual><material name="blue"/><geometry><mesh filename="/api/mesh/arm.glb"/></geometry></visual></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="2" effort="1" velocity="1"/></joint>
</robot>`;
const NOWHERE = new FrameTree(new Map());

function part(name: string): Group {
  const material = new MeshStandardMaterial({ name, color: 0xff0000 });
  return new Group().add(new Mesh(new BoxGeometry(1, 1, 1), material));
}

function source(urdf: string | null, mesh: RobotSource["mesh"]): RobotSource {
  return { urdf: () => Promise.resolve(urdf), mesh };
}

async function loaded(from: RobotSource): Promise<{ robot: RobotLayer; changes: number }> {
  const robot = new RobotLayer();
  let changes = 0;
  await robot.load(from, () => (changes += 1));
  return { robot, changes };
}

function arm(robot: RobotLayer, index = 0): Mesh {
  let found: Mesh | undefined;
  robot.group.children[index]!.traverse((each) => {
    if (each instanceof Mesh) found = each;
  });
  return found!;
}

describe("RobotLayer", () => {
  it("moves links by joints, from where its base is", async () => {
    const { robot } = await loaded(source(URDF, () => Promise.resolve(part(""))));
    const base: Transform = ["map", [3, 0, 0], [0, 0, 0, 1]];
    robot.update({ lift: 0.5, unknown: 7 }, new FrameTree(new Map([["base", base]])));
    robot.group.updateMatrixWorld(true);
    const at = arm(robot).getWorldPosition(new Vector3());
    expect([at.x, at.y, at.z]).toEqual([3, 0, 0.5]);
  });

  it("takes the URDF's colour only where the mesh has none", async () => {
    const own = await loaded(source(URDF, () => Promise.resolve(part(""))));
    expect((arm(own.robot).material as MeshLambertMaterial).color.getHex()).toBe(0xff0000);
    const none = await loaded(source(URDF, () => Promise.resolve(part("uncolored"))));
    expect((arm(none.robot).material as MeshLambertMaterial).color.getHex()).toBe(0x0000ff);
  });

  it("shows a ghost where a preview's joints are, and takes it away", async () => {
    const { robot } = await loaded(source(URDF, () => Promise.resolve(part(""))));
    robot.update({ lift: 0 }, NOWHERE);
    robot.foresee({ lift: 1 }, new Color());
    expect(robot.foresees).toBe(true);
    robot.group.updateMatrixWorld(true);
    expect(arm(robot, 1).getWorldPosition(new Vector3()).z).toBe(1);
    expect(arm(robot).getWorldPosition(new Vector3()).z).toBe(0);
    robot.foresee(undefined, new Color());
    expect(robot.foresees).toBe(false);
  });

  it("says what is missing and draws the rest", async () => {
    const { robot } = await loaded(source(URDF, () => Promise.reject(new Error("no such mesh"))));
    expect(robot.state).toBe("ready");
    expect(robot.problem).toBe("a part of the robot is not drawn: no such mesh");
  });

  it("knows a stack without an arm, and one whose robot cannot be read", async () => {
    expect((await loaded(source(null, () => Promise.reject(new Error())))).robot.state).toBe("none");
    const bad = await loaded(source("<robot", () => Promise.reject(new Error())));
    expect(bad.robot.state).toBe("failed");
    expect(bad.robot.problem).toMatch(/^the robot is not drawn: /);
  });

  it("loads no mesh from elsewhere", async () => {
    await expect(serverRobot.mesh("https://elsewhere.example/x.glb")).rejects.toThrow("no mesh of this server");
    await expect(serverRobot.mesh("//elsewhere.example/x.glb")).rejects.toThrow("no mesh of this server");
  });
});
