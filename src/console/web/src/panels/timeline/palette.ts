// SPDX-License-Identifier: Apache-2.0

const NAMES = [
  "panel", "raised", "line", "strong-line", "text", "quiet", "selected", "hover", "accent", "running",
  "success", "failure", "waiting", "neutral", "running-ground", "failure-ground", "amber", "on-amber",
] as const;

/** The theme's colours, for the canvas. */
export type Palette = Record<(typeof NAMES)[number], string> & { font: string };

/** Reads the tokens of design/tokens.css as they are now. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element.ownerDocument.documentElement);
  const entries = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return { ...Object.fromEntries(entries), font: style.getPropertyValue("--font").trim() || "sans-serif" } as Palette;
}
