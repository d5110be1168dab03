// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { editSession } from "../panels/tree/edit/session";
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

it("leads to the setting that the failure speaks of", async () => {
  const path = "Bring/Place";
  const nodes = [[2, null, "Bring", "Bring", "SubTree", "Bring"], [4, 2, "Place", "Place", "Action", path]];
  const xml = `<root><BehaviorTree ID="main"><SubTree ID="Bring" _uid="2" goal="1;2;3"/></BehaviorTree>
    <BehaviorTree ID="Bring"><Place _uid="4" name="Place" target="{goal}"/></BehaviorTree></root>`;
  const tree = { life: "1", action_id: "m", tree_id: "main", revision: 1, xml, nodes };
  const script = (t: number) => ({
    ...operatorWaits(t), tree, reasons: { "4": { t: 1, text: "The target is out of reach" } }, controller: null,
    run_control: { ...HELD, held: [], failed: [path] },
  });
  const { console } = await fakeConsole({ script, t: 20 });
  const opened: string[] = [];
  console.showPanel = (id) => opened.push(id);
  renderWith(console, <WaitLine />);
  await userEvent.setup().click(await screen.findByRole("button", { name: "Change goal" }));
  expect(console.selection.get()).toEqual({ node: 2 });
  expect(opened).toEqual(["inspector"]);
  const session = editSession(console);
  expect([session.tree.get(), session.wanted.get()]).toEqual(["stack_blocks", "goal"]);
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
