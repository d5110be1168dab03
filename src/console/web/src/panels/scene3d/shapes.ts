// SPDX-License-Identifier: Apache-2.0
import {
  BoxGeometry, ConeGeometry, CylinderGeometry, OctahedronGeometry, SphereGeometry,
  type BufferGeometry,
} from "three";
import type { SceneObject } from "../../store";

const AROUND = 24;
/** [m] of what has no shape. */
const POINT = 0.012;

/** The surface of a shape centred on its pose; what stands on a circle stands along z. */
export function geometryOf({ shape, size }: Pick<SceneObject, "shape" | "size">): BufferGeometry {
  const [a = 0, b = 0, c = 0] = size;
  if (shape === "box") return new BoxGeometry(a, b, c);
  if (shape === "sphere") return new SphereGeometry(a, AROUND, AROUND / 2);
  if (shape === "cylinder") return new CylinderGeometry(b, b, a, AROUND).rotateX(Math.PI / 2);
  if (shape === "cone") return new ConeGeometry(b, a, AROUND).rotateX(Math.PI / 2);
  return new OctahedronGeometry(POINT);
}
