// SPDX-License-Identifier: Apache-2.0
import { Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { Pose, Transform } from "../../store";
import { FrameTree, matrixOf, poseOf } from "./frames";

const QUARTER = [0, 0, Math.SQRT1_2, Math.SQRT1_2] as [number, number, number, number];

function tree(entries: Record<string, Transform>): FrameTree {
  return new FrameTree(new Map(Object.entries(entries)));
}

describe("FrameTree", () => {
  it("goes up through all parents", () => {
    const frames = tree({
      base: ["world", [1, 0, 0], QUARTER], camera: ["base", [2, 0, 0.5], [0, 0, 0, 1]],
    });
    const at = new Vector3(1, 0, 0).applyMatrix4(frames.matrix("camera"));
    // 3 m along the base's x, which is the world's y.
    expect(at.x).toBeCloseTo(1);
    expect(at.y).toBeCloseTo(3);
    expect(at.z).toBeCloseTo(0.5);
  });

  it("takes a frame that nobody knows for a root", () => {
    expect(tree({}).matrix("anywhere").equals(matrixOf([0, 0, 0, 0, 0, 0, 1]))).toBe(true);
  });

  it("ends where frames hang on each other in a circle", () => {
    const frames = tree({ a: ["b", [1, 0, 0], QUARTER], b: ["a", [1, 0, 0], QUARTER] });
    expect(frames.matrix("a").elements.every(Number.isFinite)).toBe(true);
  });

  it("gives a matrix back as the pose it came from", () => {
    const pose: Pose = [0.1, -0.2, 0.3, 0.1, -0.7, 0.1, 0.7];
    poseOf(matrixOf(pose)).forEach((value, index) => expect(value).toBeCloseTo(pose[index]!));
  });
});
