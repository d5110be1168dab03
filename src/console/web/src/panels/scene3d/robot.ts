// SPDX-License-Identifier: Apache-2.0
import {
  Color, Group, Mesh, MeshBasicMaterial, MeshLambertMaterial, type Material,
  type MeshStandardMaterial, type Object3D,
} from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import URDFLoader, { type URDFRobot } from "urdf-loader";
import { apiUrl } from "../../store";
import type { FrameTree } from "./frames";

/** The server's name for the material of a mesh that has no colour of its own. */
const UNCOLORED = "uncolored";

/** What became of the robot's model. */
export type RobotState = "loading" | "ready" | "none" | "failed";

/** How the page gets at the robot; handed in so that tests need no server. */
export interface RobotSource {
  /** The URDF; null: this stack has no arm. */
  urdf(): Promise<string | null>;
  mesh(address: string): Promise<Object3D>;
}

export const serverRobot: RobotSource = {
  urdf: async () => {
    const record = new URLSearchParams(location.search).get("record");
    const query = record === null ? "" : `?record=${encodeURIComponent(record)}`;
    const answer = await fetch(apiUrl(`/api/robot${query}`));
    // There is no arm, or no such recording, which the page says already.
    if (answer.status === 204 || answer.status === 404) return null;
    if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
    return answer.text();
  },
  mesh: async (address) => {
    // Only this server's own meshes: an address in a URDF leads nowhere else.
    if (!address.startsWith("/api/mesh/")) throw new Error(`'${address}' is no mesh of this server`);
    const answer = await fetch(apiUrl(address));
    if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
    const model = await new GLTFLoader().parseAsync(await answer.arrayBuffer(), "");
    return model.scene;
  },
};

/** The robot, moved by its joints, and the ghost of what a preview foresees. */
export class RobotLayer {
  readonly group = new Group();
  state: RobotState = "loading";
  /** Why the robot, or a part of it, is not drawn; empty: it is. */
  problem = "";
  private robot: URDFRobot | null = null;
  private ghost: URDFRobot | null = null;
  private readonly ghostMaterial = new MeshBasicMaterial({
    transparent: true, opacity: 0.28, depthWrite: false,
  });

  /** Loads the model with all its parts, which appear as they come; `changed` is called for each. */
  async load(source: RobotSource, changed: () => void): Promise<void> {
    try {
      const text = await source.urdf();
      if (text === null) this.state = "none";
      else {
        const parts: Promise<void>[] = [];
        this.robot = this.parse(text, source, (part) => parts.push(part.then(changed)));
        this.group.add(this.robot);
        this.state = "ready";
        changed();
        await Promise.all(parts);
      }
    } catch (error) {
      this.state = "failed";
      this.problem = `the robot is not drawn: ${reason(error)}`;
    }
    changed();
  }

  /** Puts the robot where its base is, and its joints where they are [rad, m]. */
  update(joints: Readonly<Record<string, number>>, frames: FrameTree): void {
    if (this.robot === null) return;
    // The robot stands for the link that hangs on no joint.
    const { position, quaternion, scale } = this.robot;
    frames.matrix(this.robot.urdfName).decompose(position, quaternion, scale);
    this.robot.setJointValues({ ...joints });
  }

  /** Shows where the joints will be; undefined: nothing is foreseen. */
  foresee(joints: Readonly<Record<string, number>> | undefined, color: Color): void {
    const wanted = joints !== undefined && Object.keys(joints).length > 0;
    if (this.ghost !== null) this.ghost.visible = wanted;
    if (!wanted || this.robot === null) return;
    this.ghost ??= this.makeGhost(this.robot);
    this.ghost.visible = true;
    this.ghostMaterial.color = color;
    this.ghost.position.copy(this.robot.position);
    this.ghost.quaternion.copy(this.robot.quaternion);
    this.ghost.setJointValues({ ...joints });
  }

  /** Whether a ghost is shown. */
  get foresees(): boolean {
    return this.ghost?.visible ?? false;
  }

  dispose(): void {
    this.group.traverse((part) => {
      if (!(part instanceof Mesh)) return;
      (part.geometry as { dispose(): void }).dispose();
      for (const material of [part.material].flat() as Material[]) material.dispose();
    });
    this.group.clear();
    this.ghostMaterial.dispose();
  }

  private parse(
    text: string, source: RobotSource, coming: (part: Promise<void>) => void,
  ): URDFRobot {
    const loader = new URDFLoader();
    loader.loadMeshCb = (address, _manager, material, done) => {
      const part = source.mesh(address).then(
        (mesh) => done(painted(mesh, material)),
        (error: unknown) => {
          this.problem = `a part of the robot is not drawn: ${reason(error)}`;
        },
      );
      coming(part);
    };
    return loader.parse(text);
  }

  private makeGhost(robot: URDFRobot): URDFRobot {
    const ghost = robot.clone();
    ghost.traverse((part) => {
      if (part instanceof Mesh) part.material = this.ghostMaterial;
    });
    this.group.add(ghost);
    return ghost;
  }
}

/** A mesh with materials that are cheap to draw, and with the URDF's colour where it has none. */
function painted(model: Object3D, fallback: Material): Object3D {
  const color = (fallback as Partial<MeshLambertMaterial>).color ?? new Color(0xc8ccd0);
  model.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    const material = part.material as MeshStandardMaterial;
    const own = material.name !== UNCOLORED;
    part.material = new MeshLambertMaterial({ color: own ? material.color : color });
    material.dispose();
  });
  return model;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
