// SPDX-License-Identifier: Apache-2.0
import { Color } from "three";

/** Colours of the page's theme, for what is drawn without style sheets. */
export interface Palette {
  ground: Color;
  line: Color;
  strong: Color;
  quiet: Color;
  accent: Color;
  waiting: Color;
  failure: Color;
  path: Color;
}

const NAMES: Record<keyof Palette, string> = {
  ground: "--ground", line: "--line", strong: "--strong-line", quiet: "--quiet",
  accent: "--accent", waiting: "--amber", failure: "--failure", path: "--running",
};

/** The colours as they are now: the page's, as an element that is not shown yet has none. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element.ownerDocument.documentElement);
  const entries = Object.entries(NAMES).map(([key, name]) => {
    const text = style.getPropertyValue(name).trim();
    return [key, new Color(text === "" ? "#888888" : text)];
  });
  return Object.fromEntries(entries) as unknown as Palette;
}

/** Calls `changed` whenever the page's theme does, until the function returned is called. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
