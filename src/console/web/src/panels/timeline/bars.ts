// SPDX-License-Identifier: Apache-2.0
import { FAILURE } from "../../store";
import type { Lane } from "./spans";

/** [px] Of spans that are shorter, those that are nearer than `GAP` are one bar. */
const FINE = 4;
const GAP = 2;

/** What is seen of a lane: bars in columns, at [px] from the window's left edge. */
export interface Bars {
  length: number;
  lefts: number[];
  rights: number[];
  statuses: number[];
  /** How many spans a bar stands for. */
  counts: number[];
  /** Its last span. */
  spans: number[];
  /** Where something failed within a bar of several; each is seen, however far away. */
  failures: number[];
}

/**
 * The bars of a stretch of time. Their number is bounded by the pixels, not by the spans.
 *
 * @param now - [s] where spans end that go on
 * @param scale - [px/s]
 */
export function barsOf(lane: Lane, from: number, to: number, now: number, scale: number): Bars {
  const bars: Bars = { length: 0, lefts: [], rights: [], statuses: [], counts: [], spans: [], failures: [] };
  const { begins, ends, statuses } = lane;
  const rightmost = (to - from) * scale + 4;
  let last = -1;
  for (let index = lane.firstEndingAfter(from); index < lane.length && begins[index]! <= to; index += 1) {
    const begin = begins[index]!;
    const left = Math.max((begin - from) * scale, -4);
    const right = Math.min((Math.max(Math.min(ends[index]!, now), begin) - from) * scale, rightmost);
    const status = statuses[index]!;
    const near = last >= 0 && left <= bars.rights[last]! + GAP;
    const fine = right - left < FINE && (last < 0 || bars.counts[last]! > 1 || bars.rights[last]! - bars.lefts[last]! < FINE);
    if (near && fine) {
      if (bars.counts[last] === 1 && bars.statuses[last] === FAILURE) bars.failures.push(bars.lefts[last]!);
      bars.rights[last] = Math.max(right, bars.rights[last]! + 0.01, left + 1);
      bars.counts[last]! += 1;
      bars.spans[last] = index;
      bars.statuses[last] = status;
      if (status === FAILURE && left - (bars.failures.at(-1) ?? -9) >= 2) bars.failures.push(left);
      continue;
    }
    last += 1;
    bars.lefts.push(left);
    bars.rights.push(right);
    bars.statuses.push(status);
    bars.counts.push(1);
    bars.spans.push(index);
  }
  bars.length = last + 1;
  return bars;
}
