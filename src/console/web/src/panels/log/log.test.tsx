// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import { FAILURE } from "../../store";
import { FAILS_AT, fakeConsole, renderWith } from "../../testing";
import Log from ".";

afterEach(cleanup);

async function shown(t: number) {
  const fake = await fakeConsole({ t });
  renderWith(fake.console, <Log />);
  await act(async () => {});
  return fake;
}
const lines = () => screen.getAllByRole("listitem").map((item) => item.textContent ?? "");

describe("Log", () => {
  it("has events and reasons, newest first, and grows", async () => {
    const { server } = await shown(FAILS_AT + 1);
    expect(lines()[0]).toMatch(/00:31.0(fault|reason)/);
    expect(lines().some((line) => line.includes("reasonPlace blue: the target would leave"))).toBe(true);
    expect(lines().at(-1)).toContain("executor is up");
    act(() => server.advance(1));
    expect(lines()[0]).toContain("ben set port");
  });

  it("filters by kind and by words", async () => {
    await shown(40);
    await userEvent.click(screen.getByRole("button", { name: "reason" }));
    expect(lines()).toHaveLength(1);
    await userEvent.click(screen.getByRole("button", { name: "edit" }));
    expect(lines()).toHaveLength(2);
    await userEvent.type(screen.getByRole("searchbox"), "BEN surface");
    expect(lines()).toHaveLength(1);
    await userEvent.type(screen.getByRole("searchbox"), " nowhere");
    expect(screen.getByText("nothing here passes the filter")).toBeTruthy();
  });

  it("announces conditions that do not hold only to who asks for reasons", async () => {
    const { server } = await shown(40);
    const spans = [[7, 1, 2, FAILURE, 1, "no new route"], [8, 3, 4, FAILURE, 2, "it slipped"]];
    await act(async () => server.put({
      spans, lanes: { 1: ["t", "t/a", "NewRoute", "new route?", "Condition"], 2: ["t", "t/b", "Pick", "pick", "Action"] },
    }));
    expect(lines().some((line) => line.includes("it slipped"))).toBe(true);
    expect(lines().some((line) => line.includes("no new route"))).toBe(false);
    await userEvent.click(screen.getByRole("button", { name: "reason" }));
    expect(lines().some((line) => line.includes("no new route"))).toBe(true);
  });

  it("leads to node and moment", async () => {
    const { console } = await shown(40);
    await userEvent.click(screen.getByText(/Place blue: the target/));
    expect(console.at.get()).toBe(FAILS_AT);
    expect(console.selection.get().node).toBeDefined();
  });
});
