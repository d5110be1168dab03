// SPDX-License-Identifier: Apache-2.0
// What the panel remembers from one load of the page to the next.
import type { Direction } from "./layout";

const CLOSED = "console.tree.closed.";
const DIRECTION = "console.tree.direction";
const MODE = "console.tree.mode";
/** Paths of closed cards that are remembered per tree. */
const MOST = 2000;

export type Mode = "canvas" | "outline";

/** Paths of the cards that are closed in a tree. */
export function closedIn(treeId: string): ReadonlySet<string> {
  try {
    const paths: unknown = JSON.parse(read(CLOSED + treeId) ?? "[]");
    return new Set(Array.isArray(paths) ? paths.filter((each) => typeof each === "string") : []);
  } catch {
    return new Set();
  }
}

export function keepClosed(treeId: string, closed: ReadonlySet<string>): void {
  keep(CLOSED + treeId, JSON.stringify([...closed].slice(0, MOST)));
}

export function keptDirection(): Direction {
  return read(DIRECTION) === "down" ? "down" : "right";
}

export function keepDirection(direction: Direction): void {
  keep(DIRECTION, direction);
}

/** The outline where nothing is remembered and the screen is small. */
export function keptMode(): Mode {
  const mode = read(MODE);
  return mode === "outline" || (mode === null && innerWidth < 700) ? "outline" : "canvas";
}

export function keepMode(mode: Mode): void {
  keep(MODE, mode);
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // A full or forbidden store: it is remembered until the page is closed.
  }
}
