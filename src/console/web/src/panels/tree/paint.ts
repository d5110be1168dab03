// SPDX-License-Identifier: Apache-2.0
// Draws a tree: groups, edges, cards; what is far away as tiles.
import { FAILURE, RUNNING, SKIPPED, SUCCESS, type StatusCode } from "../../store";
import type { Colours } from "./colours";
import { CARD_WIDTH, CHIP_HEIGHT, LINE_HEIGHT, linesOf, NAME_HEIGHT, PADDING } from "./geometry";
import { drawGlyph, kindGlyph, markGlyph, markOf, type Mark } from "./glyphs";
import { GROUP_MARGIN, type Direction } from "./layout";
import type { Card, TreeModel } from "./model";
import type { States } from "./states";
import { Clipper, duration } from "./text";
import { READABLE, type Box, type Size, type View } from "./view";

/** All that a drawing depends on. */
export interface Picture {
  model: TreeModel;
  states: States;
  /** Indices of the shown cards, and where they stand. */
  shown: readonly number[];
  places: ReadonlyMap<number, number>;
  /** Place of the card above each; -1: none is shown. */
  parents: Int32Array;
  x: Float32Array;
  y: Float32Array;
  heights: Float32Array;
  groups: readonly { index: number; box: Box }[];
  direction: Direction;
  selected: number;
  hovered: number;
  /** Cards that a search found; null: nobody searches. */
  hits: ReadonlySet<number> | null;
  /** Why cards failed last. */
  reasons: ReadonlyMap<number, string>;
  /** Paths before which the run stops, and of leaves that wait. */
  breakpoints: ReadonlySet<string>;
  held: ReadonlySet<string>;
  /** What runs in a closed card. */
  inside: ReadonlyMap<number, number>;
  /** Other editors' selections: card and their names. */
  others: ReadonlyMap<number, string>;
  /** Where what is dragged would land. */
  drop: Drop | null;
  /** The moment that is shown [s]. */
  now: number;
}

/** A place between the children of a card. */
export interface Drop {
  parent: number;
  /** Child before which it would land; -1: behind all. */
  before: number;
}

/** Scale below which cards are tiles. */
export const TILES = 0.28;
const FADE = 1;
const RADIUS = 5;
const DASH = 12;

interface Brush {
  context: CanvasRenderingContext2D;
  picture: Picture;
  colours: Colours;
  clipper: Clipper;
  /** Part of the tree that is on the screen. */
  sight: Box;
  scale: number;
  /** Texts of the cards by font: a context takes longer to change fonts than to write. */
  texts: Map<string, Line[]>;
}

interface Line {
  text: string;
  x: number;
  y: number;
  fill: string;
  align: CanvasTextAlign;
  alpha: number;
}

export class Painter {
  private readonly clipper: Clipper;

  constructor(private readonly context: CanvasRenderingContext2D) {
    this.clipper = new Clipper((text, font) => {
      context.font = font;
      return context.measureText(text).width;
    });
  }

  /** Draws the picture; `ratio`: device pixels per pixel. Returns how many cards are in sight. */
  paint(picture: Picture, view: View, size: Size, ratio: number, colours: Colours): number {
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, size.width, size.height);
    context.setTransform(
      ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y,
    );
    const { scale } = view;
    const sight = {
      x: -view.x / scale, y: -view.y / scale, width: size.width / scale, height: size.height / scale,
    };
    const brush = { context, picture, colours, clipper: this.clipper, sight, scale, texts: new Map() };
    paintGroups(brush);
    paintEdges(brush);
    const seen = inSight(picture, sight);
    if (scale < TILES) paintTiles(brush, seen);
    else for (const place of seen) paintCard(brush, place);
    paintLines(brush);
    if (scale >= TILES) paintArcs(brush, seen);
    paintFrames(brush, seen);
    paintDrop(brush);
    return seen.length;
  }
}

/** Places of the shown cards that a box touches. */
export function inSight({ shown, x, y, heights }: Picture, sight: Box): number[] {
  const [right, bottom] = [sight.x + sight.width, sight.y + sight.height];
  const found: number[] = [];
  for (let place = 0; place < shown.length; place++)
    if (x[place]! < right && x[place]! + CARD_WIDTH > sight.x
        && y[place]! < bottom && y[place]! + heights[place]! > sight.y) found.push(place);
  return found;
}

/** The shown card at a point of the tree, and whether the point is on its knob. */
export function cardAt(picture: Picture, x: number, y: number): { index: number; knob: boolean } | null {
  const margin = KNOB + 4;
  for (const place of inSight(picture, { x: x - margin, y: y - margin, width: 2 * margin, height: 2 * margin })) {
    const card = picture.model.cards[picture.shown[place]!]!;
    const knob = knobOf(picture, place);
    if (card.children.length > 0 && Math.hypot(x - knob.x, y - knob.y) <= margin)
      return { index: card.index, knob: true };
    const [left, top] = [picture.x[place]!, picture.y[place]!];
    if (x >= left && x <= left + CARD_WIDTH && y >= top && y <= top + picture.heights[place]!)
      return { index: card.index, knob: false };
  }
  return null;
}

const KNOB = 7;

function knobOf({ x, y, heights, direction }: Picture, place: number): { x: number; y: number } {
  return direction === "right"
    ? { x: x[place]! + CARD_WIDTH, y: y[place]! + heights[place]! / 2 }
    : { x: x[place]! + CARD_WIDTH / 2, y: y[place]! + heights[place]! };
}

function touches(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && a.x + a.width > b.x && a.y < b.y + b.height && a.y + a.height > b.y;
}

function paintGroups({ context, picture, colours, sight, scale }: Brush): void {
  for (const { index, box } of picture.groups) {
    if (!touches(box, sight)) continue;
    const runs = picture.states.of(index) === RUNNING;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, RADIUS + GROUP_MARGIN);
    context.globalAlpha = 0.5;
    context.fillStyle = colours.panel;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = (runs ? 1.6 : 1) / Math.min(1, scale * 1.6);
    context.strokeStyle = runs ? colours.running : colours.line;
    context.stroke();
  }
}

function paintEdges({ context, picture, colours, sight, scale }: Brush): void {
  const quiet = new Path2D();
  const busy = new Path2D();
  const { states, shown, parents, direction, x, y, heights } = picture;
  const right = direction === "right";
  const [across, along] = right ? [CARD_WIDTH, 0.5] : [CARD_WIDTH / 2, 1];
  const [toX, toY] = right ? [0, 0.5] : [CARD_WIDTH / 2, 0];
  const [lastX, lastY] = [sight.x + sight.width, sight.y + sight.height];
  // Thousands, most of them out of sight: numbers only, no objects.
  for (let place = 0; place < shown.length; place++) {
    const from = parents[place]!;
    if (from < 0) continue;
    const [x1, y1] = [x[from]! + across, y[from]! + heights[from]! * along];
    const [x2, y2] = [x[place]! + toX, y[place]! + heights[place]! * toY];
    if (x1 > lastX && x2 > lastX || y1 > lastY && y2 > lastY) continue;
    if (x1 < sight.x && x2 < sight.x || y1 < sight.y && y2 < sight.y) continue;
    edge(states.of(shown[place]!) === RUNNING ? busy : quiet, x1, y1, x2, y2, right, scale);
  }
  context.setLineDash([]);
  context.strokeStyle = colours["strong-line"];
  context.lineWidth = 1 / Math.min(1, scale * 2);
  context.globalAlpha = scale < TILES ? 0.45 : 0.7;
  context.stroke(quiet);
  context.globalAlpha = 1;
  context.strokeStyle = colours.running;
  context.lineWidth = 3 / Math.min(1, scale * 1.4);
  context.stroke(busy);
  if (scale < TILES) return;
  context.strokeStyle = colours.ground;
  context.lineWidth = 1.4;
  context.setLineDash([DASH / 3, (2 * DASH) / 3]);
  context.lineDashOffset = -((picture.now * 24) % DASH);
  context.stroke(busy);
  context.setLineDash([]);
}

/** One edge with two corners; far away a straight line. */
function edge(
  path: Path2D, x1: number, y1: number, x2: number, y2: number, right: boolean, scale: number,
): void {
  path.moveTo(x1, y1);
  if (scale < 0.12) return path.lineTo(x2, y2);
  if (right) {
    const middle = (x1 + x2) / 2;
    path.lineTo(middle, y1);
    path.lineTo(middle, y2);
  } else {
    const middle = y2 - 20;
    path.lineTo(x1, middle);
    path.lineTo(x2, middle);
  }
  path.lineTo(x2, y2);
}

/** All tiles of one status in one go: thousands of them cost a few calls. */
function paintTiles({ context, picture, colours, scale }: Brush, seen: readonly number[]): void {
  const { model, states, shown, x, y, heights, hits } = picture;
  const grown = scale < 0.05 ? 6 : 0;
  /** What is nearer than that is the same dot of the screen. */
  const dot = 0.5 / scale;
  const fills: Record<Mark, string> = {
    idle: colours.panel, skipped: colours.panel, unmet: colours.panel, success: colours.success,
    failure: colours.failure, running: colours.running, paused: colours.waiting,
    breakpoint: colours.waiting,
  };
  const tiles = new Map<string, number[]>();
  for (const place of seen) {
    const index = shown[place]!;
    const mark = markOf(states.of(index), model.cards[index]!.kind === "condition");
    const key = `${mark}${hits !== null && !hits.has(index) ? "-" : "+"}`;
    const list = tiles.get(key);
    if (list === undefined) tiles.set(key, [place]);
    else list.push(place);
  }
  for (const [key, list] of tiles) {
    const mark = key.slice(0, -1) as Mark;
    context.globalAlpha = key.endsWith("-") ? 0.25 : mark === "success" ? 0.75 : 1;
    context.fillStyle = fills[mark];
    context.strokeStyle = mark === "idle" ? colours.line : colours["strong-line"];
    context.lineWidth = 1 / scale;
    let [lastLeft, lastTop] = [NaN, NaN];
    for (const place of list) {
      const [left, top] = [x[place]! - grown, y[place]! - grown];
      if (Math.abs(left - lastLeft) < dot && Math.abs(top - lastTop) < dot) continue;
      [lastLeft, lastTop] = [left, top];
      const [wide, high] = [CARD_WIDTH + 2 * grown, heights[place]! + 2 * grown];
      context.fillRect(left, top, wide, high);
      if (scale > 0.05 && (mark === "idle" || mark === "unmet" || mark === "skipped"))
        context.strokeRect(left, top, wide, high);
    }
    if (scale > 0.1 && mark !== "idle") paintTileMarks(context, picture, colours, mark, list);
  }
  context.globalAlpha = 1;
}

function paintTileMarks(
  context: CanvasRenderingContext2D, { x, y, heights }: Picture, colours: Colours, mark: Mark,
  list: readonly number[],
): void {
  const filled = mark === "success" || mark === "failure" || mark === "running";
  context.strokeStyle = context.fillStyle = filled ? colours.panel : colours.neutral;
  for (const place of list) {
    const size = Math.min(34, heights[place]! - 4);
    drawGlyph(
      context, markGlyph(mark), x[place]! + (CARD_WIDTH - size) / 2,
      y[place]! + (heights[place]! - size) / 2, size,
    );
  }
}

function paintCard(brush: Brush, place: number): void {
  const { context, picture, colours, scale } = brush;
  const index = picture.shown[place]!;
  const card = picture.model.cards[index]!;
  const [left, top, height] = [picture.x[place]!, picture.y[place]!, picture.heights[place]!];
  const status = picture.states.of(index);
  const mark = markOf(status, card.kind === "condition");
  const colour = colourOf(mark, colours);
  if (picture.hits !== null) context.globalAlpha = picture.hits.has(index) ? 1 : 0.35;
  context.beginPath();
  context.roundRect(left, top, CARD_WIDTH, height, card.kind === "condition" ? 14 : RADIUS);
  context.fillStyle = card.kind === "subtree" ? colours.raised : colours.panel;
  context.fill();
  tint(brush, picture.states, index, mark);
  context.setLineDash(mark === "skipped" ? [4, 3] : []);
  context.lineWidth = mark === "running" ? 2 : card.kind === "subtree" ? 1.6 : 1;
  context.strokeStyle = mark === "idle" ? colours["strong-line"] : colour;
  context.stroke();
  context.setLineDash([]);
  if (card.clause) {
    context.fillStyle = colours.waiting;
    context.fillRect(left - 6, top, 3, height);
  }
  if (mark === "running") {
    context.fillStyle = colours.running;
    context.fillRect(left, top + 3, 4, height - 6);
  }
  if (scale < READABLE * 0.75) paintBigName(brush, card, left, top, height, mark, colour);
  else paintTexts(brush, card, left, top, mark, colour);
  if (card.children.length > 0) paintKnob(brush, card, place);
  context.globalAlpha = 1;
}

/** What runs has a ground of its own, and what has just ended fades. */
function tint({ context, picture, colours }: Brush, states: States, index: number, mark: Mark): void {
  const age = picture.now - states.since[index]!;
  const before = context.globalAlpha;
  if (mark === "running") context.fillStyle = colours["running-ground"];
  else if (mark === "failure") context.fillStyle = colours["failure-ground"];
  else if ((mark === "success" || mark === "unmet") && age >= 0 && age < FADE) {
    context.fillStyle = mark === "success" ? colours.success : colours.neutral;
    context.globalAlpha = before * 0.35 * (1 - age / FADE);
  } else return;
  context.fill();
  context.globalAlpha = before;
}

function colourOf(mark: Mark, colours: Colours): string {
  if (mark === "running" || mark === "success" || mark === "failure") return colours[mark];
  return mark === "paused" || mark === "breakpoint" ? colours.waiting : colours.neutral;
}

/** Between tiles and cards: kind, a large name, the status. */
function paintBigName(
  { context, clipper, colours }: Brush, card: Card, left: number, top: number, height: number,
  mark: Mark, colour: string,
): void {
  context.strokeStyle = context.fillStyle = colour;
  drawGlyph(context, markGlyph(mark), left + CARD_WIDTH - 28, top + height / 2 - 10, 20);
  context.fillStyle = colours.text;
  context.textBaseline = "middle";
  const font = `600 17px ${colours.font}`;
  const text = clipper.clip(card.name, font, CARD_WIDTH - PADDING * 2 - 26);
  context.font = font;
  context.fillText(text, left + PADDING + 2, top + height / 2);
}

function addLine({ texts }: Brush, font: string, line: Line): void {
  const lines = texts.get(font);
  if (lines === undefined) texts.set(font, [line]);
  else lines.push(line);
}

function paintLines({ context, texts }: Brush): void {
  context.textBaseline = "alphabetic";
  for (const [font, lines] of texts) {
    context.font = font;
    for (const { text, x, y, fill, align, alpha } of lines) {
      context.globalAlpha = alpha;
      context.textAlign = align;
      context.fillStyle = fill;
      context.fillText(text, x, y);
    }
  }
  context.globalAlpha = 1;
  context.textAlign = "left";
}

function paintTexts(
  brush: Brush, card: Card, left: number, top: number, mark: Mark, colour: string,
): void {
  const { context, picture, colours, clipper } = brush;
  const lines = linesOf(card);
  context.strokeStyle = context.fillStyle = mark === "idle" ? colours.quiet : colour;
  drawGlyph(context, kindGlyph(card), left + PADDING, top + 7);
  drawGlyph(context, markGlyph(mark), left + CARD_WIDTH - 20, top + 7);
  const write = (
    text: string, font: string, fill: string, x: number, y: number, width: number, align: CanvasTextAlign = "left",
  ) => addLine(brush, font, { text: clipper.clip(text, font, width), x, y, fill, align, alpha: context.globalAlpha });
  const time = mark === "running" && card.children.length === 0
    ? duration(picture.now - picture.states.since[card.index]!) : "";
  const room = CARD_WIDTH - 46 - (time === "" ? 0 : 44);
  write(card.name, `600 13px ${colours.font}`, colours.text, left + 27, top + 19, room);
  if (time !== "") {
    write(time, `12px ${colours.font}`, colours.running, left + CARD_WIDTH - 24, top + 19, 44, "right");
  }
  let y = top + NAME_HEIGHT + 9;
  const small = `12px ${colours.font}`;
  const second = secondLine(picture, card, mark, lines.type);
  if (second !== "") {
    const fill = mark === "failure" && second !== lines.type ? colours.failure : colours.quiet;
    write(second, small, fill, left + 27, y, CARD_WIDTH - 35);
  }
  if (lines.type !== "") y += LINE_HEIGHT;
  for (const port of lines.ports) {
    write(port, `11.5px ${colours.mono}`, colours.quiet, left + 27, y, CARD_WIDTH - 35);
    y += LINE_HEIGHT;
  }
  let x = left + 27;
  for (const chip of lines.chips) {
    const room = Math.min(150, left + CARD_WIDTH - 8 - x);
    const text = clipper.clip(chip, small, room - 10);
    context.font = small;
    const width = context.measureText(text).width + 10;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(x, y - 10, width, CHIP_HEIGHT - 3, 7);
    context.stroke();
    write(chip, small, colours.quiet, x + 5, y + 1, room - 10);
    x += width + 5;
  }
  paintStops(brush, card, left, top);
}

/** Why it failed, or what runs inside of it while it is closed, else its type. */
function secondLine(picture: Picture, card: Card, mark: Mark, type: string): string {
  const inner = picture.inside.get(card.index);
  if (inner !== undefined) return `▸ ${picture.model.cards[inner]!.name}`;
  const reason = mark === "failure" ? picture.reasons.get(card.index) : undefined;
  return reason !== undefined && type !== "" ? reason : type;
}

function paintStops({ context, picture, colours }: Brush, card: Card, left: number, top: number): void {
  context.strokeStyle = context.fillStyle = colours.waiting;
  if (picture.breakpoints.has(card.path)) drawGlyph(context, markGlyph("breakpoint"), left - 9, top + 4, 18);
  if (picture.held.has(card.path)) drawGlyph(context, markGlyph("paused"), left + CARD_WIDTH - 38, top + 7);
}

function paintKnob({ context, picture, colours, clipper }: Brush, card: Card, place: number): void {
  const closed = !card.children.some((child) => picture.places.has(child));
  if (!closed && picture.hovered !== card.index && picture.selected !== card.index) return;
  const { x, y } = knobOf(picture, place);
  const text = closed ? `+${card.children.length}` : "–";
  const font = `600 11px ${colours.font}`;
  const clipped = clipper.clip(text, font, 40);
  context.font = font;
  const width = Math.max(2 * KNOB, context.measureText(clipped).width + 8);
  context.beginPath();
  context.roundRect(x - width / 2, y - KNOB, width, 2 * KNOB, KNOB);
  context.fillStyle = closed ? colours.accent : colours.panel;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = colours.accent;
  context.stroke();
  context.fillStyle = closed ? colours.panel : colours.accent;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(clipped, x, y + 0.5);
  context.textAlign = "left";
}

/** What a child comes after, if not what stands before it: arcs at the edge, with an arrow. */
function paintArcs({ context, picture, colours }: Brush, seen: readonly number[]): void {
  const { model, places, shown, x, y, heights, direction } = picture;
  context.strokeStyle = context.fillStyle = colours.waiting;
  context.lineWidth = 1.5;
  for (const place of seen)
    for (const before of model.cards[shown[place]!]!.after) {
      const from = places.get(before);
      if (from === undefined) continue;
      const right = direction === "right";
      const [a, b] = right
        ? [y[from]! + heights[from]! - 6, y[place]! + 6]
        : [x[from]! + CARD_WIDTH - 10, x[place]! + 10];
      const edge = right ? Math.min(x[from]!, x[place]!) : Math.min(y[from]!, y[place]!);
      const bow = edge - 18 - Math.min(16, Math.abs(b - a) / 12);
      context.beginPath();
      if (right) {
        context.moveTo(x[from]!, a);
        context.bezierCurveTo(bow, a, bow, b, x[place]! - 5, b);
      } else {
        context.moveTo(a, y[from]!);
        context.bezierCurveTo(a, bow, b, bow, b, y[place]! - 5);
      }
      context.stroke();
      const [tipX, tipY] = right ? [x[place]!, b] : [b, y[place]!];
      context.beginPath();
      context.moveTo(tipX, tipY);
      context.lineTo(tipX - (right ? 7 : 4), tipY - (right ? 4 : 7));
      context.lineTo(tipX + (right ? -7 : 4), tipY + (right ? 4 : -7));
      context.fill();
    }
}

/** Frames of what is selected, found, pointed at, and selected by others. */
function paintFrames({ context, picture, colours, scale }: Brush, seen: readonly number[]): void {
  const { shown, x, y, heights, selected, hits, others } = picture;
  const frame = (place: number, colour: string, width: number, distance: number) => {
    context.strokeStyle = colour;
    context.lineWidth = width / Math.min(1, scale * 1.2);
    context.beginPath();
    context.roundRect(
      x[place]! - distance, y[place]! - distance, CARD_WIDTH + 2 * distance,
      heights[place]! + 2 * distance, RADIUS + distance,
    );
    context.stroke();
  };
  for (const place of seen) {
    const index = shown[place]!;
    if (hits?.has(index)) frame(place, colours.waiting, 2, 3);
    const name = others.get(index);
    if (name !== undefined) {
      frame(place, colours.success, 2, 5);
      context.font = `600 11px ${colours.font}`;
      context.fillStyle = colours.success;
      context.textBaseline = "alphabetic";
      context.fillText(name, x[place]! + 4, y[place]! - 8);
    }
    if (index === selected) frame(place, colours.accent, 2.5, 3);
  }
}

/** Where what is dragged would land: a bar between two children, or a frame around the parent. */
function paintDrop({ context, picture, colours }: Brush): void {
  const { drop, places, x, y, heights, direction, model } = picture;
  const parent = drop === null ? undefined : places.get(drop.parent);
  if (drop === null || parent === undefined) return;
  context.strokeStyle = context.fillStyle = colours.accent;
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.strokeRect(x[parent]! - 4, y[parent]! - 4, CARD_WIDTH + 8, heights[parent]! + 8);
  context.setLineDash([]);
  const children = model.cards[drop.parent]!.children;
  const at = places.get(drop.before === -1 ? children.at(-1) ?? -1 : drop.before);
  if (at === undefined) return;
  const behind = drop.before === -1;
  if (direction === "right")
    context.fillRect(x[at]!, behind ? y[at]! + heights[at]! + 3 : y[at]! - 7, CARD_WIDTH, 4);
  else context.fillRect(behind ? x[at]! + CARD_WIDTH + 3 : x[at]! - 7, y[at]!, 4, heights[at]!);
}

/** A whole tree in a small box: what is long and thin is stretched. Screen = tree * scale + offset. */
export interface MapView {
  x: number;
  y: number;
  across: number;
  along: number;
}

export function mapView(bounds: Box, size: Size, margin = 4): MapView {
  const across = (size.width - 2 * margin) / Math.max(1, bounds.width);
  const along = (size.height - 2 * margin) / Math.max(1, bounds.height);
  const most = 3 * Math.min(across, along);
  const [a, b] = [Math.min(across, Math.max(most, 24 / bounds.width)), Math.min(along, Math.max(most, 24 / bounds.height))];
  return {
    across: a, along: b,
    x: (size.width - bounds.width * a) / 2 - bounds.x * a,
    y: (size.height - bounds.height * b) / 2 - bounds.y * b,
  };
}

/** The whole tree in a corner, by status. */
export function paintMap(
  context: CanvasRenderingContext2D, picture: Picture, view: MapView, size: Size, ratio: number,
  colours: Colours,
): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const { shown, states, model, x, y, heights } = picture;
  const layers = ["strong-line", "success", "line", "failure", "running"] as const;
  const places: number[][] = layers.map(() => []);
  for (let place = 0; place < shown.length; place++)
    places[mapLayer(states.of(shown[place]!), model.cards[shown[place]!]!.kind)]!.push(place);
  for (const [layer, name] of layers.entries()) {
    context.fillStyle = colours[name];
    const grown = layer >= 3 ? 1 : 0;
    let [lastX, lastY] = [NaN, NaN];
    for (const place of places[layer]!) {
      const left = x[place]! * view.across + view.x - grown / 2;
      const top = y[place]! * view.along + view.y - grown / 2;
      // Of thousands many are the same dot.
      if (Math.abs(left - lastX) < 0.5 && Math.abs(top - lastY) < 0.5) continue;
      [lastX, lastY] = [left, top];
      context.fillRect(
        left, top,
        Math.max(1, CARD_WIDTH * view.across) + grown, Math.max(1, heights[place]! * view.along) + grown,
      );
    }
  }
}

/** What matters more lies above. */
function mapLayer(status: StatusCode, kind: Card["kind"]): number {
  if (status === RUNNING) return 4;
  if (status === FAILURE && kind !== "condition") return 3;
  return status === SKIPPED ? 2 : status === SUCCESS ? 1 : 0;
}
