// SPDX-License-Identifier: Apache-2.0
// Where cards stand. Pure; `layout.worker.ts` runs it beside the page.
import { flextree } from "d3-flextree";

export type Direction = "right" | "down";

/** The cards to place, parents before children; of the arrays one entry per card. */
export interface LayoutInput {
  /** Index of the parent, -1 for the root. */
  parents: Int32Array;
  heights: Float32Array;
  /** Innermost group that a card is in, -1 for none. */
  groups: Int32Array;
  /** How many groups are nested in a card's own; 0 if it is none. */
  nesting: Int32Array;
  width: number;
  direction: Direction;
}

/** Upper left corners [px at scale 1]. */
export interface Placing {
  x: Float32Array;
  y: Float32Array;
}

const BETWEEN_LEVELS = 44;
const BETWEEN_SIBLINGS = 10;
const BETWEEN_BRANCHES = 22;
/** Room around a group for its frame, per group nested in it. */
export const GROUP_MARGIN = 7;
const INDENT = 28;

interface Box {
  index: number;
  children: Box[];
}

/** Places a tree so that parents stand beside the middle of their children, without overlap. */
export function placed(input: LayoutInput): Placing {
  try {
    return placedWith(input);
  } catch (error) {
    // The algorithm calls itself once per level: a chain of thousands is listed instead.
    if (error instanceof RangeError) return listed(input);
    throw error;
  }
}

function placedWith(input: LayoutInput): Placing {
  const count = input.parents.length;
  const placing = { x: new Float32Array(count), y: new Float32Array(count) };
  if (count === 0) return placing;
  const right = input.direction === "right";
  const tallest = levelHeights(input);
  const layout = flextree<Box>({
    nodeSize: ({ data, depth }) => {
      const height = input.heights[data.index]!;
      return right
        ? [height, input.width + BETWEEN_LEVELS]
        : [input.width, tallest[depth]! + BETWEEN_LEVELS];
    },
    spacing: (a, b) => gap(input, a.data.index, b.data.index),
  });
  const root = layout.hierarchy(boxes(input), ({ children }) => children);
  layout(root);
  root.each(({ data: { index }, x, y }) => {
    placing.x[index] = right ? y : x - input.width / 2;
    placing.y[index] = right ? x - input.heights[index]! / 2 : y;
  });
  return placing;
}

/** Height of the tallest card of each level, so that levels stand in rows. */
function levelHeights({ parents, heights }: LayoutInput): number[] {
  const depths = new Int32Array(parents.length);
  const tallest: number[] = [];
  for (let index = 0; index < parents.length; index++) {
    const parent = parents[index]!;
    const depth = (depths[index] = parent < 0 ? 0 : depths[parent]! + 1);
    tallest[depth] = Math.max(tallest[depth] ?? 0, heights[index]!);
  }
  return tallest;
}

function gap({ parents, groups, nesting }: LayoutInput, a: number, b: number): number {
  const base = parents[a] === parents[b] ? BETWEEN_SIBLINGS : BETWEEN_BRANCHES;
  const frames = Math.max(nesting[a]!, groups[a] === groups[b] ? 0 : 1)
    + Math.max(nesting[b]!, groups[a] === groups[b] ? 0 : 1);
  return base + 2 * GROUP_MARGIN * Math.min(frames, 4);
}

function boxes({ parents }: LayoutInput): Box {
  const all = [...parents.keys()].map((index): Box => ({ index, children: [] }));
  for (const box of all) all[parents[box.index]!]?.children.push(box);
  return all[0]!;
}

function listed({ parents, heights }: LayoutInput): Placing {
  const placing = { x: new Float32Array(parents.length), y: new Float32Array(parents.length) };
  const after = new Map<number, number[]>();
  for (const [index, parent] of parents.entries())
    after.set(parent, [...(after.get(parent) ?? []), index]);
  const waiting = [...(after.get(-1) ?? [])];
  let y = 0;
  while (waiting.length > 0) {
    const index = waiting.pop()!;
    const parent = parents[index]!;
    placing.x[index] = parent < 0 ? 0 : placing.x[parent]! + INDENT;
    placing.y[index] = y;
    y += heights[index]! + BETWEEN_SIBLINGS;
    waiting.push(...(after.get(index) ?? []).reverse());
  }
  return placing;
}
