// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FAILURE, SUCCESS } from "../../store";
import { fakeConsole, renderWith } from "../../testing";
import Timeline from ".";
import { TimelineData } from "./data";
import { AXIS, ROW, type Picture } from "./draw";
import { hitAt } from "./hit";
import type { Palette } from "./palette";
import { Surface } from "./surface";
import { TimeWindow } from "./window";

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function shown(t: number, record?: string) {
  const fake = await fakeConsole({ t, ...(record === undefined ? {} : { record }) });
  renderWith(fake.console, <Timeline />);
  await act(async () => {});
  return fake;
}

describe("Surface", () => {
  it("keeps the moment in view that another panel or a link chose, and follows again when it is live", async () => {
    const { console } = await fakeConsole({ t: 100, url: "at=80" });
    const surface = new Surface(document.createElement("canvas"), console, new TimelineData(console), () => {}, () => {});
    const { window } = surface;
    expect(window.from < 80 && 80 < window.to && !window.follows).toBe(true);
    console.at.set(5);
    expect(window.from < 5 && 5 < window.to).toBe(true);
    console.at.set(null);
    expect(window.follows).toBe(true);
    surface.close();
  });
});

describe("Timeline", () => {
  it("goes to changes by keys and back to live", async () => {
    const { console, server } = await shown(32);
    const user = userEvent.setup();
    await user.click(screen.getByRole("button", { name: "Previous change" }));
    expect(console.at.get()).toBe(31);
    await user.click(screen.getByRole("button", { name: "Previous change" }));
    expect(console.at.get()).toBeLessThan(31);
    expect(server.received).toContainEqual({ at: 31 });
    await user.click(screen.getByRole("button", { name: "Next change" }));
    expect(console.at.get()).toBe(31);
    await user.click(screen.getByRole("button", { name: /Live/ }));
    expect(console.at.get()).toBeNull();
  });

  it("is a slider for the keyboard that says which moment is shown", async () => {
    const { console } = await shown(40);
    const slider = screen.getByRole("slider", { name: "Moment" });
    expect(slider.getAttribute("aria-valuetext")).toBe("live");
    slider.focus();
    await userEvent.keyboard("{Home}");
    expect(console.at.get()).toBe(0);
    expect(slider.getAttribute("aria-valuetext")).toBe("00:00.0");
    await userEvent.keyboard("{ArrowRight}{ArrowRight}");
    expect(console.at.get()).toBeGreaterThan(0);
    await userEvent.keyboard("{End}");
    expect(console.at.get()).toBeNull();
  });

  it("has a table with each span in view, which leads to node and moment", async () => {
    const { console } = await shown(40);
    await userEvent.click(screen.getByRole("button", { name: "Table" }));
    const failed = screen.getByRole("row", { name: /Place blue failed 2.00 s.*26 mm inside/ });
    await userEvent.click(failed.querySelector("button")!);
    expect(console.at.get()).toBe(29);
    const node = console.channels.current("tree")!.nodes.find((each) => each[3] === "Place blue");
    expect(console.selection.get().node).toBe(node![0]);
  });

  it("shows what comes while a recording is still being read, in its table too", async () => {
    const { server } = await shown(20, "run.mcap");
    await userEvent.click(screen.getByRole("button", { name: "Table" }));
    expect(screen.queryByRole("row", { name: /go home succeeded 5.00 s/ })).toBeNull();
    act(() => server.advance(35));
    expect(await screen.findByRole("row", { name: /go home succeeded 5.00 s/ })).toBeTruthy();
  });

  it("shows all of a recording that was read before the timeline was opened", async () => {
    const { console } = await fakeConsole({ t: 55, record: "run.mcap", url: "at=5" });
    for (const name of ["spans", "events", "lanes", "tree"] as const) console.subscribe(name, () => {});
    await act(async () => {});
    renderWith(console, <Timeline />);
    await userEvent.click(screen.getByRole("button", { name: "Table" }));
    expect(await screen.findByRole("row", { name: /go home succeeded 5.00 s/ })).toBeTruthy();
  });

  it("jumps to failures with their nodes, and stays where there is no other", async () => {
    const { console } = await shown(40);
    await userEvent.click(screen.getByRole("button", { name: "Previous failure" }));
    expect(console.at.get()).toBe(31);
    await userEvent.click(screen.getByRole("button", { name: "Previous failure" }));
    expect(console.at.get()).toBe(31);
    const node = console.channels.current("tree")!.nodes.find((each) => each[3] === "Place blue");
    expect(console.selection.get().node).toBe(node![0]);
    console.at.set(10);
    await userEvent.click(screen.getByRole("button", { name: "Next failure" }));
    expect(console.at.get()).toBe(31);
  });

  it("plays a recording from its beginning and stops at its end", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const { console, server } = await shown(40, "run.mcap");
      expect(screen.getByRole("button", { name: /End/ })).toBeTruthy();
      act(() => screen.getByRole("button", { name: "Play" }).click());
      expect(console.at.get()).toBe(0);
      act(() => void vi.advanceTimersByTime(2000));
      expect(console.at.get()).toBeCloseTo(2);
      expect(server.received.filter((message) => "at" in message).length).toBeGreaterThan(15);
      act(() => void vi.advanceTimersByTime(60_000));
      expect(console.at.get()).toBeNull();
      expect(screen.getByRole("button", { name: "Play" })).toBeTruthy();
    } finally {
      vi.useRealTimers();
    }
  });

  it("plays on only from a moment while the run goes on", async () => {
    await shown(40);
    expect((screen.getByRole("button", { name: "Play" }) as HTMLButtonElement).disabled).toBe(true);
  });

  it("says what it waits for", async () => {
    const fake = await fakeConsole({ script: () => ({}) });
    renderWith(fake.console, <Timeline />);
    expect(await screen.findByText("nothing has run yet")).toBeTruthy();
  });
});

describe("hits", () => {
  async function pictureAt(t: number): Promise<Picture> {
    const { console } = await fakeConsole({ t });
    const data = new TimelineData(console);
    data.start(() => {});
    await act(async () => {});
    const window = new TimeWindow();
    window.follows = false;
    [window.from, window.to] = [0, 60];
    return {
      width: 1376, height: 600, names: 176, scroll: 0, window, rows: data.rows, palette: {} as Palette, at: null,
      now: t, selectedNode: null, focusedRow: -1,
    };
  }
  const rowY = (picture: Picture, title: string) =>
    AXIS + ROW * (picture.rows.findIndex((row) => row.title === title) + 0.5);

  it("say node, result, duration and reason of a span, and the pointer's moment in it", async () => {
    const picture = await pictureAt(55);
    const hit = hitAt(picture, 176 + 30 * 20, rowY(picture, "Place blue"))!;
    expect(hit.lines).toEqual(["Place", "failed, 2.00 s", "from 00:29.000", expect.stringContaining("26 mm")]);
    expect(hit.t).toBe(30);
  });

  it("have missions, modes and faults, and nothing where nothing is", async () => {
    const picture = await pictureAt(55);
    expect(picture.rows.slice(0, 4).map((row) => row.title)).toEqual(["Missions", "Mode", "Faults", "Edits"]);
    expect(hitAt(picture, 176 + 20 * 20, rowY(picture, "Missions"))!.title).toBe("stack_blocks");
    expect(hitAt(picture, 176 + 20 * 31, rowY(picture, "Faults"))!.title).toContain("26 mm");
    expect(hitAt(picture, 176 + 20 * 20, rowY(picture, "Faults"))).toBeNull();
    expect(hitAt(picture, 176 + 20, AXIS + ROW * 500)).toBeNull();
  });

  it("say how many spans one bar stands for", async () => {
    const picture = await pictureAt(55);
    const lane = picture.rows.find((row) => row.title === "Place blue")!;
    if (lane.kind !== "lane") throw new Error("no lane");
    for (let n = 0; n < 50; n += 1) lane.lane.put([lane.lane.uid, 56 + n * 0.01, 56.005 + n * 0.01, n ? SUCCESS : FAILURE]);
    const hit = hitAt({ ...picture, now: 60 }, 176 + 20 * 56 + 4, rowY(picture, "Place blue"))!;
    expect(hit.lines[1]).toMatch(/^50 times within/);
  });
});
