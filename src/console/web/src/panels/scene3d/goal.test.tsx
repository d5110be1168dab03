// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import type { Goal } from "../../store";
import { fakeConsole, renderWith } from "../../testing";
import { GoalBar, goalText, heading } from "./GoalBar";

afterEach(cleanup);

async function bar(flat = false) {
  const { console } = await fakeConsole();
  const taken: Goal[] = [];
  const goal: Goal = {
    label: "where to put it", verb: "Use", frame: "world", pose: [0.4, -0.1, 0.2, 0, 0, Math.SQRT1_2, Math.SQRT1_2],
    flat, take: (each) => taken.push(each),
  };
  console.goal.set(goal);
  renderWith(console, <GoalBar turning={false} setTurning={() => {}} flat={false} />);
  return { console, taken, goal };
}

describe("GoalBar", () => {
  it("gives the pose as it was dragged to who asked for it", async () => {
    const { console, taken, goal } = await bar();
    console.goal.set({ ...goal, pose: [0.5, 0, 0.3, 0, 0, 0, 1] });
    await userEvent.click(await screen.findByRole("button", { name: "Use" }));
    expect(taken.map((each) => each.pose)).toEqual([[0.5, 0, 0.3, 0, 0, 0, 1]]);
    expect(console.goal.get()).toBeNull();
  });

  it("says the numbers, and goes without a word when cancelled", async () => {
    const { taken, console } = await bar();
    expect(screen.getByRole("group").textContent).toContain("0.400, -0.100, 0.200 m · 90° in world");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(taken).toEqual([]);
    expect(console.goal.get()).toBeNull();
    expect(screen.queryByRole("group")).toBeNull();
  });

  it("leaves poses on the ground to the map", async () => {
    await bar(true);
    expect(screen.queryByRole("group")).toBeNull();
  });

  it("writes a pose as ports of trees take it", () => {
    const goal: Goal = { label: "", verb: "Use", frame: "world", pose: [0.12345, 0, 0, 0, 0, 0, 1], flat: false, take: () => {} };
    expect(goalText(goal)).toBe("world;0.1235;0;0;0;0;0;1");
    expect(heading([0, 0, 0, 0, 0, 1, 0])).toBeCloseTo(Math.PI);
  });
});
