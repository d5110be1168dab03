// SPDX-License-Identifier: Apache-2.0
import { Matrix4, Quaternion, Vector3 } from "three";
import type { Pose, Transform } from "../../store";

const ONE = new Vector3(1, 1, 1);
/** Frames between one and its root; more of them is a circle. */
const DEEPEST = 200;

/** A pose as a matrix. */
export function matrixOf(pose: Pose): Matrix4 {
  const [x, y, z, qx, qy, qz, qw] = pose;
  return new Matrix4().compose(new Vector3(x, y, z), new Quaternion(qx, qy, qz, qw).normalize(), ONE);
}

/** A matrix as a pose. */
export function poseOf(matrix: Matrix4): Pose {
  const [position, turn] = [new Vector3(), new Quaternion()];
  matrix.decompose(position, turn, new Vector3());
  return [position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w];
}

/** Where frames are, by the channel `transforms`. Roots that nothing connects lie on each other. */
export class FrameTree {
  constructor(private readonly transforms: ReadonlyMap<string, Transform>) {}

  /** Pose of a frame in the root above it; one that nobody knows is a root. */
  matrix(frame: string): Matrix4 {
    const matrix = new Matrix4();
    let at = frame;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      const transform = this.transforms.get(at);
      if (transform === undefined) return matrix;
      const [parent, position, turn] = transform;
      matrix.premultiply(matrixOf([...position, ...turn]));
      at = parent;
    }
    return matrix;
  }
}
