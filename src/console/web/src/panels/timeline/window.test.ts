// SPDX-License-Identifier: Apache-2.0
// @vitest-environment node
import { describe, expect, it } from "vitest";
import { durationText, stepOf, TimeWindow, timeText } from "./window";

describe("TimeWindow", () => {
  it("zooms about the pointer", () => {
    const window = new TimeWindow();
    window.pan(70);
    window.zoom(80, 0.5);
    expect([window.from, window.to]).toEqual([75, 90]);
  });

  it("keeps now where it is while it follows", () => {
    const window = new TimeWindow();
    window.now(100);
    window.zoom(80, 0.1);
    window.now(100);
    expect(window.length).toBeCloseTo(3);
    expect(window.to).toBeCloseTo(100.18);
  });

  it("follows no more once it was moved, and stops at milliseconds and at a week", () => {
    const window = new TimeWindow();
    window.pan(-5);
    window.now(1000);
    expect(window.to).toBe(25);
    for (let n = 0; n < 60; n += 1) window.zoom(10, 0.5);
    expect(window.length).toBeCloseTo(0.002);
    for (let n = 0; n < 60; n += 1) window.zoom(10, 2);
    expect(window.length).toBe(7 * 86_400);
  });

  it("holds all until it is moved by hand", () => {
    const window = new TimeWindow();
    window.fits = true;
    window.fit(0, 100);
    window.reveal(50);
    expect([window.from, window.to, window.fits]).toEqual([-2, 106, true]);
    window.zoom(50, 0.5);
    expect(window.fits).toBe(false);
  });

  it("stays precise with times since 1970", () => {
    const window = new TimeWindow();
    window.fit(1_795_435_367.4, 1_795_435_367.41);
    window.zoom(1_795_435_367.405, 0.05);
    expect(1_795_435_367.405 - window.from).toBeGreaterThan(0);
    expect(window.length).toBeLessThan(0.01);
  });
});

describe("texts", () => {
  it("have the digits that a step needs", () => {
    expect([timeText(63, 1), timeText(63.25, 0.1), timeText(3723.0045, 0.001)]).toEqual(["01:03", "01:03.3", "01:02:03.005"]);
    expect(timeText(59.9999, 0.001)).toBe("01:00.000");
    expect(stepOf(30, 10)).toBe(5);
    expect(stepOf(0.004, 10)).toBe(0.0005);
  });

  it("say how long something took", () => {
    expect([0, 0.0042, 0.25, 2, 75].map(durationText)).toEqual(["at once", "4.2 ms", "250 ms", "2.00 s", "1 min 15 s"]);
  });
});
