// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Preview from ".";
import { changed } from "./compare";
import type { Preview as Found, SceneObject } from "../../store";
import { PREVIEW } from "../../testing/preview";
import { fakeConsole, renderWith, stackBlocks } from "../../testing";
import { warehouse } from "../../testing/warehouse";

afterEach(cleanup);

async function shown(preview: Partial<Found>) {
  const all = await fakeConsole({ script: () => ({ ...stackBlocks(0), preview: { ...PREVIEW, ...preview } }) });
  renderWith(all.console, <Preview />);
  const sent = () => all.server.received.flatMap((each) => ("command" in each ? [each.command] : []));
  return { ...all, sent, user: userEvent.setup() };
}

it("shows now and after side by side, and runs what is approved", async () => {
  const { user, sent } = await shown({});
  expect(await screen.findByText(/stack_blocks would succeed after 31.5 s/)).toBeTruthy();
  const row = screen.getByRole("row", { name: /red_block/ });
  expect(row.textContent).toContain("608 mm");
  await user.click(screen.getByRole("button", { name: "Approve and run" }));
  await waitFor(() => expect(sent()[0]).toMatchObject({ name: "preview.approve", args: { changed: false } }));
});

it("says what has changed since, and asks for more than one word then", async () => {
  const begin = { ...PREVIEW.begin, red_block: { ...PREVIEW.begin["red_block"]!, position: [0.4, -0.25, 0.025] as [number, number, number] } };
  await shown({ begin });
  expect(await screen.findByText(/red_block has moved by 50 mm/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "Run it all the same" })).toBeTruthy();
});

it("runs a tree that was edited since all the same, once that was told", async () => {
  const { user, sent } = await shown({ tree_changes: ["the tree of 'stack_blocks' has been edited"] });
  expect(await screen.findByText(/Changed since: the tree of 'stack_blocks' has been edited/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Run it all the same" }));
  await waitFor(() => expect(sent()[0]).toMatchObject({ name: "preview.approve", args: { changed: true } }));
});

it("says what turned, came, was taken or lost since, as the server does; not what follows others", () => {
  const red = PREVIEW.begin["red_block"]!;
  const there = { kind: "detected", state: "tracked", pose: [...red.position, ...red.orientation_xyzw] };
  const now = (change: Partial<SceneObject>) => new Map([["red", { ...there, ...change } as SceneObject]]);
  const told = (objects: Map<string, SceneObject>) => changed({ ...PREVIEW, begin: { red } }, objects, undefined);
  const turned = [...red.position, 0, 0, Math.sin(0.25), Math.cos(0.25)] as SceneObject["pose"];
  expect(told(now({}))).toEqual([]);
  expect(told(new Map())).toEqual(["red is no more there"]);
  expect(told(now({ pose: turned }))).toEqual(["red has turned by 29 degrees"]);
  expect(told(new Map([...now({}), ["blue", now({}).get("red")!]]))).toEqual(["blue is new"]);
  expect(told(now({ state: "attached" }))).toEqual(["red is held now"]);
  expect(told(now({ state: "lost" }))).toEqual(["red is lost now"]);
  expect(told(new Map([...now({}), ["slot", now({ kind: "approach" }).get("red")!]]))).toEqual([]);
});

it("says that a robot that drives is elsewhere", async () => {
  const drive = { ...PREVIEW, mission: "navigate", begin: {}, end: {}, stood: [2, 3] as [number, number] };
  const { console } = await fakeConsole({ script: (t) => ({ ...warehouse(t), preview: drive }) });
  renderWith(console, <Preview />);
  expect(await screen.findByText(/the robot stands elsewhere, by [1-9][0-9.]* m/)).toBeTruthy();
});

it("can be cancelled while it runs", async () => {
  const { user, sent } = await shown({ state: "running", text: "Bringing up a copy" });
  await user.click(await screen.findByRole("button", { name: "Cancel the preview" }));
  await waitFor(() => expect(sent()[0]?.name).toBe("preview.cancel"));
});

it("says why there is no result", async () => {
  await shown({ state: "failed", text: "Another preview of the stack runs: wait for its end" });
  expect(await screen.findByText(/Another preview/)).toBeTruthy();
});
