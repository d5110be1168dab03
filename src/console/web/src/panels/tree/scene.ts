// SPDX-License-Identifier: Apache-2.0
// The tree on the canvas: what is shown where, beside React.
import { Value, type NodeStatus, type Reason } from "../../store";
import { coloursAt, type Colours } from "./colours";
import { CARD_WIDTH } from "./geometry";
import { closedIn, keepClosed, keepDirection, keptDirection } from "./kept";
import { GROUP_MARGIN, type Direction, type Placing } from "./layout";
import { above, below, modelOf, type TreeModel } from "./model";
import { cardAt, inSight, mapView, Painter, paintMap, type Drop, type Picture } from "./paint";
import { Placer } from "./placer";
import { States } from "./states";
import {
  between, centred, filled, fitted, following, READABLE, zoomed, type Box, type Size, type View,
} from "./view";
import { layoutInput, shownCards, shownFor } from "./visible";

/** [ms] between two drawings of what moves by itself: dashes, elapsed times, fading. */
const MOVING = 100;
/** [ms] that a view takes to where it goes. */
const TRAVEL = 180;
/** [ms] between two drawings of the map in the corner, in which a tick is a few pixels. */
const MAP_REST = 300;
/** [s] after a change of a status for which it is still drawn anew. */
const FADING = 1.1;
const MAP_SIZE: Size = { width: 168, height: 104 };
const UNIT: Box = { x: 0, y: 0, width: 1, height: 1 };
const NOTHING: Picture = {
  model: modelOf("", []), states: new States(modelOf("", [])), shown: [], places: new Map(),
  parents: new Int32Array(), x: new Float32Array(), y: new Float32Array(), heights: new Float32Array(), groups: [],
  direction: "right", selected: -1, hovered: -1, hits: null, reasons: new Map(),
  breakpoints: new Set(), held: new Set(), inside: new Map(), others: new Map(), drop: null, now: 0,
};

/** Where the clock stands now [s]. */
export type Clock = () => number;

export class Scene {
  /** What runs now, the latest first; indices of the model. */
  readonly running = new Value<readonly number[]>([]);
  readonly model = new Value<TreeModel>(NOTHING.model);
  readonly direction = new Value<Direction>(keptDirection());
  readonly closed = new Value<ReadonlySet<string>>(new Set());
  readonly follow = new Value(false);
  /** Changes with every change of a status. */
  readonly changed = new Value(0);
  /** Changes whenever cards have another place on the screen. */
  readonly moved = new Value(0);
  /** Whether the machine wants nothing to move by itself. */
  calm = false;
  /** Drawings so far, and how long the last one took [ms]: for measurements. */
  readonly drawn = { count: 0, took: 0, seen: 0 };

  private picture: Picture = NOTHING;
  private view: View = { x: 0, y: 0, scale: 1 };
  private size: Size = { width: 0, height: 0 };
  /** Around all cards that have a place. */
  private bounds: Box = UNIT;
  private travel: { from: View; to: View; begun: number } | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private map: HTMLCanvasElement | null = null;
  private painter: Painter | null = null;
  private colours: Colours | null = null;
  private frame = 0;
  private timer = 0;
  private lastChange = -Infinity;
  private only: ReadonlySet<number> | undefined;
  private anchor: { path: string; x: number; y: number } | null = null;
  private shownNext: readonly number[] = [];
  private fresh = true;
  /** [ms] when the map in the corner is to be drawn anew. */
  private mapDue = -Infinity;
  private mapDrawn = -Infinity;
  private readonly placer: Placer = new Placer((_, placing) => this.arrived(placing));

  constructor(private readonly clock: Clock) {}

  // -- what is shown ----------------------------------------------------------------------------

  /** Another tree, or the same one edited: what can be kept, stays where it is. */
  show(model: TreeModel, statuses: ReadonlyMap<string, NodeStatus>): void {
    const same = model.treeId === this.picture.model.treeId && model.cards.length > 0;
    // One that was never shown as a whole stays to be shown so, although it is the same.
    if (!same) this.fresh = true;
    const states = new States(model);
    states.take(statuses);
    const selected = this.sameCard(this.picture.selected, model);
    this.keepAnchor();
    this.picture = {
      ...this.picture, model, states, selected, hovered: -1, hits: null, shown: [],
      places: new Map(), groups: [], drop: null, others: new Map(), inside: new Map(),
    };
    this.only = undefined;
    if (!same) this.closed.set(closedIn(model.treeId));
    this.model.set(model);
    this.running.set(states.running());
    this.place();
  }

  /** Some statuses have changed, or all of them. */
  takeStatuses(statuses: ReadonlyMap<string, NodeStatus>, uids?: readonly string[]): void {
    const { states } = this.picture;
    if (states.take(statuses, uids)) {
      this.setRunning(states.running());
      this.lookInside();
      this.followRunning();
    }
    this.changed.set(this.changed.get() + 1);
    this.lastChange = performance.now();
    this.mapDue = Math.min(this.mapDue, this.mapDrawn + MAP_REST);
    this.redraw();
  }

  private setRunning(running: readonly number[]): void {
    const before = this.running.get();
    if (running.length === before.length && running.every((index, at) => index === before[at])) return;
    this.running.set(running);
  }

  takeReasons(reasons: ReadonlyMap<string, Reason>): void {
    const found = new Map<number, string>();
    for (const [uid, { text }] of reasons) {
      const index = this.picture.model.byUid.get(Number(uid));
      if (index !== undefined) found.set(index, text);
    }
    this.put({ reasons: found });
  }

  /** Paths before which the run stops, and at which it waits. */
  setStops(breakpoints: ReadonlySet<string>, held: ReadonlySet<string>): void {
    this.put({ breakpoints, held });
  }

  /** Cards that a search has found; null: nobody searches. `only`: what else there is goes. */
  setHits(hits: ReadonlySet<number> | null, only: boolean): void {
    this.put({ hits });
    const wanted = only && hits !== null && hits.size > 0 ? hits : undefined;
    if (wanted === this.only) return;
    this.only = wanted;
    this.keepAnchor();
    this.place();
  }

  setOthers(others: ReadonlyMap<number, string>): void {
    this.put({ others });
  }

  setDrop(drop: Drop | null): void {
    if (drop?.parent !== this.picture.drop?.parent || drop?.before !== this.picture.drop?.before)
      this.put({ drop });
  }

  setDirection(direction: Direction): void {
    this.direction.set(direction);
    keepDirection(direction);
    this.fresh = true;
    this.place();
  }

  /** Closes or opens a card. */
  toggle(index: number): void {
    const card = this.picture.model.cards[index];
    if (card === undefined || card.children.length === 0) return;
    const closed = new Set(this.closed.get());
    if (!closed.delete(card.path)) closed.add(card.path);
    this.keepAnchor(index);
    this.setClosed(closed);
  }

  closeAll(): void {
    const inner = this.picture.model.cards.filter(
      ({ children, kind, depth }) => children.length > 0 && depth > 0 && kind === "subtree",
    );
    this.keepAnchor(0);
    this.setClosed(new Set(inner.map(({ path }) => path)));
  }

  openAll(): void {
    this.keepAnchor();
    this.setClosed(new Set());
  }

  select(index: number): void {
    if (index !== this.picture.selected) this.put({ selected: index });
  }

  get hovered(): number {
    return this.picture.hovered;
  }

  hover(index: number): void {
    if (index !== this.picture.hovered) this.put({ hovered: index });
  }

  get selected(): number {
    return this.picture.selected;
  }

  /** The moment that is shown [s]. */
  now(): number {
    return this.clock();
  }

  get states(): States {
    return this.picture.states;
  }

  // -- where it is shown ------------------------------------------------------------------------

  zoom(factor: number, x: number, y: number): void {
    this.setView(zoomed(this.goal(), factor, x, y));
  }

  pan(dx: number, dy: number): void {
    const view = this.goal();
    this.setView({ ...view, x: view.x + dx, y: view.y + dy });
  }

  /** Shows the whole tree. */
  fit(): void {
    this.go(fitted(this.bounds, this.size));
  }

  /** Opens what is closed around a card and brings it to the middle. */
  reveal(index: number): void {
    const { model } = this.picture;
    if (model.cards[index] === undefined) return;
    const around = above(model, index).slice(1).map((each) => model.cards[each]!.path);
    const closed = new Set(this.closed.get());
    const hidden = around.filter((path) => closed.delete(path)).length > 0;
    if (hidden) {
      this.goTo = index;
      this.setClosed(closed);
      return;
    }
    const box = this.box(index);
    if (box !== null) this.go(this.around(box, this.goal()));
  }

  /** Shows a card that was selected elsewhere: where it is, if that is on the screen. */
  bring(index: number): void {
    if (!this.isSeen(index)) this.reveal(index);
  }

  /** Brings a card into view, moving no more than it takes. */
  approach(index: number): void {
    const box = this.box(index);
    if (box !== null) this.go(following(this.goal(), box, this.size));
  }

  setFollow(follow: boolean): void {
    this.follow.set(follow);
    if (!follow) return;
    const [leaf] = this.running.get();
    const place = leaf === undefined ? undefined : shownFor(this.picture.model, leaf, this.picture.places);
    const box = place === undefined ? null : this.box(place);
    if (box !== null && this.goal().scale < READABLE) this.go(this.around(box, this.goal()));
    else this.followRunning();
  }

  /** Moves the view so that this point of the minimap is in the middle. */
  goToMapPoint(x: number, y: number): void {
    const view = mapView(this.bounds, MAP_SIZE);
    const [treeX, treeY] = [(x - view.x) / view.across, (y - view.y) / view.along];
    const { scale } = this.goal();
    this.setView({
      scale, x: this.size.width / 2 - treeX * scale, y: this.size.height / 2 - treeY * scale,
    });
  }

  /** The card at a point of the screen. */
  at(x: number, y: number): { index: number; knob: boolean } | null {
    return cardAt(this.picture, (x - this.view.x) / this.view.scale, (y - this.view.y) / this.view.scale);
  }

  /** The card that is nearest to a point of the screen, within reach; -1: none is. */
  near(x: number, y: number): number {
    const { scale } = this.view;
    const reach = 60 / scale;
    const [treeX, treeY] = [(x - this.view.x) / scale, (y - this.view.y) / scale];
    const around = { x: treeX - reach, y: treeY - reach, width: 2 * reach, height: 2 * reach };
    const distances = inSight(this.picture, around).map((place) => {
      const box = this.box(this.picture.shown[place]!)!;
      const dx = Math.max(box.x - treeX, 0, treeX - box.x - box.width);
      const dy = Math.max(box.y - treeY, 0, treeY - box.y - box.height);
      return { index: this.picture.shown[place]!, distance: Math.hypot(dx, dy) };
    });
    return distances.sort((a, b) => a.distance - b.distance)[0]?.index ?? -1;
  }

  /** Where a card is on the screen; null while it is not shown. */
  onScreen(index: number): (Box & { scale: number }) | null {
    const box = this.box(index);
    if (box === null) return null;
    const { scale, x, y } = this.view;
    return {
      x: box.x * scale + x, y: box.y * scale + y, width: box.width * scale,
      height: box.height * scale, scale,
    };
  }

  isOpen(index: number): boolean {
    const card = this.picture.model.cards[index];
    return card !== undefined && card.children.some((each) => this.picture.places.has(each));
  }

  // -- the canvas -------------------------------------------------------------------------------

  /** Draws here from now on, until the function returned is called. */
  attach(canvas: HTMLCanvasElement, map: HTMLCanvasElement): () => void {
    this.canvas = canvas;
    this.map = map;
    const context = canvas.getContext("2d", { alpha: false });
    this.painter = context === null ? null : new Painter(context);
    this.recolour();
    const observer = new ResizeObserver(() => this.resized());
    observer.observe(canvas);
    this.resized();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(this.frame);
      window.clearTimeout(this.timer);
      this.frame = this.timer = 0;
      this.canvas = this.map = null;
      this.painter = null;
    };
  }

  recolour(): void {
    if (this.canvas !== null) this.colours = coloursAt(this.canvas);
    this.mapDue = -Infinity;
    this.redraw();
  }

  close(): void {
    this.placer.close();
  }

  /** Draws with the next frame of the screen. */
  redraw(): void {
    if (this.frame !== 0 || this.painter === null) return;
    this.frame = requestAnimationFrame((time) => {
      this.frame = 0;
      this.draw(time);
    });
  }

  private draw(time: number): void {
    if (this.painter === null || this.colours === null || this.size.width === 0) return;
    this.step(time);
    const began = performance.now();
    this.picture = { ...this.picture, now: this.clock() };
    const ratio = window.devicePixelRatio || 1;
    this.drawn.seen = this.painter.paint(this.picture, this.view, this.size, ratio, this.colours);
    this.drawMap(ratio, began);
    this.drawn.took = performance.now() - began;
    this.drawn.count += 1;
    if (this.travel !== null) this.redraw();
    else this.drawAgain();
  }

  private drawMap(ratio: number, now: number): void {
    const context = this.map?.getContext("2d");
    if (!context || this.map === null || this.colours === null) return;
    const view = mapView(this.bounds, MAP_SIZE);
    if (now >= this.mapDue) {
      paintMap(context, this.picture, view, MAP_SIZE, ratio, this.colours);
      this.mapDue = Infinity;
      this.mapDrawn = now;
    }
    const frame = this.map.nextElementSibling as HTMLElement | null;
    if (frame === null) return;
    const span = (from: number, length: number, scale: number, room: number) => {
      const low = Math.max(0, from);
      const high = Math.min(room, from + length * scale);
      return [low, Math.max(2, high - low)] as const;
    };
    const { x, y, scale } = this.view;
    const [across, along] = [view.across / scale, view.along / scale];
    const [left, width] = span(view.x - x * across, this.size.width, across, MAP_SIZE.width);
    const [top, height] = span(view.y - y * along, this.size.height, along, MAP_SIZE.height);
    Object.assign(frame.style, {
      left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`,
    });
  }

  /** What moves by itself is drawn again after a while, as long as it does. */
  private drawAgain(): void {
    const fades = performance.now() - this.lastChange < FADING * 1000;
    const moves = this.running.get().length > 0 || fades;
    // What is drawn anyway, for a status that has changed, has moved with it.
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (!moves) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      if (document.visibilityState === "visible") this.redraw();
      else this.drawAgain();
    }, this.calm ? 5 * MOVING : MOVING);
  }

  private step(time: number): void {
    if (this.travel === null) return;
    const part = this.calm ? 1 : Math.min(1, Math.max(0, (time - this.travel.begun) / TRAVEL));
    this.view = between(this.travel.from, this.travel.to, part);
    if (part === 1) this.travel = null;
    this.moved.set(this.moved.get() + 1);
  }

  private resized(): void {
    const canvas = this.canvas;
    if (canvas === null) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = window.devicePixelRatio || 1;
    const first = this.size.width === 0 && width > 0;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    this.size = { width, height };
    if (this.map !== null) {
      this.map.width = MAP_SIZE.width * ratio;
      this.map.height = MAP_SIZE.height * ratio;
      this.mapDue = -Infinity;
    }
    if (first && this.picture.shown.length > 0) this.begin();
    this.redraw();
  }

  // -- placing ----------------------------------------------------------------------------------

  /** Card to go to as soon as it has a place. */
  private goTo = -1;

  private setClosed(closed: ReadonlySet<string>): void {
    this.closed.set(closed);
    keepClosed(this.picture.model.treeId, closed);
    this.place();
  }

  private place(): void {
    const { model } = this.picture;
    this.shownNext = shownCards(model, this.closed.get(), this.only);
    this.placer.place(layoutInput(model, this.shownNext, this.direction.get()));
  }

  private arrived({ x, y }: Placing): void {
    const { model } = this.picture;
    const shown = this.shownNext;
    const { heights, parents } = layoutInput(model, shown, this.direction.get());
    const places = new Map(shown.map((index, place) => [index, place]));
    this.picture = {
      ...this.picture, shown, places, parents, x, y, heights, direction: this.direction.get(),
      groups: groupBoxes(model, places, x, y, heights),
    };
    this.bounds = bounding(x, y, heights, [...x.keys()]) ?? UNIT;
    this.lookInside();
    this.mapDue = -Infinity;
    if (this.fresh) this.begin();
    else this.restoreAnchor();
    if (this.goTo >= 0) {
      const index = this.goTo;
      this.goTo = -1;
      this.reveal(index);
    }
    this.moved.set(this.moved.get() + 1);
    this.redraw();
  }

  /** The first view of a tree: the whole if it can be read, else what runs, or the root. */
  private begin(): void {
    if (this.size.width === 0) return;
    this.fresh = false;
    const whole = fitted(this.bounds, this.size);
    this.travel = null;
    this.view = whole;
    const box = this.box(this.running.get()[0] ?? this.picture.selected) ?? this.box(0);
    if (whole.scale >= READABLE || box === null) return;
    if (!this.follow.get() && this.picture.shown.length > 400) return;
    this.view = this.around(box, { ...whole, scale: 0.85 });
  }

  /** Remembers where a card is on the screen, to bring it there again. */
  private keepAnchor(wanted?: number): void {
    const { shown, model, selected } = this.picture;
    const middle = this.at(this.size.width / 2, this.size.height / 2)?.index;
    const index = [wanted, selected, middle, shown[0]].find(
      (each) => each !== undefined && (each === wanted || this.isSeen(each)),
    );
    const box = index === undefined ? null : this.onScreen(index);
    if (index === undefined || box === null) return;
    this.anchor = { path: model.cards[index]!.path, x: box.x, y: box.y };
  }

  private restoreAnchor(): void {
    const { anchor } = this;
    this.anchor = null;
    const index = anchor === null ? undefined : this.picture.model.byPath.get(anchor.path);
    const box = index === undefined ? null : this.onScreen(index);
    if (anchor !== null && box !== null) {
      const { x, y } = this.view;
      this.travel = null;
      this.view = { ...this.view, x: x + anchor.x - box.x, y: y + anchor.y - box.y };
    }
    if (inSight(this.picture, this.sight()).length === 0) this.begin();
  }

  private sameCard(index: number, model: TreeModel): number {
    const path = this.picture.model.cards[index]?.path;
    return (path === undefined ? undefined : model.byPath.get(path)) ?? -1;
  }

  private box(index: number): Box | null {
    const place = this.picture.places.get(index);
    if (place === undefined) return null;
    const { x, y, heights } = this.picture;
    return { x: x[place]!, y: y[place]!, width: CARD_WIDTH, height: heights[place]! };
  }

  /** Whether all of a card is on the screen. */
  private isSeen(index: number): boolean {
    const box = this.onScreen(index);
    return box !== null && box.x >= 0 && box.y >= 0
      && box.x + box.width <= this.size.width && box.y + box.height <= this.size.height;
  }

  /** Part of the tree that is on the screen. */
  private sight(): Box {
    const { x, y, scale } = this.view;
    return { x: -x / scale, y: -y / scale, width: this.size.width / scale, height: this.size.height / scale };
  }

  /** The view with a box as near to the middle as the tree's ends allow. */
  private around(box: Box, view: View): View {
    return filled(centred(view, box, this.size), this.bounds, this.size);
  }

  private goal(): View {
    return this.travel?.to ?? this.view;
  }

  private setView(view: View): void {
    this.travel = null;
    this.view = view;
    this.moved.set(this.moved.get() + 1);
    this.redraw();
  }

  private go(to: View): void {
    if (to === this.view) return;
    this.travel = { from: this.view, to, begun: performance.now() };
    this.redraw();
  }

  private put(part: Partial<Picture>): void {
    this.picture = { ...this.picture, ...part };
    this.redraw();
  }

  private followRunning(): void {
    const [leaf] = this.running.get();
    if (!this.follow.get() || leaf === undefined) return;
    const index = shownFor(this.picture.model, leaf, this.picture.places);
    if (index !== undefined) this.approach(index);
  }

  private lookInside(): void {
    const { model, places } = this.picture;
    const inside = new Map<number, number>();
    for (const leaf of this.running.get()) {
      const shown = shownFor(model, leaf, places);
      if (shown !== undefined && shown !== leaf && !inside.has(shown)) inside.set(shown, leaf);
    }
    this.picture = { ...this.picture, inside };
  }
}

function groupBoxes(
  model: TreeModel, places: ReadonlyMap<number, number>, x: Float32Array, y: Float32Array,
  heights: Float32Array,
): Picture["groups"] {
  const open = model.cards.filter(
    ({ kind, index, children }) =>
      kind === "subtree" && places.has(index) && children.some((each) => places.has(each)),
  );
  return open.map(({ index, nesting }) => {
    const inner = below(model, index).flatMap((each) => places.get(each) ?? []);
    const box = bounding(x, y, heights, inner)!;
    const margin = GROUP_MARGIN * Math.min(nesting, 4);
    return {
      index,
      box: {
        x: box.x - margin, y: box.y - margin, width: box.width + 2 * margin,
        height: box.height + 2 * margin,
      },
    };
  });
}

function bounding(
  x: Float32Array, y: Float32Array, heights: Float32Array, places: readonly number[],
): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const place of places) {
    left = Math.min(left, x[place]!);
    top = Math.min(top, y[place]!);
    right = Math.max(right, x[place]! + CARD_WIDTH);
    bottom = Math.max(bottom, y[place]! + heights[place]!);
  }
  if (places.length === 0) return null;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

