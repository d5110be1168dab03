// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { Channels, LOG_LENGTH } from "./channels";

const frame = { frame: 1, now: 0, at: null };

test("a map takes single keys, null takes them away, and snapshots stay as they were", () => {
  const channels = new Channels();
  channels.apply({ ...frame, set: { status: { 1: [1, 0, 0, 0], 2: [0, 0, 0, 0] } } });
  const before = channels.snapshot("status");
  const keys: string[][] = [];
  channels.watch("status", (change) => keys.push([...change.keys]));
  channels.apply({ ...frame, patch: { status: { 1: [2, 3, 1, 2], 2: null } } });
  expect([...channels.snapshot("status")]).toEqual([["1", [2, 3, 1, 2]]]);
  expect(before.size).toBe(2);
  expect(keys).toEqual([["1", "2"]]);
});

test("a snapshot is the same object until its channel changes", () => {
  const channels = new Channels();
  channels.apply({ ...frame, set: { status: {}, joints: { a: 1 } } });
  const status = channels.snapshot("status");
  channels.apply({ ...frame, set: { joints: { a: 2 } } });
  expect(channels.snapshot("status")).toBe(status);
});

test("a log grows at its end and forgets its beginning", () => {
  const channels = new Channels();
  const item = (t: number) => ({ t, kind: "log", text: "", uid: null, level: "info" });
  const many = Array.from({ length: LOG_LENGTH }, (_, t) => item(t));
  channels.apply({ ...frame, set: { events: many } });
  channels.apply({ ...frame, add: { events: [item(-1)] } });
  const events = channels.snapshot("events");
  expect(events).toHaveLength(LOG_LENGTH);
  expect(events[0]?.t).toBe(1);
  expect(events.at(-1)?.t).toBe(-1);
});

test("names that a message makes up are keys and nothing else", () => {
  const channels = new Channels();
  const hostile = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}') as Record<string, unknown>;
  channels.apply({ ...frame, set: { objects: hostile } });
  expect([...channels.current("objects").keys()]).toEqual(["__proto__", "constructor"]);
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
});
