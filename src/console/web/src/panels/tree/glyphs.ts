// SPDX-License-Identifier: Apache-2.0
// Shapes of statuses and kinds on a grid of 14, for the canvas.
import { FAILURE, RUNNING, SKIPPED, SUCCESS, type StatusCode } from "../../store";
import type { Card } from "./model";

export interface Glyph {
  path: string;
  fill?: boolean;
  width?: number;
  dash?: number[];
}

export type Mark = "running" | "success" | "failure" | "unmet" | "skipped" | "idle" | "paused" | "breakpoint";

const MARKS: Record<Mark, Glyph> = {
  running: { path: "M4 2.5l7.5 4.5L4 11.5z", fill: true },
  success: { path: "M2 7.5l3.5 3.5L12 3.5", width: 2.4 },
  failure: { path: "M3 3l8 8M11 3l-8 8", width: 2.6 },
  unmet: {
    path: "M4.4 1.8 7 4.4l2.6-2.6 2.6 2.6L9.6 7l2.6 2.6-2.6 2.6L7 9.6l-2.6 2.6-2.6-2.6L4.4 7 1.8 4.4z",
    width: 1.2,
  },
  skipped: { path: "M2.5 2.5h9v9h-9z", width: 1.3, dash: [2.5, 2] },
  idle: { path: "", width: 1 },
  paused: { path: "M4.5 2v10M9.5 2v10", width: 2.6 },
  breakpoint: { path: "M7 2.5a4.5 4.5 0 1 0 .01 0z", fill: true },
};

const KINDS: Record<string, Glyph> = {
  Sequence: { path: "M1.5 7h10M8 3.5 11.5 7 8 10.5", width: 1.6 },
  Fallback: { path: "M4.5 5a2.6 2.6 0 1 1 3.6 2.6c-.8.4-1.1.8-1.1 1.6M7 11.4v.8", width: 1.6 },
  Parallel: { path: "M1.5 4.5h10M9 2l2.5 2.5L9 7M1.5 10h10M9 7.5 11.5 10 9 12.5", width: 1.4 },
  control: { path: "M2 7h4M6 3v8M6 3h6M6 11h6M6 7h6", width: 1.4 },
  decorator: { path: "M7 1.8 12.2 7 7 12.2 1.8 7z", width: 1.5 },
  action: { path: "M3 3h8v8H3z", width: 1.5 },
  condition: { path: "M7 2.2a4.8 4.8 0 1 0 .01 0z", width: 1.5 },
  subtree: { path: "M2 2.5h4.5v4H2zM7.5 8H12v3.5H7.5zM4.2 6.5v3.3h3.3", width: 1.4 },
  lock: { path: "M3.5 6.5h7v5h-7zM5 6.5V4.7a2 2 0 0 1 4 0v1.8", width: 1.5 },
};

/** What stands for a status; a condition's failure is no alarm. */
export function markOf(status: StatusCode, condition: boolean): Mark {
  if (status === RUNNING) return "running";
  if (status === SUCCESS) return "success";
  if (status === FAILURE) return condition ? "unmet" : "failure";
  return status === SKIPPED ? "skipped" : "idle";
}

/** Which kind's shape a card has. */
export function kindGlyph({ type, kind }: Pick<Card, "type" | "kind">): Glyph {
  if (/^(Atomic|Lock)$/.test(type)) return KINDS.lock!;
  if (kind !== "control") return KINDS[kind]!;
  if (/^(Parallel|Concurrent)/.test(type)) return KINDS.Parallel!;
  if (/Sequence|^Try$/.test(type)) return KINDS.Sequence!;
  return KINDS[/Fallback|Selector/.test(type) ? "Fallback" : "control"]!;
}

export function markGlyph(mark: Mark): Glyph {
  return MARKS[mark];
}

const paths = new Map<string, Path2D>();

/** Draws a shape with its upper left corner at a point; the colour is the context's. */
export function drawGlyph(
  context: CanvasRenderingContext2D, glyph: Glyph, x: number, y: number, size = 14,
): void {
  if (glyph.path === "") return;
  let path = paths.get(glyph.path);
  if (path === undefined) paths.set(glyph.path, (path = new Path2D(glyph.path)));
  context.save();
  context.translate(x, y);
  context.scale(size / 14, size / 14);
  context.setLineDash(glyph.dash ?? []);
  context.lineWidth = glyph.width ?? 1;
  if (glyph.fill) context.fill(path);
  else context.stroke(path);
  context.restore();
}
