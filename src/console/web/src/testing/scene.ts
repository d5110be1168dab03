// SPDX-License-Identifier: Apache-2.0
import type { Cloud, Marker, SceneObject, Transform, Xyz } from "../store/types";

/** A box [m] that stands upright in `world`. */
function box(position: Xyz, size: Xyz, color: number[]): SceneObject {
  return {
    frame: "world", class: "box", state: "tracked", pose: [...position, 0, 0, 0, 1],
    velocity: [0, 0, 0], deviation: [0.002, 0.002, 0.002, 0, 0, 0.02], shape: "box", size, color,
    confidence: 0.97, seen: null, link: "", kind: "detected", sources: ["camera"], text: "", t: 0,
  };
}

const SIDE = 0.05;

export function block(position: Xyz, color: number[], t: number): SceneObject {
  return { ...box(position, [SIDE, SIDE, SIDE], color), class: "block", seen: t, t };
}

export const TABLE: SceneObject = {
  ...box([0.5, 0, -0.01], [0.8, 1.2, 0.02], [0.6, 0.6, 0.6, 1]), class: "table", state: "frozen",
  deviation: [0, 0, 0, 0, 0, 0], sources: [],
};

/** Joint angles of a Panda [rad] that swings while it works. */
export function joints(t: number): Record<string, number> {
  const home = [0, -0.785, 0, -2.356, 0, 1.571, 0.785];
  const swing = [0.5, 0.25, 0.1, 0.3, 0.1, 0.2, 0.4];
  const entries = home.map((angle, index) => [
    `panda_joint${index + 1}`, angle + (swing[index] ?? 0) * Math.sin(0.6 * t + index),
  ]);
  return { ...Object.fromEntries(entries), panda_finger_joint1: 0.02, panda_finger_joint2: 0.02 };
}

export const TRANSFORMS: Record<string, Transform> = {
  world: ["", [0, 0, 0], [0, 0, 0, 1]],
  panda_link0: ["world", [0, 0, 0], [0, 0, 0, 1]],
  camera: ["world", [1.2, 0, 0.9], [-0.65, -0.65, 0.27, 0.27]],
};

/** The tool's way over the table that is planned now, as the skills publish it. */
export const PLANNED: Record<string, Marker> = {
  "motion/planned_path:planned_path:0": {
    frame: "panda_link0", type: 4, pose: [0, 0, 0, 0, 0, 0, 1], scale: [0.004, 0, 0],
    color: [0.1, 0.8, 0.9, 0.9], points: arc(0.4, -0.3, 0.3), text: "",
  },
};

/** An arc over the table from side to side [m]. */
function arc(x: number, from: number, to: number): Xyz[] {
  return Array.from({ length: 25 }, (_, index) => {
    const share = index / 24;
    return [x, from + (to - from) * share, 0.08 + 0.3 * Math.sin(Math.PI * share)];
  });
}

const CLOUD = Float32Array.from({ length: 3 * 3000 }, (_, index) => {
  const [axis, point] = [index % 3, Math.floor(index / 3)];
  const [row, column] = [Math.floor(point / 60), point % 60];
  if (axis === 0) return 0.1 + 0.016 * row;
  return axis === 1 ? -0.6 + 0.02 * column : 0.006 + 0.004 * Math.sin(row * 12.9898 + column * 78.233);
});

/** The table as a camera sees it. */
export const CLOUDS: Record<string, Cloud> = {
  "/panda/camera/points": {
    frame: "world", t: 0, count: 300_000, points: new Uint8Array(CLOUD.buffer), colors: new Uint8Array(), text: "",
  },
};
