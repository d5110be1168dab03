// SPDX-License-Identifier: Apache-2.0
import { Color, type Points } from "three";
import { expect, it } from "vitest";
import type { Cloud } from "../../store";
import { CloudLayer, positionsOf, saidOf } from "./clouds";
import { FrameTree } from "./frames";

const FRAMES = new FrameTree(new Map([["camera", ["world", [0, 0, 1], [0, 0, 0, 1]]]]));

/** As it comes out of a message: bytes at an odd place of a larger buffer. */
function cloud(values: number[], more: Partial<Cloud> = {}): Cloud {
  const bytes = new Uint8Array(new Float32Array(values).buffer);
  const message = new Uint8Array(bytes.length + 1);
  message.set(bytes, 1);
  return { frame: "camera", t: 1, count: values.length / 3, points: message.subarray(1), colors: new Uint8Array(), text: "", ...more };
}

it("reads points wherever they lie in a message, and passes over half ones", () => {
  expect([...positionsOf(cloud([1, 2, 3, 4, 5, 6]))]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...positionsOf(cloud([1, 2, 3, 4]))]).toEqual([1, 2, 3]);
});

it("draws clouds in their frames, with their colours or one, and takes them away", () => {
  const layer = new CloudLayer();
  const colored = cloud([0, 0, 0, 1, 0, 0], { colors: new Uint8Array([255, 0, 0, 0, 255, 0]) });
  layer.update(new Map([["a", colored], ["b", cloud([1, 1, 1])]]), FRAMES, new Color("#123456"));
  const [first, second] = layer.group.children as Points[];
  expect(layer.count).toBe(3);
  expect(first!.position.z).toBe(1);
  expect(first!.geometry.getAttribute("color").getY(1)).toBe(1);
  expect(second!.geometry.getAttribute("color")).toBeUndefined();
  layer.update(new Map([["a", colored]]), FRAMES, new Color());
  expect(layer.group.children).toEqual([first]);
  layer.clear();
  expect(layer.count).toBe(0);
});

it("says how many of the points are shown, and why there are none", () => {
  expect(saidOf(new Map())).toContain("no clouds");
  const many = cloud([0, 0, 0], { count: 300_000 });
  expect(saidOf(new Map([["/p", many], ["/q", cloud([], { text: "header.stamp is 0" })]])))
    .toBe("/p: 1 of 300000 points; /q: header.stamp is 0");
});
