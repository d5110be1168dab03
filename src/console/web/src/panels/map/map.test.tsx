// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Pose, Transform } from "../../store";
import { fakeConsole, renderWith } from "../../testing";
import { stored, warehouse } from "../../testing/warehouse";
import { fitted, panned, toCanvas, toMap, zoomed } from "./camera";
import { cellsOf, pixelsOf, rgb } from "./grid";
import MapPanel, { driveGoal } from ".";
import { compose, frameIn, inverse, planarOf, spatial, type Planar } from "./planar";

afterEach(cleanup);
vi.stubGlobal("ResizeObserver", class {
  observe() {}
  disconnect() {}
});

const SIZE = { width: 400, height: 200 };
const COLORS = { free: [255, 255, 255], occupied: [0, 0, 0], unknown: [128, 128, 128] };

function close(one: readonly number[], other: readonly number[]): void {
  one.forEach((value, index) => expect(value).toBeCloseTo(other[index]!));
}

describe("camera", () => {
  it("goes from the map to the canvas and back", () => {
    const camera = { x: 3, y: -2, scale: 25 };
    expect(toCanvas(camera, SIZE, [3, -2])).toEqual([200, 100]);
    expect(toCanvas(camera, SIZE, [4, -1])).toEqual([225, 75]);
    close(toMap(camera, SIZE, toCanvas(camera, SIZE, [7, 1])), [7, 1]);
  });

  it("keeps the place under the pointer while zooming, and follows it while panning", () => {
    const camera = { x: 3, y: -2, scale: 25 };
    const place = toMap(camera, SIZE, [30, 40]);
    close(toCanvas(zoomed(camera, SIZE, [30, 40], 1.7), SIZE, place), [30, 40]);
    close(toCanvas(panned(camera, 10, -5), SIZE, place), [40, 35]);
    expect(zoomed(camera, SIZE, [0, 0], 1e9).scale).toBe(1000);
  });

  it("shows a rectangle as a whole", () => {
    const camera = fitted(SIZE, [0, 0], [10, 10]);
    const [left, top] = toCanvas(camera, SIZE, [0, 10]);
    expect(top).toBeGreaterThan(0);
    expect(left).toBeGreaterThan(0);
    expect(top).toBeLessThan(20);
  });
});

describe("planar", () => {
  it("has an inverse", () => {
    const pose: Planar = [1, 2, 0.7];
    close(compose(pose, inverse(pose)), [0, 0, 0]);
    close(planarOf(spatial(pose)), pose);
  });

  it("finds a frame in another, by what they hang on", () => {
    const up: Pose = spatial([0, 0, Math.PI / 2]);
    const turn = [up[3], up[4], up[5], up[6]] as [number, number, number, number];
    const transforms = new Map<string, Transform>([
      ["odom", ["map", [1, 0, 0], turn]], ["base", ["odom", [2, 0, 0], [0, 0, 0, 1]]],
    ]);
    close(frameIn("map", "base", transforms), [1, 2, Math.PI / 2]);
    close(frameIn("base", "map", transforms).slice(0, 2), [-2, 1]);
    close(frameIn("map", "nowhere", transforms), [0, 0, 0]);
    const circle = new Map<string, Transform>([["a", ["a", [1, 0, 0], [0, 0, 0, 1]]]]);
    expect(frameIn("b", "a", circle).every(Number.isFinite)).toBe(true);
  });
});

describe("grid", () => {
  it("reads colours as style sheets have them, and as a built page shortens them", () => {
    expect(rgb(" #1b1f24")).toEqual([0x1b, 0x1f, 0x24]);
    expect(rgb("#fff")).toEqual([255, 255, 255]);
  });

  it("puts the row of the largest y first", () => {
    const pixels = pixelsOf(Uint8Array.from([0, 100, 255, 49]), 2, 2, COLORS);
    expect([...pixels].filter((_, index) => index % 4 === 0)).toEqual([128, 255, 255, 0]);
    expect(pixels[3]).toBe(255);
  });

  it("unpacks what the server packs, and says when it is not what the map says", async () => {
    const { map } = warehouse(0) as { map: Parameters<typeof cellsOf>[0] };
    const cells = await cellsOf(map);
    expect(cells.length).toBe(240 * 160);
    expect([cells[0], cells[50 * 240 + 10]]).toEqual([100, 0]);
    const short = { ...map, cells: stored(new Uint8Array(7)) };
    await expect(cellsOf(short)).rejects.toThrow("240 x 160 cells and has 7");
    await expect(cellsOf({ ...map, cells: new Uint8Array(9) })).rejects.toThrow();
  });
});

describe("MapPanel", () => {
  it("drives where somebody clicked, once that is confirmed in the panel", async () => {
    const { console, server } = await fakeConsole({ script: warehouse });
    renderWith(console, <MapPanel />);
    act(() => console.goal.set(driveGoal(console, "map", 3, 4, () => {})));
    expect(screen.getByRole("group").textContent).toContain("3.000, 4.000 m · 0° in map");
    act(() => console.goal.set({ ...console.goal.get()!, pose: spatial([3, 5, Math.PI / 2]) }));
    await userEvent.click(screen.getByRole("button", { name: "Drive" }));
    const [sent] = server.received.filter((each) => "command" in each);
    const navigate = { x: 3, y: 5, frame: "map", yaw: expect.closeTo(Math.PI / 2) as number };
    expect(sent).toMatchObject({ command: { name: "mission.start", args: { steps: [{ navigate }] } } });
  });

  it("previews the drive first, if that is asked for", async () => {
    const { console, server } = await fakeConsole({ script: warehouse });
    renderWith(console, <MapPanel />);
    act(() => console.goal.set(driveGoal(console, "map", 3, 4, () => {})));
    await userEvent.click(screen.getByRole("button", { name: "Preview" }));
    const [sent] = server.received.filter((each) => "command" in each);
    const navigate = { x: 3, y: 4, frame: "map", yaw: 0 };
    expect(sent).toMatchObject({ command: { name: "preview.start", args: { steps: [{ navigate }] } } });
    expect(console.goal.get()).toBeNull();
  });

  it("says why it is empty", async () => {
    const { console } = await fakeConsole({ t: 3 });
    renderWith(console, <MapPanel />);
    expect((await screen.findByRole("status")).textContent).toContain("no map was published yet");
  });
});
