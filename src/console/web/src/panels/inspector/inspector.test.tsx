// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Inspector from ".";
import { SUCCESS } from "../../store";
import { fakeConsole, renderWith } from "../../testing";
import { goalsOf } from "./ServerPart";

afterEach(cleanup);

it("shows the mission that runs while nothing is selected: parameters, who asked, steps, moments", async () => {
  const { console, server } = await fakeConsole({ t: 32 });
  server.put({ orders: { m1: { who: "anna #3", parameters: { order: "red_block" } } } });
  renderWith(console, <Inspector />);
  expect(await screen.findByRole("heading", { name: "stack_blocks" })).toBeTruthy();
  expect(screen.getByText("asked for by anna #3")).toBeTruthy();
  expect(screen.getByText("red_block")).toBeTruthy();
  expect(screen.getByText("0.05 m").parentElement?.textContent).toContain("default");
  await userEvent.click(screen.getByRole("button", { name: "2.0 s" }));
  expect(console.at.get()).toBe(2);
  await userEvent.click(screen.getByRole("button", { name: /stack blue/ }));
  expect(console.selection.get().node).toBeTypeOf("number");
});

it("knows a mission that waits, and says of one it never saw what to do", async () => {
  const { console, server } = await fakeConsole({ t: 32, url: "mission=w1" });
  server.put({ queue: [{ action_id: "w1", name: "tour", state: "waiting", elapsed: 0 }] });
  renderWith(console, <Inspector />);
  expect(await screen.findByRole("heading", { name: "tour" })).toBeTruthy();
  expect(screen.getByText("asked for by another client than this console")).toBeTruthy();
  cleanup();
  const other = await fakeConsole({ url: "mission=nothing" });
  renderWith(other.console, <Inspector />);
  expect(await screen.findByText(/'nothing' has not run/)).toBeTruthy();
});

it("shows a server: how it is, since when, its figures, what leaves asked of it", async () => {
  const { console } = await fakeConsole({ t: 32, url: "server=camera" });
  renderWith(console, <Inspector />);
  expect(await screen.findByText("warns since 2.0 s")).toBeTruthy();
  expect(screen.getByText("11.8 Hz")).toBeTruthy();
  cleanup();
  const pick = await fakeConsole({ t: 32, url: "server=pick" });
  renderWith(pick.console, <Inspector />);
  expect(await screen.findByText(/^3 ended, a median of/)).toBeTruthy();
});

it("takes leaves for a server's by its name and by their package", () => {
  const nodes = [[1, null, "Sequence", "", "Control", "s"], [2, 1, "Pick", "", "Action", "s/Pick"], [3, 1, "Drive", "go", "Action", "s/go"]];
  const tree = { nodes } as never;
  const spans = [[2, 0, 1, SUCCESS], [3, 1, 2, SUCCESS]] as never;
  const model = (id: string, from: string) => [id, { id, kind: "action", package: from, description: "", ports: [], children: [0, 0] }] as const;
  const models = new Map([model("Pick", "behavior_skills"), model("Drive", "behavior_navigation")]) as never;
  expect(goalsOf("/panda/skills: skills", tree, spans, models).map((each) => each.leaf)).toEqual(["Pick"]);
  expect(goalsOf("navigation", tree, spans, models).map((each) => each.leaf)).toEqual(["go"]);
  expect(goalsOf("executor", tree, spans, models)).toEqual([]);
});
