// SPDX-License-Identifier: Apache-2.0
// @vitest-environment node
import { describe, expect, it } from "vitest";
import { FAILURE, IDLE, RUNNING, SUCCESS, type Span } from "../../store";
import { barsOf } from "./bars";
import { SpanStore } from "./spans";

function storeOf(...items: Span[]): SpanStore {
  const store = new SpanStore();
  store.add(items);
  return store;
}

describe("SpanStore", () => {
  it("takes the end of a span for its own, and knows why it failed", () => {
    const lane = storeOf([3, 1, null, RUNNING], [3, 1, 2, FAILURE, 3, "too far"]).lanes.get(3)!;
    expect(lane.length).toBe(1);
    expect([lane.begins[0], lane.ends[0], lane.status(0), lane.reasons.get(0)]).toEqual([1, 2, FAILURE, "too far"]);
  });

  it("ends a span whose end was lost where the next one begins, as halted", () => {
    const lane = storeOf([3, 1, null, RUNNING], [3, 5, null, RUNNING]).lanes.get(3)!;
    expect([lane.length, lane.ends[0], lane.status(0), lane.ends[1]]).toEqual([2, 5, IDLE, Infinity]);
  });

  it("forgets what would come later when the clock is set back", () => {
    const store = storeOf([3, 10, 11, SUCCESS], [3, 20, 21, SUCCESS, 3, "x"], [3, 5, null, RUNNING]);
    const lane = store.lanes.get(3)!;
    expect([lane.length, lane.begins[0], lane.reasons.size, store.count]).toEqual([1, 5, 0, 1]);
  });

  it("keeps nodes of one uid in different trees apart", () => {
    const store = storeOf([3, 1, 2, SUCCESS, 7], [3, 3, 4, SUCCESS, 8]);
    expect([...store.lanes.keys()]).toEqual([7, 8]);
  });

  it("finds the changes before and after a moment, those of open spans too", () => {
    const store = storeOf([1, 1, 4, SUCCESS], [2, 2, null, RUNNING]);
    expect([store.previousChange(1), store.previousChange(3), store.previousChange(9)]).toEqual([null, 2, 4]);
    expect([store.nextChange(0), store.nextChange(2), store.nextChange(4)]).toEqual([1, 4, null]);
  });

  it("forgets the older ones of very many", () => {
    const store = new SpanStore();
    for (let n = 0; n < 260_000; n += 1) store.add([[n % 5, n, n + 1, SUCCESS, n % 5, n % 7 === 0 ? "why" : ""]]);
    expect(store.count).toBeLessThan(250_001);
    const lane = store.lanes.get(4)!;
    expect(lane.begins[lane.length - 1]).toBe(259_999);
    expect([...lane.reasons.keys()].every((index) => index < lane.length && lane.begins[index]! % 7 === 0)).toBe(true);
  });
});

describe("barsOf", () => {
  it("draws no more bars than pixels, and each failure among thousands", () => {
    const items = Array.from({ length: 20_000 }, (_, n): Span => [1, n, n + 0.9, n === 7777 ? FAILURE : SUCCESS]);
    const bars = barsOf(storeOf(...items).lanes.get(1)!, 0, 20_000, 20_000, 1000 / 20_000);
    expect(bars.length).toBeLessThan(1000);
    expect(bars.counts.reduce((a, b) => a + b, 0)).toBe(20_000);
    expect(bars.failures.map(Math.round)).toEqual([389]);
  });

  it("keeps long spans apart, and short ones that do not touch", () => {
    const lane = storeOf([1, 0, 10, SUCCESS], [1, 10, 20, FAILURE], [1, 50, 50, SUCCESS]).lanes.get(1)!;
    const bars = barsOf(lane, 0, 100, 100, 10);
    expect(bars.counts).toEqual([1, 1, 1]);
    expect(bars.failures).toEqual([]);
  });

  it("ends what still runs at now, and cuts what is out of view", () => {
    const lane = storeOf([1, 0, null, RUNNING]).lanes.get(1)!;
    expect(barsOf(lane, 10, 20, 15, 10)).toMatchObject({ lefts: [-4], rights: [50] });
    expect(barsOf(storeOf([1, 0, 5, SUCCESS]).lanes.get(1)!, 10, 20, 15, 10).length).toBe(0);
  });
});
