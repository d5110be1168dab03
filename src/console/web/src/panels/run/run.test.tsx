// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Run from ".";
import { fakeConsole, renderWith, stackBlocks } from "../../testing";

afterEach(cleanup);

const CONTROLLED = {
  controlled: true, automatic: false, concurrent: true, stands: true, held: ["stack_blocks/go home first"],
  failed: [], breakpoints: ["stack_blocks/go home"], prepared: [],
};

async function shown(control: object, url = "") {
  const all = await fakeConsole({ script: (t) => ({ ...stackBlocks(t), run_control: control }), t: 20, url });
  renderWith(all.console, <Run />);
  await screen.findByText("Pace");
  const sent = () => all.server.received.flatMap((each) => ("command" in each ? [each.command] : []));
  return { ...all, sent, user: userEvent.setup() };
}

it("lets a held leaf begin, and removes a breakpoint", async () => {
  const { user, sent } = await shown(CONTROLLED);
  await user.click(screen.getByRole("button", { name: "Begin" }));
  await user.click(screen.getByRole("button", { name: "Remove the breakpoint at stack_blocks/go home" }));
  await waitFor(() => expect(sent().map(({ name, args }) => [name, args])).toEqual([
    ["run.step", { node: "stack_blocks/go home first" }], ["run.clear", { node: "stack_blocks/go home" }],
  ]));
});

it("leaves the run alone when nobody waits at failures any more", async () => {
  const { user, sent } = await shown(CONTROLLED);
  await user.click(screen.getByRole("switch", { name: "wait for me at a failure" }));
  await waitFor(() => expect(sent().map(({ name }) => name)).toEqual(["run.release"]));
});

it("retries, skips or gives up what has failed", async () => {
  const { user, sent } = await shown({ ...CONTROLLED, held: [], failed: ["stack_blocks/go home"] });
  for (const name of ["Retry", "Skip", "Give up"]) {
    await user.click(screen.getByRole("button", { name }));
    await screen.findByText("done");
  }
  expect(sent().map(({ name }) => name)).toEqual(["run.retry", "run.skip", "run.give up"]);
});

it("switches to leaf by leaf, and shows what is refused", async () => {
  const { user, sent, server } = await shown({ ...CONTROLLED, automatic: true });
  server.answers.set("run.stop", { ok: false, message: "no executor answers" });
  await user.click(screen.getByRole("switch", { name: "by itself" }));
  expect((await screen.findByRole("alert")).textContent).toContain("no executor answers");
  expect(sent()[0]?.name).toBe("run.stop");
});

it("begins at the selected node, with B for its breakpoint", async () => {
  const { user, sent, console } = await shown(CONTROLLED, "node=1");
  await user.click(screen.getByRole("button", { name: "Run from here" }));
  const key = new KeyboardEvent("keydown", { key: "b" });
  expect(console.commands.handle(key, (role) => console.may(role))).toBe(true);
  await waitFor(() => expect(sent().map(({ name, args }) => [name, args])).toEqual([
    ["run.from", { node: "stack_blocks" }], ["run.break", { node: "stack_blocks" }],
  ]));
});

it("says beside the software stop that it is no safety function", async () => {
  const { user, sent } = await shown(CONTROLLED);
  expect(screen.getByText(/It is no safety function/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: /STOP by software/ }));
  expect(sent()[0]?.name).toBe("stop");
});

it("tells who asks for control, and lets the holder keep it", async () => {
  const { user, sent, server } = await shown(CONTROLLED);
  server.put({ controller: { holder: { number: 1, name: "you #1" }, asks: { number: 7, name: "ben #7" }, answer_within: 15 } });
  expect(await screen.findByText(/ben #7 asks for it: 15 s are left/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Keep it" }));
  expect(sent()[0]?.name).toBe("control.refuse");
});

it("changes nothing of the past", async () => {
  await shown(CONTROLLED, "at=10");
  expect(screen.getByText(/This is the past/)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Begin" }).disabled).toBe(true);
});
