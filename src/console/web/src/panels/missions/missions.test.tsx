// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Missions from ".";
import type { ClientMessage } from "../../store";
import { fakeConsole, noStack, renderWith } from "../../testing";

afterEach(cleanup);

function commands(received: readonly ClientMessage[]) {
  return received.flatMap((each) => ("command" in each ? [each.command] : [])).map(({ name, args }) => ({ name, args }));
}

async function shown(t = 20) {
  const all = await fakeConsole({ t });
  renderWith(all.console, <Missions />);
  await screen.findByText("stack_blocks", { selector: ".mission-name .text" });
  return { ...all, user: userEvent.setup() };
}

it("says why there is nothing to start", async () => {
  const { console } = await fakeConsole({ script: noStack });
  renderWith(console, <Missions />);
  expect(await screen.findByText(/no .*(stack|executor).* up/)).toBeTruthy();
});

it("starts a mission with what its form holds, with the keyboard alone", async () => {
  const { server, user } = await shown();
  screen.getByRole("button", { name: /pick_and_place/ }).focus();
  await user.keyboard("{Enter}");
  const form = within(screen.getByRole("form", { name: "Start pick_and_place" }));
  await user.selectOptions(form.getByLabelText("object"), "red_block");
  await user.clear(form.getByLabelText("height"));
  await user.type(form.getByLabelText("height"), "0.2{Enter}");
  await waitFor(() =>
    expect(commands(server.received)).toContainEqual({
      name: "mission.start",
      args: { name: "pick_and_place", parameters: { object: "red_block", height: "0.2" }, policy: "queue" },
    }),
  );
});

it("has failures wait for the operator, or not", async () => {
  const { server, user } = await shown();
  await user.click(screen.getByRole("button", { name: /pick_and_place/ }));
  await user.click(screen.getByRole("switch", { name: "wait for me at a failure" }));
  await waitFor(() => expect(commands(server.received)).toContainEqual({ name: "run.go", args: {} }));
});

it("refuses at the field before it sends, and shows there what the executor refuses", async () => {
  const { server, user } = await shown();
  server.answers.set("mission.start", {
    ok: false, message: "mission 'pick_and_place': parameter 'height': too low", value: { problems: { height: "too low" } },
  });
  await user.click(screen.getByRole("button", { name: /pick_and_place/ }));
  const form = within(screen.getByRole("form"));
  await user.click(form.getByRole("button", { name: "Queue" }));
  expect(form.getByText("it must be given")).toBeTruthy();
  expect(commands(server.received)).toEqual([]);
  await user.selectOptions(form.getByLabelText("object"), "red_block");
  await user.click(form.getByRole("button", { name: "Queue" }));
  expect(await form.findByText("too low", { selector: ".field-problem" })).toBeTruthy();
  expect(form.getByLabelText("height").getAttribute("aria-invalid")).toBe("true");
});

it("tells before the start what the mission needs and what of it is up", async () => {
  const { server, user } = await shown(53);
  server.answers.set("mission.preflight", {
    ok: true, message: "everything is there that it needs", value: { there: ["action /pick (a/Pick)", "topic /scene"] },
  });
  await user.click(screen.getByRole("button", { name: /^stack_blocks/ }));
  expect(await screen.findByText("It could start: everything is there that it needs.")).toBeTruthy();
  expect(screen.getByText("2 things that it needs are up")).toBeTruthy();
  expect(screen.getByText("topic /scene")).toBeTruthy();
  server.answers.set("mission.preflight", { ok: false, message: "action /pick is not there: start the node 'skills'" });
  await user.click(screen.getByRole("button", { name: "Check again" }));
  expect(await screen.findByText(/start the node 'skills'/)).toBeTruthy();
});

it("asks nothing of an executor that is busy", async () => {
  const { server, user } = await shown();
  await user.click(screen.getByRole("button", { name: /^stack_blocks/ }));
  await screen.findByRole("button", { name: "Queue" });
  expect(commands(server.received)).toEqual([]);
});

it("puts a mission before those that wait", async () => {
  const { server, user } = await shown();
  server.put({ queue: [{ action_id: "w1", name: "tour", state: "waiting" }] });
  await user.click(screen.getByRole("button", { name: /^stack_blocks/ }));
  await user.selectOptions(await screen.findByLabelText(/^while stack_blocks runs/), "wait for its end, before those that wait");
  await user.click(screen.getByRole("button", { name: "Queue" }));
  await waitFor(() => expect(commands(server.received).at(-1)?.args).toMatchObject({ policy: "queue", priority: 100 }));
});

it("moves missions that wait, and drops them", async () => {
  const { server, user } = await shown();
  const waiting = ["w1", "w2", "w3"].map((id) => ({ action_id: id, name: `tour ${id}`, state: "waiting", elapsed: 0 }));
  server.put({ queue: waiting });
  expect((await screen.findByRole<HTMLButtonElement>("button", { name: "tour w1 earlier" })).disabled).toBe(true);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "tour w3 later" }).disabled).toBe(true);
  await user.click(screen.getByRole("button", { name: "tour w3 earlier" }));
  await user.click(screen.getByRole("button", { name: "Drop tour w2, which waits" }));
  expect(commands(server.received)).toEqual([
    { name: "mission.move", args: { action_id: "w3", place: 2 } }, { name: "mission.cancel", args: { action_id: "w2" } },
  ]);
});

it("takes a mission that is dragged to the place where it is let go", async () => {
  const { server } = await shown();
  server.put({ queue: ["w1", "w2", "w3"].map((id) => ({ action_id: id, name: `tour ${id}`, state: "waiting", elapsed: 0 })) });
  const [first, third] = await Promise.all(["w1", "w3"].map(async (id) => (await screen.findByText(`tour ${id}`)).closest("li")));
  fireEvent.dragStart(third!);
  fireEvent.dragOver(first!);
  fireEvent.drop(first!);
  fireEvent.dragEnd(third!);
  await waitFor(() => expect(commands(server.received)).toEqual([{ name: "mission.move", args: { action_id: "w3", place: 1 } }]));
});

it("takes a place on the ground by dragging", async () => {
  const { console, server } = await fakeConsole({ t: 53 });
  const tower = { name: "tower", type: "text", default: "0.25;0.3", of: "place" as const };
  server.put({ missions: [{ name: "build", description: "", parameters: [tower] }] });
  renderWith(console, <Missions />);
  const opened: string[] = [];
  console.showPanel = (id) => opened.push(id);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "build" }));
  await user.click(screen.getByRole("button", { name: "Set in 3D" }));
  const goal = console.goal.get()!;
  expect([goal.pose.slice(0, 3), goal.flat, opened]).toEqual([[0.25, 0.3, 0], false, ["scene"]]);
  act(() => goal.take({ ...goal, pose: [0.5, -0.12345, 0, 0, 0, 0, 1] }));
  expect(screen.getByLabelText<HTMLInputElement>("tower").value).toBe("0.5;-0.123");
});

it("orders objects of the scene", async () => {
  const { server, user } = await shown();
  await user.click(screen.getByRole("button", { name: /^stack_blocks/ }));
  await user.click(screen.getByRole("button", { name: "green_block earlier" }));
  await user.selectOptions(screen.getByLabelText("add to order"), "blue_block");
  await user.click(screen.getByRole("button", { name: "Preview" }));
  await waitFor(() =>
    expect(commands(server.received)).toContainEqual({
      name: "preview.start",
      args: { name: "stack_blocks", parameters: { order: "green_block;red_block;blue_block" } },
    }),
  );
});

it("only watches while another has control", async () => {
  const { server } = await shown();
  server.put({ controller: { holder: { number: 7, name: "ben #7" }, asks: null, answer_within: 15 } });
  expect(await screen.findByText("ben #7 has control.")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Pause" }).disabled).toBe(true);
});
