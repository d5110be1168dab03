// SPDX-License-Identifier: Apache-2.0
import type { Channel, Console, Goal, GridMap } from "../../store";
import { watchTheme } from "../scene3d/palette";
import { fitted, panned, toCanvas, toMap, zoomed, type Camera, type Size } from "./camera";
import { cellsOf, pixelsOf, rgb } from "./grid";
import { ARROW, paint, type Ink } from "./paint";
import { compose, frameIn, inverse, planarOf, spatial, type Planar } from "./planar";

const SHOWN: readonly Channel[] = [
  "map", "route", "path", "localization", "regions", "people", "transforms", "preview",
];
const STILL = 4;
/** [px] around the goal's handles in which they are taken hold of. */
const GRIP = 16;
const STEP = 40;

type Hold = "map" | "goal" | "heading";

/** The map on a canvas: pan, zoom, and a goal that is set by a click and dragged. */
export class Sheet {
  readonly canvas = document.createElement("canvas");
  /** Is called with the place [m] that was clicked, in the map's frame. */
  clicked: (frame: string, x: number, y: number) => void = () => {};
  private readonly stops: (() => void)[];
  private readonly watcher: ResizeObserver;
  private picture: HTMLCanvasElement | null = null;
  private cells: { map: GridMap; cells: Uint8Array } | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 20 };
  private fits = true;
  private asked = 0;
  private frames = 0;
  private held: { what: Hold; x: number; y: number; moved: boolean } | null = null;

  constructor(private readonly host: HTMLElement, private readonly console: Console) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", "Map: arrows move it, plus and minus zoom, 0 shows all");
    host.append(this.canvas);
    const draw = () => this.request();
    this.stops = [
      ...SHOWN.map((name) => console.subscribe(name, draw)),
      console.subscribe("map", () => void this.unpack()),
      console.goal.subscribe(draw), console.selection.subscribe(draw),
      watchTheme(() => {
        this.repaint();
        draw();
      }),
    ];
    this.watcher = new ResizeObserver(draw);
    this.watcher.observe(host);
    this.canvas.addEventListener("pointerdown", this.onDown);
    this.canvas.addEventListener("pointermove", this.onMove);
    this.canvas.addEventListener("pointerup", this.onUp);
    this.canvas.addEventListener("wheel", this.onWheel, { passive: false });
    this.canvas.addEventListener("keydown", this.onKey);
    void this.unpack();
    draw();
  }

  /** Shows the map as a whole. */
  fit(): void {
    this.fits = true;
    this.request();
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.watcher.disconnect();
    cancelAnimationFrame(this.asked);
    this.asked = -1;
    this.canvas.remove();
  }

  private request(): void {
    if (this.asked === 0) this.asked = requestAnimationFrame(() => this.draw());
  }

  private get size(): Size {
    return { width: this.host.clientWidth, height: this.host.clientHeight };
  }

  private draw(): void {
    this.asked = 0;
    const { size } = this;
    const context = this.canvas.getContext("2d");
    if (context === null || size.width === 0) return;
    const density = Math.min(devicePixelRatio, 2);
    const [width, height] = [Math.round(size.width * density), Math.round(size.height * density)];
    if (this.canvas.width !== width || this.canvas.height !== height)
      Object.assign(this.canvas, { width, height });
    const { channels, goal, selection } = this.console;
    const map = channels.current("map");
    if (this.fits && map !== undefined) this.camera = whole(size, map);
    context.setTransform(density, 0, 0, density, 0, 0);
    const people = channels.current("people");
    const previewed = channels.current("preview")?.path ?? [];
    paint(context, size, this.camera, {
      map, picture: this.picture, people, route: channels.current("route"),
      path: channels.current("path"),
      previewed: map === undefined ? undefined : { frame: map.frame, points: previewed },
      localization: channels.current("localization"),
      regions: channels.current("regions"), transforms: channels.current("transforms"),
      goal: goal.get(), selected: selection.get().object,
    }, this.ink());
    this.frames += 1;
    Object.assign(this.host.dataset, {
      frames: this.frames, people: people?.poses.length ?? 0,
      cells: this.cells === null ? 0 : this.cells.cells.length,
    });
  }

  private ink(): Ink {
    // Of the page: a panel that is not shown yet has no style of its own.
    const style = getComputedStyle(this.host.ownerDocument.documentElement);
    return (name) => style.getPropertyValue(name).trim() || "#888888";
  }

  /** Takes over the cells of a new map. */
  private async unpack(): Promise<void> {
    const map = this.console.channels.current("map");
    if (map === undefined || map.cells.length === 0) {
      this.cells = this.picture = null;
      return;
    }
    try {
      const cells = await cellsOf(map);
      if (this.console.channels.current("map") !== map) return; // a newer one came meanwhile
      this.cells = { map, cells };
      this.host.dataset.problem = "";
    } catch (error) {
      this.cells = null;
      this.host.dataset.problem = error instanceof Error ? error.message : String(error);
    }
    this.repaint();
    this.request();
  }

  /** Makes the picture of the cells in the theme's colours. */
  private repaint(): void {
    this.picture = null;
    if (this.cells === null || this.asked === -1) return;
    const { map, cells } = this.cells;
    const ink = this.ink();
    const colors = {
      free: rgb(ink("--panel")), occupied: rgb(ink("--quiet")), unknown: rgb(ink("--line")),
    };
    const picture = document.createElement("canvas");
    Object.assign(picture, { width: map.width, height: map.height });
    const pixels = pixelsOf(cells, map.width, map.height, colors);
    picture.getContext("2d")?.putImageData(new ImageData(pixels, map.width, map.height), 0, 0);
    this.picture = picture;
  }

  /** The goal in the map's frame, if it is one on the ground. */
  private goalHere(): { goal: Goal; at: Planar; stand: Planar } | null {
    const goal = this.console.goal.get();
    const map = this.console.channels.current("map");
    if (goal === null || !goal.flat) return null;
    const transforms = this.console.channels.current("transforms");
    const stand = frameIn(map?.frame ?? goal.frame, goal.frame, transforms);
    return { goal, at: compose(stand, planarOf(goal.pose)), stand };
  }

  private grip(x: number, y: number): Hold {
    const here = this.goalHere();
    if (here === null) return "map";
    const [left, top] = toCanvas(this.camera, this.size, here.at);
    const tip = [left + ARROW * Math.cos(here.at[2]), top - ARROW * Math.sin(here.at[2])] as const;
    if (Math.hypot(x - tip[0], y - tip[1]) < GRIP) return "heading";
    return Math.hypot(x - left, y - top) < GRIP ? "goal" : "map";
  }

  private dragGoal(what: Hold, x: number, y: number): void {
    const here = this.goalHere();
    if (here === null) return;
    const place = toMap(this.camera, this.size, [x, y]);
    const at: Planar = what === "goal"
      ? [place[0], place[1], here.at[2]]
      : [here.at[0], here.at[1], Math.atan2(place[1] - here.at[1], place[0] - here.at[0])];
    const pose = spatial(compose(inverse(here.stand), at));
    this.console.goal.set({ ...here.goal, pose });
  }

  private point(event: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private readonly onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const [x, y] = this.point(event);
    this.held = { what: this.grip(x, y), x, y, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  };

  private readonly onMove = (event: PointerEvent) => {
    if (this.held === null) return;
    const [x, y] = this.point(event);
    const { held } = this;
    held.moved ||= Math.hypot(x - held.x, y - held.y) > STILL;
    if (!held.moved) return;
    if (held.what === "map") {
      this.move(panned(this.camera, x - held.x, y - held.y));
      Object.assign(held, { x, y });
    } else this.dragGoal(held.what, x, y);
  };

  private readonly onUp = (event: PointerEvent) => {
    const { held } = this;
    this.held = null;
    if (held === null || held.moved || held.what !== "map") return;
    const map = this.console.channels.current("map");
    if (map === undefined) return;
    if (this.goalHere() !== null) this.dragGoal("goal", ...this.point(event));
    else this.clicked(map.frame, ...toMap(this.camera, this.size, this.point(event)));
  };

  private readonly onWheel = (event: WheelEvent) => {
    event.preventDefault();
    this.move(zoomed(this.camera, this.size, this.point(event), Math.exp(-event.deltaY / 400)));
  };

  private readonly onKey = (event: KeyboardEvent) => {
    const { size, camera } = this;
    const middle = [size.width / 2, size.height / 2];
    const moves: Record<string, () => Camera> = {
      ArrowLeft: () => panned(camera, STEP, 0), ArrowRight: () => panned(camera, -STEP, 0),
      ArrowUp: () => panned(camera, 0, STEP), ArrowDown: () => panned(camera, 0, -STEP),
      "+": () => zoomed(camera, size, middle, 1.25), "-": () => zoomed(camera, size, middle, 0.8),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0") this.fit();
    else if (moves[event.key] !== undefined) this.move(moves[event.key]!());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private move(camera: Camera): void {
    this.fits = false;
    this.camera = camera;
    this.request();
  }
}

/** The camera that shows all of a map. */
function whole(size: Size, map: GridMap): Camera {
  const [width, height] = [map.width * map.resolution, map.height * map.resolution];
  const origin = planarOf(map.origin);
  const corners = [[0, 0], [width, 0], [0, height], [width, height]]
    .map(([x, y]) => compose(origin, [x!, y!, 0]));
  const [xs, ys] = [corners.map((each) => each[0]), corners.map((each) => each[1])];
  return fitted(
    size, [Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)],
  );
}
