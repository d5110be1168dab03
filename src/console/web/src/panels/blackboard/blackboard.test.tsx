// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Blackboard from ".";
import { fakeConsole, renderWith } from "../../testing";
import { boardsOf, shown } from "./entries";

afterEach(cleanup);

it("groups values by their blackboards, the main tree's first", () => {
  const entries = new Map([
    ["pick/target", ["string", '"red"', true]], ["n", ["int", "1", true]], ["pick/a/b", ["int", "2", false]],
  ]) as never;
  expect(boardsOf(entries).map((each) => each.board)).toEqual(["", "pick", "pick/a"]);
  expect(boardsOf(entries, "RED").map((each) => each.rows.map((row) => row.place))).toEqual([["pick/target"]]);
});

it("shows texts without quotes and what is left out", () => {
  expect(shown('"a \\"b\\""')).toBe('a "b"');
  expect(shown('{"__omitted":"ndarray of 900 items"}')).toBe("(ndarray of 900 items)");
  expect(shown('{"x":1}')).toBe('{"x":1}');
  expect(shown("no json")).toBe("no json");
});

it("writes a value with the keyboard, and shows at the value why it is refused", async () => {
  const { console, server } = await fakeConsole({ t: 20 });
  server.answers.set("blackboard.set", { ok: false, message: "'many' is no integer" });
  renderWith(console, <Blackboard />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Change attempts" }));
  await user.clear(screen.getByLabelText("New value of attempts"));
  await user.keyboard("many{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("'many' is no integer");
  await waitFor(() => expect(server.received).toContainEqual(
    expect.objectContaining({ command: expect.objectContaining({ name: "blackboard.set", args: { key: "attempts", value: "many" } }) }),
  ));
  await user.keyboard("{Escape}");
  expect(screen.queryByLabelText("New value of attempts")).toBeNull();
});

it("is only read by who may not edit", async () => {
  const { console } = await fakeConsole({ t: 20 });
  console.connection.welcome.set({ ...console.connection.welcome.get()!, role: "operate" });
  renderWith(console, <Blackboard />);
  await screen.findByText("attempts");
  expect(screen.queryByRole("button", { name: /Change/ })).toBeNull();
});
