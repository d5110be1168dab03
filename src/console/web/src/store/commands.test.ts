// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { Commands, keyOf } from "./commands";

const press = (key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, ...init });
  Object.defineProperty(event, "target", { value: target });
  return event;
};

test("keys are named the same whatever the layout needs to type them", () => {
  expect(keyOf(press("k", { ctrlKey: true }))).toBe("Ctrl+K");
  expect(keyOf(press("K", { metaKey: true }))).toBe("Ctrl+K");
  expect(keyOf(press("?", { shiftKey: true }))).toBe("?");
  expect(keyOf(press("Escape", { shiftKey: true }))).toBe("Shift+Escape");
  expect(keyOf(press(" "))).toBe("Space");
});

test("while a person types, only the stop and keys with Ctrl do something", () => {
  const done: string[] = [];
  const commands = new Commands();
  const add = (key: string) => commands.add({ id: key, title: key, key, role: "view", run: () => void done.push(key) });
  ["L", "Shift+Escape", "Ctrl+K"].forEach(add);
  const input = document.createElement("input");
  for (const event of [press("l", {}, input), press("Escape", { shiftKey: true }, input), press("k", { ctrlKey: true }, input), press("l")])
    commands.handle(event, () => true);
  expect(done).toEqual(["Shift+Escape", "Ctrl+K", "L"]);
});

test("a key does nothing for who may not", () => {
  const commands = new Commands();
  commands.add({ id: "p", title: "p", key: "Space", role: "operate", run: () => { throw new Error(); } });
  expect(commands.handle(press(" "), (role) => role === "view")).toBe(false);
});
