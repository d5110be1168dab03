// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { readable, type Placed } from "./declutter";

function at(x: number, rank = 0, y = 0): Placed {
  return { x, y, width: 50, height: 16, rank };
}

it("keeps labels that stand beside each other", () => {
  expect(readable([at(0), at(50), at(0, 0, 16)])).toEqual([true, true, true]);
});

it("keeps what is selected, and of others the first", () => {
  expect(readable([at(0), at(20, 2), at(200), at(210)])).toEqual([false, true, true, false]);
});

it("lets nobody be hidden by what is hidden", () => {
  // The middle one overlaps both; without it they stand apart.
  expect(readable([at(0), at(40), at(80)])).toEqual([true, false, true]);
});
