// SPDX-License-Identifier: Apache-2.0
import { FAILURE, RUNNING, type StatusCode } from "../../store";
import { barsOf } from "./bars";
import { AXIS, ROW, type Picture } from "./draw";
import type { Row } from "./rows";
import { durationText, timeText } from "./window";

/** [px] by which a pointer may miss. */
const NEAR = 3;

/** What is at a place of the timeline. */
export interface Hit {
  row: Row;
  index: number;
  /** [s] Where to go for it; the pointer's time where there is room to choose. */
  t: number;
  uid: number | null;
  title: string;
  lines: string[];
}

/** The time at a place [s]. */
export function timeAt(picture: Picture, x: number): number {
  const { window, names, width } = picture;
  return window.from + ((x - names) / (width - names)) * window.length;
}

/** Number of the row at a place; -1: there is none. */
export function rowAt(picture: Picture, y: number): number {
  const index = Math.floor((y - AXIS + picture.scroll) / ROW);
  return y >= AXIS && index < picture.rows.length ? index : -1;
}

/** What is under the pointer. */
export function hitAt(picture: Picture, x: number, y: number): Hit | null {
  const index = rowAt(picture, y);
  const row = picture.rows[index];
  if (row === undefined) return null;
  if (x < picture.names) return { ...nameHit(row), index };
  const hit = row.kind === "lane" ? laneHit(picture, row, x)
    : row.kind === "bands" ? bandHit(picture, row, x) : markHit(picture, row, x);
  return hit === null ? null : { ...hit, index };
}

type Found = Omit<Hit, "index">;

function nameHit(row: Row): Found {
  const lane = row.kind === "lane" ? row : null;
  const lines = lane === null ? [] : [lane.type, lane.path].filter((line) => line !== "" && line !== row.title);
  return { row, t: NaN, uid: lane?.lane.uid ?? null, title: row.title, lines };
}

function laneHit(picture: Picture, row: Row & { kind: "lane" }, x: number): Found | null {
  const { window, now, names, width } = picture;
  const bars = barsOf(row.lane, window.from, window.to, now, (width - names) / window.length);
  const at = x - names;
  let best = -1;
  let distance = NEAR;
  for (let index = 0; index < bars.length; index += 1) {
    const away = Math.max(bars.lefts[index]! - at, at - Math.max(bars.rights[index]!, bars.lefts[index]! + 2), 0);
    if (away <= distance && (away < distance || best < 0)) [best, distance] = [index, away];
  }
  if (best < 0) return null;
  const several = bars.counts[best]!;
  const span = bars.spans[best]!;
  const lane = row.lane;
  const begin = lane.begins[span]!;
  const end = Math.min(lane.ends[span]!, now);
  const wide = bars.rights[best]! - bars.lefts[best]! > 8;
  const t = wide ? Math.min(Math.max(timeAt(picture, x), several > 1 ? -Infinity : begin), end) : end;
  const lines = several > 1
    ? [row.type, `${several} times within ${durationText((bars.rights[best]! - bars.lefts[best]!) * window.length / (width - names))}`, "zoom in to tell them apart"]
    : spanLines(row, span, now);
  return { row, t, uid: lane.uid, title: row.title, lines: lines.filter((line) => line !== "") };
}

/** A span in words. */
export function spanLines(row: Row & { kind: "lane" }, span: number, now: number): string[] {
  const { lane } = row;
  const begin = lane.begins[span]!;
  const lasted = Math.max(Math.min(lane.ends[span]!, now) - begin, 0);
  const word = statusWord(lane.status(span), row.condition);
  return [
    row.type, `${word}, ${durationText(lasted)}`, `from ${timeText(begin, 0.001)}`, lane.reasons.get(span) ?? "",
  ];
}

/** A status in words; the leaf of a span that ended IDLE was halted. */
export function statusWord(status: StatusCode, condition: boolean): string {
  if (status === FAILURE) return condition ? "not met" : "failed";
  return status === RUNNING ? "runs" : (["halted", "runs", "succeeded", "failed", "skipped"] as const)[status];
}

function bandHit(picture: Picture, row: Row & { kind: "bands" }, x: number): Found | null {
  const t = timeAt(picture, x);
  const band = row.bands.find((each) => each.begin <= t && t <= Math.min(each.end, Math.max(picture.now, each.begin)));
  if (band === undefined) return null;
  const end = Math.min(band.end, picture.now);
  const lines = [`from ${timeText(band.begin, 0.1)}, ${durationText(Math.max(end - band.begin, 0))}`];
  return { row, t, uid: null, title: band.text, lines };
}

function markHit(picture: Picture, row: Row & { kind: "marks" }, x: number): Found | null {
  const scale = picture.window.length / (picture.width - picture.names);
  const t = timeAt(picture, x);
  const near = row.marks.filter((mark) => Math.abs(mark.t - t) <= (NEAR + 3) * scale);
  const closest = near.sort((a, b) => Math.abs(a.t - t) - Math.abs(b.t - t))[0];
  if (closest === undefined) return null;
  const more = near.length > 1 ? [`and ${near.length - 1} more here: zoom in`] : [];
  const { event } = closest;
  return { row, t: closest.t, uid: event.uid ?? null, title: event.text, lines: [timeText(event.t, 0.001), ...more] };
}
