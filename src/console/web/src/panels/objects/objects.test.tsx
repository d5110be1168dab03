// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import { fakeConsole, renderWith } from "../../testing";
import { block } from "../../testing/scene";
import Objects from ".";
import { rollPitchYaw, rows } from "./ObjectDetails";

afterEach(cleanup);

describe("Objects", () => {
  it("selects everywhere, and takes what was selected elsewhere", async () => {
    const { console } = await fakeConsole({ t: 29 });
    renderWith(console, <Objects />);
    const red = await screen.findByRole("button", { name: /red_block/ });
    await userEvent.click(red);
    expect(console.selection.get()).toEqual({ object: "red_block" });
    expect(screen.getByRole("region", { name: "Object red_block" }).textContent).toContain("50 × 50 × 50 mm");
    console.selection.set({ object: "table" });
    expect((await screen.findByRole("region", { name: "Object table" })).textContent).toContain("frozen");
  });

  it("freezes an object and says why it could not", async () => {
    const { console, server } = await fakeConsole({ t: 29, url: "?object=red_block" });
    server.answers.set("scene.freeze", { ok: false, message: "unknown object" });
    renderWith(console, <Objects />);
    await userEvent.click(await screen.findByRole("button", { name: "Freeze here" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).toBe("unknown object"));
    const sent = server.received.filter((each) => "command" in each);
    expect(sent).toMatchObject([
      { command: { name: "scene.freeze", args: { names: ["red_block"], freeze: true } } },
    ]);
  });

  it("finds by name and state, and says what an empty scene waits for", async () => {
    const { console, server } = await fakeConsole({ t: 29 });
    renderWith(console, <Objects />);
    await userEvent.type(await screen.findByRole("searchbox"), "frozen");
    expect(screen.getByRole("list").textContent).toContain("table");
    expect(screen.getByRole("list").textContent).not.toContain("red_block");
    server.put({ objects: {} });
    expect((await screen.findByRole("status")).textContent).toContain("no objects yet");
  });
});

describe("rows", () => {
  it("leaves out what nobody knows", () => {
    const known = block([0, 0, 0], [1, 0, 0, 1], 5);
    const terms = rows({ ...known, seen: null, deviation: [0, 0, 0, 0, 0, 0], sources: [] }).map(([term]) => term);
    expect(terms).toEqual(["state", "class", "position", "turn", "size"]);
  });

  it("turns about x, y and z", () => {
    const s = Math.SQRT1_2;
    expect(rollPitchYaw([0, 0, 0, s, 0, 0, s])[0]).toBeCloseTo(Math.PI / 2);
    expect(rollPitchYaw([0, 0, 0, 0, s, 0, s])[1]).toBeCloseTo(Math.PI / 2);
    expect(rollPitchYaw([0, 0, 0, 0, 0, s, s])[2]).toBeCloseTo(Math.PI / 2);
  });
});
