// SPDX-License-Identifier: Apache-2.0
// The design's colours, for the canvas.
const NAMES = [
  "ground", "panel", "raised", "line", "strong-line", "text", "quiet", "hover", "selected", "accent",
  "running", "success", "failure", "waiting", "neutral", "running-ground", "failure-ground",
  "waiting-ground",
] as const;

export type Colours = Record<(typeof NAMES)[number] | "font" | "mono", string>;

/** The colours that hold at an element now. */
export function coloursAt(element: Element): Colours {
  const style = getComputedStyle(element.ownerDocument.documentElement);
  const value = (name: string, other: string) => style.getPropertyValue(`--${name}`).trim() || other;
  const colours = Object.fromEntries(NAMES.map((name) => [name, value(name, "#808080")]));
  return {
    ...colours, font: value("font", "sans-serif"), mono: value("mono", "monospace"),
  } as Colours;
}

/** Calls `changed` when the page's theme does. */
export function watchTheme(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", changed);
    observer.disconnect();
  };
}
