// SPDX-License-Identifier: Apache-2.0
import { Box3, LineDashedMaterial, Raycaster, Vector3, type LineSegments, type Mesh } from "three";
import { describe, expect, it } from "vitest";
import type { SceneObject } from "../../store";
import { block } from "../../testing/scene";
import { FrameTree } from "./frames";
import { lookOf } from "./looks";
import { ObjectLayer } from "./objects";
import { paletteOf } from "./palette";

const PALETTE = paletteOf(document.documentElement);
const WORLD = new FrameTree(new Map());
const SHOWN = { selected: undefined, uncertainty: false, labels: true };
const RED = block([0.5, 0, 0.025], [1, 0, 0, 1], 10);
const DOWN = new Raycaster(new Vector3(0.5, 0, 2), new Vector3(0, 0, -1));

function layer(objects: Record<string, SceneObject>, options = {}): ObjectLayer {
  const made = new ObjectLayer();
  made.update(new Map(Object.entries(objects)), WORLD, PALETTE, { ...SHOWN, ...options });
  made.group.updateMatrixWorld(true);
  return made;
}

function parts(made: ObjectLayer, name: string) {
  const [surface, edges, outline, ellipsoid] = made.find(name)!.children as [
    Mesh, LineSegments, Mesh, Mesh,
  ];
  return { surface, edges, outline, ellipsoid };
}

describe("ObjectLayer", () => {
  it("draws a box with its size where it is", () => {
    const made = layer({ red: { ...RED, size: [0.1, 0.2, 0.3] } });
    const { min, max } = new Box3().setFromObject(parts(made, "red").surface);
    expect([min.x, min.y, min.z, max.x, max.y, max.z].map((value) => Number(value.toFixed(3))))
      .toEqual([0.45, -0.1, -0.125, 0.55, 0.1, 0.175]);
  });

  it("stands a cylinder along z", () => {
    const can: SceneObject = { ...RED, shape: "cylinder", size: [0.4, 0.05] };
    const size = new Box3().setFromObject(parts(layer({ can }), "can").surface).getSize(new Vector3());
    expect(size.z).toBeCloseTo(0.4);
    expect(size.x).toBeCloseTo(0.1);
  });

  it("picks the nearest object, and looks through mere rooms", () => {
    const room: SceneObject = { ...RED, kind: "approach", size: [0.3, 0.3, 0.3] };
    const under: SceneObject = { ...RED, pose: [0.5, 0, -0.1, 0, 0, 0, 1] };
    expect(layer({ red: RED, under, room }).pick(DOWN)).toBe("red");
    expect(layer({ room }).pick(DOWN)).toBe("room");
    expect(layer({ far: { ...RED, pose: [3, 0, 0, 0, 0, 0, 1] } }).pick(DOWN)).toBeNull();
  });

  it("lets one see into containers", () => {
    const room: SceneObject = { ...RED, kind: "interior", sources: ["tray"] };
    const made = layer({ tray: RED, ball: RED, room });
    const opacity = (name: string) => (parts(made, name).surface.material as { opacity: number }).opacity;
    expect(opacity("tray")).toBeLessThan(0.5);
    expect(opacity("ball")).toBe(1);
  });

  it("shows states by edges: stale dashed and half clear, selected outlined", () => {
    const stale = layer({ red: { ...RED, state: "stale", seen: 4 } }, { selected: "red" });
    const { surface, edges, outline, ellipsoid } = parts(stale, "red");
    expect(edges.material).toBeInstanceOf(LineDashedMaterial);
    expect((surface.material as { opacity: number }).opacity).toBeLessThan(0.5);
    expect(outline.visible).toBe(true);
    expect(ellipsoid.visible).toBe(true);
    const fresh = parts(layer({ red: RED }), "red");
    expect(fresh.edges.material).not.toBeInstanceOf(LineDashedMaterial);
    expect(fresh.outline.visible).toBe(false);
    expect(fresh.ellipsoid.visible).toBe(false);
  });

  it("draws the uncertainty along the axes of the frame, however the object is turned", () => {
    const turned: SceneObject = {
      ...RED, pose: [0, 0, 0, 0, 0, Math.SQRT1_2, Math.SQRT1_2], deviation: [0.05, 0.01, 0.01, 0, 0, 0],
    };
    const made = layer({ turned }, { uncertainty: true });
    const size = new Box3().setFromObject(parts(made, "turned").ellipsoid).getSize(new Vector3());
    expect(size.x).toBeCloseTo(0.2, 2);
    expect(size.y).toBeLessThan(0.06);
  });

  it("takes what is gone out of the scene, and its label out of the page", () => {
    const made = layer({ red: RED, blue: RED });
    made.update(new Map([["red", RED]]), WORLD, PALETTE, SHOWN);
    expect(made.group.children).toHaveLength(1);
    expect(made.find("blue")).toBeNull();
  });

  it("keeps what did not change its shape", () => {
    const made = layer({ red: RED });
    const before = made.find("red");
    made.update(new Map([["red", { ...RED, state: "frozen" }]]), WORLD, PALETTE, SHOWN);
    expect(made.find("red")).toBe(before);
    made.update(new Map([["red", { ...RED, size: [1, 1, 1] }]]), WORLD, PALETTE, SHOWN);
    expect(made.find("red")).not.toBe(before);
  });

  it("writes a hostile name as text", () => {
    const made = layer({ "<img src=x onerror=alert(1)>": RED });
    const { name } = made.group.children[0]!.children[0]!;
    expect(name).toBe("<img src=x onerror=alert(1)>");
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("lookOf", () => {
  it("says since when an object is not seen", () => {
    expect(lookOf({ ...RED, state: "lost", seen: 4 }).word).toBe("lost for 6 s");
    expect(lookOf({ ...RED, state: "stale", seen: null }).word).toBe("not seen");
    expect(lookOf(RED).word).toBe("");
  });
});
