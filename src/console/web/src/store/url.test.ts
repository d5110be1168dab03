// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { readUrl, writeUrl } from "./url";

test("what a link holds comes back from it, hostile names and moment 0 too", () => {
  const state = {
    selection: { node: 7, object: "<script>&?=\u202e" }, at: 0, layout: "diagnose" as const,
  };
  const query = writeUrl("?record=a&node=3&mission=old", state);
  expect(readUrl(query)).toEqual(state);
  expect(new URLSearchParams(query).get("record")).toBe("a");
});

test("what is not understood is left out", () => {
  expect(readUrl("?node=x&at=&layout=../evil")).toEqual({ selection: {}, at: null, layout: "operate" });
});
