// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { Commands } from "./commands";

function pressed(tag: string, key: string): string[] {
  const commands = new Commands();
  const done: string[] = [];
  commands.add({ id: "pause", title: "", key: "Space", role: "operate", run: () => done.push("pause") });
  commands.add({ id: "stop", title: "", key: "Shift+Escape", role: "operate", run: () => done.push("stop") });
  const target = tag === "body" ? document.body : document.body.appendChild(document.createElement(tag));
  const event = new KeyboardEvent("keydown", { key, shiftKey: key === "Escape", bubbles: true });
  target.addEventListener("keydown", (each) => commands.handle(each as KeyboardEvent, () => true), { once: true });
  target.dispatchEvent(event);
  return done;
}

it("leaves Space to the button that has the focus", () => {
  expect(pressed("body", " ")).toEqual(["pause"]);
  expect(pressed("button", " ")).toEqual([]);
  expect(pressed("summary", " ")).toEqual([]);
});

it("stops from wherever the focus is", () => {
  for (const tag of ["body", "input", "button"]) expect(pressed(tag, "Escape")).toEqual(["stop"]);
});
