// SPDX-License-Identifier: Apache-2.0
// WCAG 2.2 AA: text has a contrast of 4.5 against what it stands on, shapes one of 3.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const GROUNDS = ["ground", "panel", "raised", "hover", "selected"];
const TEXTS = ["text", "quiet"];
const SHAPES = ["running", "success", "failure", "waiting", "neutral", "accent", "strong-line"];
const PAIRS = [
  ["on-accent", "accent"], ["on-amber", "amber"], ["on-stop", "stop"], ["text", "failure-ground"],
  ["quiet", "failure-ground"], ["text", "waiting-ground"], ["text", "running-ground"],
] as const;

function colors(theme: string): Map<string, string> {
  const css = readFileSync(`${import.meta.dirname}/tokens.css`, "utf8");
  const block = css.split("}").find((each) => each.includes(`[data-theme="${theme}"]`)) ?? "";
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((each) => [each[1]!, each[2]!]));
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

test.each(["light", "dark"])("text and shapes of the %s theme stand out", (theme) => {
  const of = colors(theme);
  const bad: string[] = [];
  const check = (front: string, back: string, least: number) => {
    const value = contrast(of.get(front)!, of.get(back)!);
    if (!(value >= least)) bad.push(`${front} on ${back}: ${value.toFixed(2)}`);
  };
  for (const ground of GROUNDS) {
    for (const text of TEXTS) check(text, ground, 4.5);
    for (const shape of SHAPES) check(shape, ground, 3);
  }
  for (const [front, back] of PAIRS) check(front, back, 4.5);
  expect(bad).toEqual([]);
});
