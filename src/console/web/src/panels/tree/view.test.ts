// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { Clipper, duration, oneLine } from "./text";
import { between, centred, filled, fitted, following, LARGEST, zoomed } from "./view";

const SCREEN = { width: 1000, height: 600 };
const VIEW = { x: 10, y: 20, scale: 1 };

test("zooming keeps the point under the pointer, within limits", () => {
  const view = zoomed(VIEW, 2, 300, 200);
  expect((300 - view.x) / view.scale).toBeCloseTo(290);
  expect((200 - view.y) / view.scale).toBeCloseTo(180);
  expect(zoomed(VIEW, 1000, 0, 0).scale).toBe(LARGEST);
});

test("the whole tree is shown in the middle, not blown up", () => {
  const view = fitted({ x: -100, y: 0, width: 4000, height: 100 }, SCREEN);
  expect(view.scale).toBeCloseTo(952 / 4000);
  expect(view.x + -100 * view.scale).toBeCloseTo(24);
  expect(fitted({ x: 0, y: 0, width: 10, height: 10 }, SCREEN).scale).toBe(1);
});

test("what is followed moves the view only when it leaves the middle 60 %", () => {
  const box = (x: number, y: number) => ({ x, y, width: 100, height: 40 });
  expect(following(VIEW, box(400, 200), SCREEN)).toBe(VIEW);
  const right = following(VIEW, box(850, 200), SCREEN);
  expect(right.y).toBe(VIEW.y);
  expect(right.x + 850 + 100).toBeCloseTo(800);
  const up = following(VIEW, box(400, 0), SCREEN);
  expect(up.y).toBeCloseTo(120);
});

test("a card that does not fit is followed by its beginning", () => {
  const view = following({ ...VIEW, scale: 5 }, { x: 0, y: 50, width: 208, height: 10 }, SCREEN);
  expect(view.x).toBe(200);
});

test("a card is centred readably, and the way there ends there", () => {
  const goal = centred({ x: 0, y: 0, scale: 0.1 }, { x: 0, y: 0, width: 100, height: 50 }, SCREEN);
  expect(goal.scale).toBeCloseTo(0.6);
  expect(goal.x + 50 * goal.scale).toBeCloseTo(500);
  expect(between(VIEW, goal, 1)).toEqual(goal);
  expect(between(VIEW, goal, 0)).toEqual(VIEW);
});

test("the screen is filled as far as the tree goes", () => {
  const tree = { x: 0, y: 0, width: 3000, height: 300 };
  expect(filled({ x: -2600, y: 500, scale: 1 }, tree, SCREEN)).toEqual({ x: -2024, y: 150, scale: 1 });
  expect(filled({ x: 300, y: 150, scale: 1 }, tree, SCREEN).x).toBe(24);
  expect(filled({ x: -500, y: 150, scale: 1 }, tree, SCREEN).x).toBe(-500);
});

test("texts stay on one line and cannot turn what is around them", () => {
  expect(oneLine("a\n\u202eb\u0000c")).toBe("a b c");
  expect([...oneLine("x".repeat(10_000))]).toHaveLength(81);
  expect(oneLine("👍".repeat(5), 3)).toBe("👍👍👍…");
  const clipper = new Clipper((text) => 10 * [...text].length);
  expect(clipper.clip("abcdefgh", "f", 50)).toBe("abcd…");
  expect(clipper.clip("abc", "f", 50)).toBe("abc");
  expect(clipper.clip("שלום", "f", 100)).toBe("\u2068שלום\u2069");
});

test.each([[0.44, "0.4 s"], [12.7, "12 s"], [185, "3:05"], [-1, "0.0 s"]])("%d s is %s", (value, text) => {
  expect(duration(value)).toBe(text);
});
