// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import { FAILS_AT, fakeConsole, noStack, renderWith } from "../testing";
import { AskLine } from "./AskLine";
import { FailureLine } from "./FailureLine";
import { PRESETS, panelsOf, present } from "./layouts";
import { LinkBanner } from "./LinkBanner";
import { ranked } from "./search";
import { clockOf, TopBar } from "./TopBar";

afterEach(cleanup);
const shown = async () => act(async () => new Promise<void>((resolve) => setTimeout(resolve, 0)));

test("the bar says what the robot does and how far it is", async () => {
  const { console } = await fakeConsole({ t: 32 });
  renderWith(console, <TopBar />);
  await shown();
  expect(screen.getByText("stack_blocks")).toBeTruthy();
  expect(screen.getByRole("progressbar")).toHaveProperty("value", 0.6);
  expect(screen.getByText("LIVE", { exact: false })).toBeTruthy();
});

test("without a stack the bar says what is missing and what to do", async () => {
  const { console } = await fakeConsole({ script: noStack });
  renderWith(console, <TopBar />);
  await shown();
  expect(screen.getByText("no executor is up: start a stack: behavior up")).toBeTruthy();
});

test("a failure leads to its node and its moment, and goes when it is closed", async () => {
  const { console } = await fakeConsole({ t: FAILS_AT + 1 });
  renderWith(console, <FailureLine />);
  await shown();
  await userEvent.click(screen.getByText("Show node"));
  const node = console.channels.current("tree")?.nodes.find((each) => each[0] === console.selection.get().node);
  expect(node?.[3]).toBe("Place blue");
  await userEvent.click(screen.getByText("Show moment"));
  expect(console.at.get()).toBe(FAILS_AT);
  await userEvent.click(screen.getByLabelText("Close this line"));
  expect(screen.queryByRole("alert")).toBeNull();
});

test("who has control is asked, and may answer", async () => {
  const { console, server } = await fakeConsole();
  renderWith(console, <><TopBar /><AskLine /></>);
  await shown();
  await act(async () => server.put({ controller: { holder: { number: 9, name: "bob #9" }, asks: null } }));
  await userEvent.click(screen.getByText("bob #9"));
  const sent = () => server.received.flatMap((each) => ("command" in each ? [each.command.name] : []));
  expect(sent()).toEqual(["control.ask"]);
  await act(async () => server.put({
    controller: { holder: { number: 1, name: "you #1" }, asks: { number: 9, name: "bob #9" } } }));
  await userEvent.click(screen.getByText("Keep"));
  expect(sent()).toEqual(["control.ask", "control.refuse"]);
  await act(async () => server.put({ controller: { holder: { number: 1, name: "you #1" }, asks: null } }));
  expect(screen.queryByText("Keep")).toBeNull();
});

test("who only watches sees no way to act but the stop", async () => {
  const { console, server } = await fakeConsole();
  server.role = "view";
  server.drop();
  console.connection.retry();
  renderWith(console, <TopBar />);
  await shown();
  expect(screen.getByText("you watch")).toBeTruthy();
  expect(screen.getByRole("combobox")).toHaveProperty("disabled", true);
});

test("a lost connection is said, with the way back", async () => {
  const { console, server } = await fakeConsole();
  renderWith(console, <LinkBanner />);
  await act(async () => server.drop("the server ended"));
  expect(screen.getByRole("alert").textContent).toContain("is lost (the server ended)");
  await userEvent.click(screen.getByText("Connect now"));
  await shown();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("layouts leave out panels that are not there, and what is empty then", () => {
  const preset = present(PRESETS.operate, new Set(["tree", "log"]));
  expect(preset.columns.map((each) => each.groups)).toEqual([[["tree"]]]);
  expect(preset.below.groups).toEqual([["log"]]);
  expect(panelsOf(preset)).toEqual(["tree", "log"]);
});

test("the palette finds by all words, beginnings first", () => {
  const items = ["Node: Place red", "Panel: Log", "Node: red lamp", "red"];
  expect(ranked("red", items, (each) => each)).toEqual(["red", "Node: Place red", "Node: red lamp"]);
  expect(ranked("pl red", items, (each) => each)).toEqual(["Node: Place red"]);
});

test("times are read as clocks", () => {
  expect([clockOf(26), clockOf(65.25, 1), clockOf(1_700_000_000), clockOf(86_399.99, 1)])
    .toEqual(["00:26", "01:05.2", "22:13:20", "23:59:59.9"]);
});
