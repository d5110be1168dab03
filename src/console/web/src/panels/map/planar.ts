// SPDX-License-Identifier: Apache-2.0
import type { Pose, Transform } from "../../store";

/** A pose on the ground: x, y [m], heading [rad]. */
export type Planar = readonly [number, number, number];

const DEEPEST = 200;

/** A pose seen from above. */
export function planarOf([x, y, , qx, qy, qz, qw]: Pose): Planar {
  return [x, y, Math.atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))];
}

/** A pose on the ground as one in space. */
export function spatial([x, y, yaw]: Planar): Pose {
  return [x, y, 0, 0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)];
}

/** `inner`, given in the frame that stands at `outer`, in the frame of `outer`. */
export function compose([x, y, yaw]: Planar, inner: Planar): Planar {
  const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
  return [x + c * inner[0] - s * inner[1], y + s * inner[0] + c * inner[1], yaw + inner[2]];
}

export function inverse([x, y, yaw]: Planar): Planar {
  const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
  return [-c * x - s * y, s * x - c * y, -yaw];
}

/** Where `frame` stands in `map`, seen from above; frames that nothing connects lie on each other. */
export function frameIn(
  map: string, frame: string, transforms: ReadonlyMap<string, Transform>,
): Planar {
  if (map === frame) return [0, 0, 0];
  return compose(inverse(inRoot(map, transforms)), inRoot(frame, transforms));
}

function inRoot(frame: string, transforms: ReadonlyMap<string, Transform>): Planar {
  let planar: Planar = [0, 0, 0];
  let at = frame;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const transform = transforms.get(at);
    if (transform === undefined) break;
    const [parent, position, turn] = transform;
    planar = compose(planarOf([...position, ...turn]), planar);
    at = parent;
  }
  return planar;
}
