// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { placed, type Direction, type LayoutInput } from "./layout";

/** A tree of `count` cards whose parents come from a generator with a fixed seed. */
function randomTree(count: number, direction: Direction): LayoutInput {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const parents = Int32Array.from({ length: count }, (_, index) =>
    index === 0 ? -1 : Math.max(0, index - 1 - Math.floor(random() * random() * Math.min(index, 30))));
  return {
    parents, heights: Float32Array.from({ length: count }, () => 28 + Math.floor(random() * 60)),
    groups: new Int32Array(count).fill(-1), nesting: new Int32Array(count), width: 208, direction,
  };
}

test.each(["right", "down"] as const)("no two cards overlap, going %s", (direction) => {
  const input = randomTree(400, direction);
  const { x, y } = placed(input);
  let overlaps = 0;
  for (let a = 0; a < 400; a++)
    for (let b = a + 1; b < 400; b++)
      if (Math.abs(x[a]! - x[b]!) < 208 && y[a]! < y[b]! + input.heights[b]! && y[b]! < y[a]! + input.heights[a]!)
        overlaps += 1;
  expect(overlaps).toBe(0);
});

test("children stand behind their parents, siblings aligned and in order", () => {
  const input = { ...randomTree(5, "right"), parents: Int32Array.from([-1, 0, 0, 2, 0]) };
  const right = placed(input);
  expect(new Set([right.x[1], right.x[2], right.x[4]]).size).toBe(1);
  expect(right.x[1]!).toBeGreaterThan(208);
  expect(right.y[1]!).toBeLessThan(right.y[2]!);
  expect(right.y[2]!).toBeLessThan(right.y[4]!);
  const down = placed({ ...input, direction: "down" });
  expect(new Set([down.y[1], down.y[2], down.y[4]]).size).toBe(1);
  expect(down.x[1]!).toBeLessThan(down.x[2]!);
});

test("a chain that is deeper than the algorithm can go is listed", () => {
  const count = 60_000;
  const parents = Int32Array.from({ length: count }, (_, index) => index - 1);
  const { x, y } = placed({
    ...randomTree(1, "right"), parents, heights: new Float32Array(count).fill(30),
    groups: new Int32Array(count).fill(-1), nesting: new Int32Array(count),
  });
  expect(new Set([...x].map((each, index) => `${each} ${y[index]!}`)).size).toBe(count);
});

test("no cards, no places", () => {
  expect(placed({ ...randomTree(1, "right"), parents: new Int32Array() }).x).toHaveLength(0);
});
