// SPDX-License-Identifier: Apache-2.0
import type {
  Goal, GridMap, Localization, People, Regions, Transform, Way,
} from "../../store";
import { toCanvas, type Camera, type Size } from "./camera";
import { compose, frameIn, planarOf, type Planar } from "./planar";

/** All that the map shows. */
export interface MapState {
  map: GridMap | undefined;
  /** The map's cells as a picture; null while there is none. */
  picture: CanvasImageSource | null;
  route: Way | undefined;
  path: Way | undefined;
  /** The robot's way in a preview [m], in the map's frame. */
  previewed: Way | undefined;
  localization: Localization | undefined;
  regions: Regions | undefined;
  people: People | undefined;
  transforms: ReadonlyMap<string, Transform>;
  goal: Goal | null;
  selected: string | undefined;
}

/** Gives a colour of the theme by its variable's name. */
export type Ink = (name: string) => string;

/** Length of the goal's arrow [px]. */
export const ARROW = 44;
const ROBOT = 0.35;
const PERSON = 0.25;
/** Standard deviations that the robot's ellipse reaches. */
const SIGMAS = 2;
/** Where anybody may drive: its ground stays as it is. */
const NORMAL = "navigable";
/** Height of a line of text, and width of a character [px]. */
const [LINE, CHARACTER] = [15, 6.5];
/** By which a text goes up where others stand already. */
const MOST_LINES = 6;
const FORBIDDEN = new Set(["restricted", "stairs", "roi_obstacle"]);

/** Draws the state into a context of `size`. */
export function paint(
  context: CanvasRenderingContext2D, size: Size, camera: Camera, state: MapState, ink: Ink,
): void {
  const painter = new Painter(context, size, camera, state, ink);
  context.fillStyle = ink("--ground");
  context.fillRect(0, 0, size.width, size.height);
  painter.cells();
  painter.regions();
  painter.way(state.route, "--quiet", 7, []);
  painter.way(state.path, "--running", 2.5, []);
  painter.way(state.previewed, "--accent", 2.5, [8, 6]);
  painter.people();
  painter.robot();
  painter.goal();
}

class Painter {
  private readonly written: { x: number; y: number; right: number }[] = [];

  constructor(
    private readonly context: CanvasRenderingContext2D, private readonly size: Size,
    private readonly camera: Camera, private readonly state: MapState, private readonly ink: Ink,
  ) {}

  cells(): void {
    const { map, picture } = this.state;
    if (map === undefined || picture === null) return;
    const { context, camera } = this;
    const [x, y, yaw] = planarOf(map.origin);
    const [left, bottom] = this.at([x, y]);
    const edge = map.resolution * camera.scale;
    context.save();
    context.translate(left, bottom);
    context.rotate(-yaw);
    context.imageSmoothingEnabled = edge < 1;
    context.drawImage(picture, 0, -map.height * edge, map.width * edge, map.height * edge);
    context.strokeStyle = this.ink("--strong-line");
    context.strokeRect(0, -map.height * edge, map.width * edge, map.height * edge);
    context.restore();
  }

  regions(): void {
    const { regions } = this.state;
    const { context } = this;
    for (const region of regions?.regions ?? []) {
      this.line(regions!.frame, region.polygon);
      context.closePath();
      const forbidden = FORBIDDEN.has(region.type);
      context.fillStyle = this.ink(forbidden ? "--failure" : "--accent");
      if (region.type !== NORMAL) {
        context.globalAlpha = 0.12;
        context.fill();
        context.globalAlpha = 1;
      }
      context.setLineDash(forbidden ? [6, 4] : []);
      context.lineWidth = region.id === this.state.selected ? 3 : 1;
      context.strokeStyle = context.fillStyle;
      context.stroke();
      context.setLineDash([]);
      const limit = region.speed_limit > 0 ? ` ${region.speed_limit} m/s` : "";
      this.text(`${region.id}${limit}`, this.place(regions!.frame, region.polygon[0] ?? [0, 0]));
    }
  }

  way(way: Way | undefined, color: string, width: number, dash: number[]): void {
    if (way === undefined || way.points.length < 2) return;
    const { context } = this;
    this.line(way.frame, way.points);
    context.globalAlpha = width > 4 ? 0.45 : 1;
    context.setLineDash(dash);
    context.lineWidth = width;
    context.lineJoin = context.lineCap = "round";
    context.strokeStyle = this.ink(color);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  people(): void {
    const { people } = this.state;
    const { context } = this;
    for (const pose of people?.poses ?? []) {
      const [x, y] = this.place(people!.frame, pose);
      context.beginPath();
      context.arc(x, y, Math.max(4, PERSON * this.camera.scale), 0, 2 * Math.PI);
      context.fillStyle = this.ink("--waiting");
      context.globalAlpha = 0.75;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = 1.5;
      context.strokeStyle = this.ink("--text");
      context.stroke();
    }
  }

  robot(): void {
    const { localization } = this.state;
    if (localization === undefined) return;
    const { context } = this;
    const [x, y, yaw] = compose(this.frame(localization.frame), planarOf(localization.pose));
    const [left, top] = this.at([x, y]);
    const [sx = 0, sy = 0] = localization.deviation;
    context.beginPath();
    context.ellipse(
      left, top, SIGMAS * sx * this.camera.scale, SIGMAS * sy * this.camera.scale, 0, 0, 2 * Math.PI,
    );
    const bad = localization.verdict === "bad";
    context.fillStyle = this.ink(bad ? "--failure" : "--accent");
    context.globalAlpha = 0.2;
    context.fill();
    context.globalAlpha = 1;
    const radius = Math.max(7, ROBOT * this.camera.scale);
    context.save();
    context.translate(left, top);
    context.rotate(-yaw);
    context.beginPath();
    for (const [px, py] of [[1, 0], [-0.75, 0.7], [-0.45, 0], [-0.75, -0.7]] as const)
      context.lineTo(px * radius, py * radius);
    context.closePath();
    context.fill();
    context.setLineDash(bad ? [4, 3] : []);
    context.lineWidth = 1.5;
    context.strokeStyle = this.ink("--panel");
    context.stroke();
    context.restore();
  }

  goal(): void {
    const { goal } = this.state;
    if (goal === null || !goal.flat) return;
    const { context } = this;
    const [x, y, yaw] = compose(this.frame(goal.frame), planarOf(goal.pose));
    const [left, top] = this.at([x, y]);
    context.save();
    context.translate(left, top);
    context.rotate(-yaw);
    context.strokeStyle = context.fillStyle = this.ink("--accent");
    context.lineWidth = 3;
    context.beginPath();
    context.arc(0, 0, 9, 0, 2 * Math.PI);
    context.moveTo(9, 0);
    context.lineTo(ARROW, 0);
    context.stroke();
    context.beginPath();
    context.moveTo(ARROW + 10, 0);
    context.lineTo(ARROW - 4, 7);
    context.lineTo(ARROW - 4, -7);
    context.fill();
    context.restore();
  }

  private frame(name: string): Planar {
    const map = this.state.map?.frame ?? name;
    return frameIn(map, name, this.state.transforms);
  }

  private at(place: readonly number[]): [number, number] {
    return toCanvas(this.camera, this.size, place);
  }

  private place(frame: string, [x, y]: readonly number[]): [number, number] {
    return this.at(compose(this.frame(frame), [x ?? 0, y ?? 0, 0]));
  }

  private line(frame: string, points: readonly (readonly number[])[]): void {
    const stand = this.frame(frame);
    this.context.beginPath();
    for (const [x = 0, y = 0] of points) {
      const [left, top] = this.at(compose(stand, [x, y, 0]));
      this.context.lineTo(left, top);
    }
  }

  /** Writes beside a place; above what was written there before. */
  private text(text: string, [x, beside]: readonly [number, number]): void {
    const { context } = this;
    const right = x + CHARACTER * Math.min(text.length, 60);
    const covered = (y: number) => this.written.some((each) => Math.abs(each.y - y) < LINE && each.x < right && x < each.right);
    let y = beside;
    for (let lines = 0; lines < MOST_LINES && covered(y); lines += 1) y -= LINE;
    this.written.push({ x, y, right });
    context.font = `12px ${getComputedStyle(context.canvas).fontFamily}`;
    context.lineWidth = 3;
    context.strokeStyle = this.ink("--panel");
    context.strokeText(text.slice(0, 60), x + 4, y - 4);
    context.fillStyle = this.ink("--text");
    context.fillText(text.slice(0, 60), x + 4, y - 4);
  }
}
