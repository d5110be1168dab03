// SPDX-License-Identifier: Apache-2.0
import { FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS } from "../../store";
import { barsOf, type Bars } from "./bars";
import type { Palette } from "./palette";
import type { Band, Mark, Row } from "./rows";
import type { TimeWindow } from "./window";
import { durationText, stepOf, timeText } from "./window";

export const AXIS = 24;
export const ROW = 20;
const INSET = 3;
/** [px] Bars from this width bear a sign, and a text. */
const SIGN = 15;
const TEXT = 58;

/** What is drawn. */
export interface Picture {
  width: number;
  height: number;
  /** [px] of the names' column. */
  names: number;
  /** [px] that the rows are scrolled by. */
  scroll: number;
  window: TimeWindow;
  rows: readonly Row[];
  palette: Palette;
  /** The moment shown; null: live. */
  at: number | null;
  now: number;
  selectedNode: number | null;
  /** Row that the keyboard is on; -1: none. */
  focusedRow: number;
}

/** [px] of a time. */
export function xOf(picture: Picture, t: number): number {
  const { window, names, width } = picture;
  return names + ((t - window.from) / window.length) * (width - names);
}

/** Draws the timeline. Of what is narrower than a pixel as much is drawn as can be seen. */
export function draw(context: CanvasRenderingContext2D, picture: Picture): void {
  const { width, height, names, palette, rows, scroll } = picture;
  context.textBaseline = "middle";
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, height);
  const first = Math.max(0, Math.floor(scroll / ROW));
  const last = Math.min(rows.length, Math.ceil((scroll + height - AXIS) / ROW));
  context.save();
  clip(context, 0, AXIS, width, height - AXIS);
  drawGrounds(context, picture, first, last);
  clip(context, names, AXIS, width - names, height - AXIS);
  drawGrid(context, picture);
  for (let index = first; index < last; index += 1) drawRow(context, picture, rows[index]!, yOf(picture, index));
  context.restore();
  context.save();
  clip(context, 0, AXIS, names, height - AXIS);
  for (let index = first; index < last; index += 1) drawName(context, picture, rows[index]!, yOf(picture, index));
  context.restore();
  drawAxis(context, picture);
  drawNow(context, picture);
}

function yOf(picture: Picture, index: number): number {
  return AXIS + index * ROW - picture.scroll;
}

function clip(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
}

function drawGrounds(context: CanvasRenderingContext2D, picture: Picture, first: number, last: number): void {
  const { palette, rows, width, selectedNode, focusedRow } = picture;
  for (let index = first; index < last; index += 1) {
    const row = rows[index]!;
    const selected = row.kind === "lane" && row.lane.uid === selectedNode;
    if (!selected && index !== focusedRow) continue;
    context.fillStyle = selected ? palette.selected : palette.hover;
    context.fillRect(0, yOf(picture, index), width, ROW);
  }
}

function lines(picture: Picture): { times: number[]; step: number } {
  const { window, width, names } = picture;
  const step = stepOf(window.length, Math.max((width - names) / 90, 2));
  const times = [];
  for (let n = Math.ceil(window.from / step); n * step <= window.to; n += 1) times.push(n * step);
  return { times, step };
}

function drawGrid(context: CanvasRenderingContext2D, picture: Picture): void {
  context.fillStyle = picture.palette.line;
  for (const t of lines(picture).times)
    context.fillRect(Math.round(xOf(picture, t)), AXIS, 1, picture.height);
}

function drawAxis(context: CanvasRenderingContext2D, picture: Picture): void {
  const { palette, width, names } = picture;
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS - 1, width, 1);
  context.save();
  clip(context, names, 0, width - names, AXIS);
  context.font = `11px ${palette.font}`;
  context.fillStyle = palette.quiet;
  const { times, step } = lines(picture);
  for (const t of times) context.fillText(timeText(t, step), xOf(picture, t) + 4, AXIS / 2);
  context.restore();
}

function drawName(context: CanvasRenderingContext2D, picture: Picture, row: Row, y: number): void {
  const { palette, names } = picture;
  const heading = row.kind !== "lane";
  const runs = row.kind === "lane" && row.lane.length > 0 && row.lane.ends[row.lane.length - 1] === Infinity;
  if (runs) {
    context.fillStyle = palette.running;
    context.fillRect(0, y + 2, 3, ROW - 4);
  }
  context.font = `${heading || runs ? "600 " : ""}12px ${palette.font}`;
  context.fillStyle = heading ? palette.quiet : palette.text;
  context.fillText(fitting(context, row.title, names - 16), 8, y + ROW / 2 + 0.5);
}

const WIDTHS = new Map<string, string>();

/** As much of a text as there is room for. */
function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
  const key = `${context.font}|${room}|${text}`;
  let kept = WIDTHS.get(key);
  if (kept === undefined) {
    kept = text.slice(0, 200);
    while (kept.length > 1 && context.measureText(kept).width > room)
      kept = `${kept.slice(0, Math.max(1, Math.floor(kept.length * 0.9) - 1))}…`;
    if (WIDTHS.size > 2000) WIDTHS.clear();
    WIDTHS.set(key, kept);
  }
  return kept;
}

function drawRow(context: CanvasRenderingContext2D, picture: Picture, row: Row, y: number): void {
  if (row.kind === "lane") drawLane(context, picture, row, y);
  else if (row.kind === "bands") for (const band of row.bands) drawBand(context, picture, band, y);
  else drawMarks(context, picture, row.marks, y, row.title);
}

function drawLane(context: CanvasRenderingContext2D, picture: Picture, row: Row & { kind: "lane" }, y: number): void {
  const { window, now, names, width, palette } = picture;
  const bars = barsOf(row.lane, window.from, window.to, now, (width - names) / window.length);
  drawHeaps(context, picture, row, bars, y);
  for (let index = 0; index < bars.length; index += 1)
    if (bars.counts[index] === 1) drawBar(context, picture, row, bars, index, y);
  if (row.condition) return;
  context.fillStyle = palette.failure;
  for (const x of bars.failures) context.fillRect(names + x, y + 1, 2, ROW - 2);
}

/** Bars of several that nobody could tell apart: lower, so that it is seen that there is more within. */
function drawHeaps(context: CanvasRenderingContext2D, picture: Picture, row: Row & { kind: "lane" }, bars: Bars, y: number): void {
  const { names, palette } = picture;
  context.fillStyle = row.condition ? palette.neutral : palette.success;
  context.globalAlpha = 0.55;
  for (let index = 0; index < bars.length; index += 1)
    if (bars.counts[index]! > 1)
      context.fillRect(names + bars.lefts[index]!, y + INSET + 3, Math.max(bars.rights[index]! - bars.lefts[index]!, 2), ROW - 2 * INSET - 6);
  context.globalAlpha = 1;
}

function drawBar(
  context: CanvasRenderingContext2D, picture: Picture, row: Row & { kind: "lane" }, bars: Bars, index: number, y: number,
): void {
  const { names, palette } = picture;
  const left = names + bars.lefts[index]!;
  const wide = Math.max(bars.rights[index]! - bars.lefts[index]!, 2);
  const top = y + INSET;
  const high = ROW - 2 * INSET;
  const status = bars.statuses[index]!;
  const color = status === FAILURE && row.condition ? palette.neutral : colorOf(palette, status);
  context.fillStyle = color;
  if (status === IDLE || status === SKIPPED || (status === FAILURE && row.condition)) {
    context.strokeStyle = color;
    context.setLineDash(status === FAILURE ? [] : [3, 2]);
    context.strokeRect(left + 0.5, top + 1.5, Math.max(wide - 1, 1), high - 3);
    context.setLineDash([]);
  } else if (status === FAILURE) context.fillRect(left, y + 1, wide, ROW - 2); // the tallest: seen from afar
  else context.fillRect(left, top, wide, high);
  if (wide >= SIGN) drawSign(context, picture, status, left + 8, y + ROW / 2, row.condition);
  if (wide >= TEXT) {
    const span = bars.spans[index]!;
    const lasted = Math.min(row.lane.ends[span]!, picture.now) - row.lane.begins[span]!;
    context.font = `11px ${palette.font}`;
    context.fillStyle = status === IDLE || status === SKIPPED || row.condition && status === FAILURE ? palette.text : palette.panel;
    context.fillText(fitting(context, durationText(Math.max(lasted, 0)), wide - 20), left + 17, y + ROW / 2 + 0.5);
  }
}

function colorOf(palette: Palette, status: number): string {
  if (status === RUNNING) return palette.running;
  if (status === SUCCESS) return palette.success;
  return status === FAILURE ? palette.failure : palette.neutral;
}

/** The status by its shape: check, cross, or an arrow for what runs. */
function drawSign(context: CanvasRenderingContext2D, picture: Picture, status: number, x: number, y: number, condition: boolean): void {
  if (status === IDLE || status === SKIPPED) return;
  const { palette } = picture;
  context.strokeStyle = status === FAILURE && condition ? palette.neutral : palette.panel;
  context.lineWidth = 1.8;
  context.beginPath();
  if (status === SUCCESS) {
    context.moveTo(x - 3.5, y); context.lineTo(x - 1, y + 2.5); context.lineTo(x + 3.5, y - 2.5);
  } else if (status === FAILURE) {
    context.moveTo(x - 3, y - 3); context.lineTo(x + 3, y + 3);
    context.moveTo(x + 3, y - 3); context.lineTo(x - 3, y + 3);
  } else {
    context.moveTo(x - 2, y - 3.5); context.lineTo(x + 2.5, y); context.lineTo(x - 2, y + 3.5);
  }
  context.stroke();
  context.lineWidth = 1;
}

function drawBand(context: CanvasRenderingContext2D, picture: Picture, band: Band, y: number): void {
  const { palette, names, width, window, now } = picture;
  const end = Math.min(band.end, Math.max(now, band.begin));
  if (end < window.from || band.begin > window.to) return;
  const left = Math.max(xOf(picture, band.begin), names - 4);
  const wide = Math.max(Math.min(xOf(picture, end), width + 4) - left, 2);
  const color = band.look === "quiet" ? palette.neutral : palette[band.look];
  context.fillStyle = color;
  context.globalAlpha = 0.16;
  context.fillRect(left, y + 2, wide, ROW - 4);
  context.globalAlpha = 1;
  context.fillRect(left, y + 2, 3, ROW - 4);
  if (wide < 34) return;
  context.font = `12px ${palette.font}`;
  context.fillStyle = palette.text;
  context.fillText(fitting(context, band.text, Math.floor(wide - 14)), left + 8, y + ROW / 2 + 0.5);
}

function drawMarks(context: CanvasRenderingContext2D, picture: Picture, marks: readonly Mark[], y: number, title: string): void {
  const { palette, window } = picture;
  let last = -Infinity;
  context.lineWidth = 2;
  for (const mark of marks) {
    if (mark.t < window.from || mark.t > window.to) continue;
    const x = xOf(picture, mark.t);
    if (x - last < 3) continue;
    last = x;
    const middle = y + ROW / 2;
    context.strokeStyle = title === "Faults" ? palette.failure : title === "Edits" ? palette.accent : palette.neutral;
    context.beginPath();
    if (title === "Faults") {
      context.moveTo(x - 4, middle - 4); context.lineTo(x + 4, middle + 4);
      context.moveTo(x + 4, middle - 4); context.lineTo(x - 4, middle + 4);
    } else if (title === "Edits") {
      context.moveTo(x, middle - 5); context.lineTo(x + 5, middle); context.lineTo(x, middle + 5); context.lineTo(x - 5, middle); context.closePath();
    } else {
      context.moveTo(x, middle - 5); context.lineTo(x, middle + 5);
    }
    context.stroke();
  }
  context.lineWidth = 1;
}

/** The line of what happens now, and that of the moment that is shown. */
function drawNow(context: CanvasRenderingContext2D, picture: Picture): void {
  const { palette, at, now, height, names, width } = picture;
  const x = xOf(picture, now);
  if (x >= names && x <= width) {
    context.fillStyle = palette.accent;
    context.fillRect(Math.round(x), AXIS - 6, 1, height);
  }
  if (at === null) return;
  const moment = Math.round(xOf(picture, at));
  if (moment < names - 1 || moment > width) return;
  context.fillStyle = palette.amber;
  context.fillRect(moment - 1, 0, 2, height);
  const text = timeText(at, 0.001);
  context.font = `600 11px ${palette.font}`;
  const wide = context.measureText(text).width + 10;
  const left = Math.min(Math.max(moment - wide / 2, names), width - wide);
  context.fillRect(left, 2, wide, AXIS - 6);
  context.fillStyle = palette["on-amber"];
  context.fillText(text, left + 5, AXIS / 2 - 0.5);
}
