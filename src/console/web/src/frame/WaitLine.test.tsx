// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { fakeConsole, renderWith } from "../testing";
import { operatorWaits } from "../testing/operator";
import { WaitLine } from "./WaitLine";

afterEach(cleanup);

const HELD = {
  controlled: true, automatic: false, concurrent: true, stands: true, held: ["stack_blocks/go home"],
  failed: [], breakpoints: ["stack_blocks/go home"], prepared: [],
};

async function shown(control: object) {
  const all = await fakeConsole({ script: (t) => ({ ...operatorWaits(t), run_control: control, controller: null }), t: 20 });
  renderWith(all.console, <WaitLine />);
  const sent = () => all.server.received.flatMap((each) => ("command" in each ? [each.command] : []));
  return { ...all, sent, user: userEvent.setup() };
}

it("stands over everything while a failure waits for a decision", async () => {
  const path = "stack_blocks/stack blue/blue done or do/try blue 3 times/carry blue/Place blue";
  const { user, sent } = await shown({ ...HELD, held: [], failed: [path] });
  expect((await screen.findByRole("alert")).textContent).toContain("Place blue has failed and waits for you");
  expect(document.title).toContain("waits for you");
  await user.click(screen.getByRole("button", { name: "Retry" }));
  await waitFor(() => expect(sent().map(({ name, args }) => [name, args])).toEqual([["run.retry", { node: path }]]));
});

it("offers the next step, and what it refused", async () => {
  const { user, sent, server } = await shown(HELD);
  expect(await screen.findByText(/at its breakpoint/)).toBeTruthy();
  server.answers.set("run.go", { ok: false, message: "no tree runs" });
  await user.click(screen.getByRole("button", { name: "Go on by itself" }));
  expect(await screen.findByText(/no tree runs/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: /^Step/ }));
  await waitFor(() => expect(sent().map(({ name }) => name)).toEqual(["run.go", "run.step"]));
});

it("is not there where the past is shown", async () => {
  const { console } = await shown(HELD);
  await screen.findByText(/at its breakpoint/);
  act(() => console.at.set(10));
  await waitFor(() => expect(screen.queryByText(/at its breakpoint/)).toBeNull());
  expect(document.title).not.toContain("waits for you");
});
