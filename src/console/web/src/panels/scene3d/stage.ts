// SPDX-License-Identifier: Apache-2.0
import { Box3 } from "three";
import type { Channel, Console, Pose } from "../../store";
import { FrameLayer } from "./axes";
import { CloudLayer, saidOf } from "./clouds";
import { FrameTree } from "./frames";
import { Gizmo } from "./gizmo";
import { PathLayer } from "./markers";
import { ObjectLayer } from "./objects";
import { paletteOf, watchTheme, type Palette } from "./palette";
import { RobotLayer, serverRobot, type RobotSource } from "./robot";
import { View, type Direction } from "./view";

export interface StageOptions {
  frames: boolean;
  labels: boolean;
  uncertainty: boolean;
  clouds: boolean;
}

/** What the stage has to say about itself; it stands on the panel's element as `data-*` too. */
export interface StageState {
  robot: "loading" | "ready" | "none" | "failed";
  problem: string;
  objects: number;
  /** Of the clouds that are shown; empty: none shall be. */
  clouds: string;
}

const SHOWN: readonly Channel[] = ["objects", "joints", "transforms", "markers", "preview"];
/** [m] around the robot in which objects are looked at with it. */
const REACH = 1;
/** Of the scene's markers, which draw its objects a second time. */
const OF_THE_SCENE = "scene/markers:";

/** The 3D view of one console: its channels on one side, what is drawn on the other. */
export class Stage {
  private readonly view: View;
  private readonly robot = new RobotLayer();
  private readonly objects = new ObjectLayer();
  private readonly paths = new PathLayer();
  private readonly axes = new FrameLayer();
  private readonly clouds = new CloudLayer();
  /** Clouds are sent only to who shows them. */
  private stopClouds: (() => void) | null = null;
  private readonly gizmo: Gizmo;
  private readonly stops: (() => void)[] = [];
  private palette: Palette;
  private options: StageOptions = { frames: false, labels: true, uncertainty: false, clouds: false };
  private said = "";

  /**
   * Draws into `host` until `dispose` is called; `changed` hears what the panel has to say.
   * Throws if the browser has no WebGL.
   */
  constructor(
    private readonly host: HTMLElement, private readonly console: Console,
    private readonly changed: (state: StageState) => void, source: RobotSource = serverRobot,
  ) {
    this.view = new View(host);
    this.palette = paletteOf(host);
    this.view.paint(this.palette);
    this.view.scene.add(this.robot.group, this.objects.group, this.paths.group, this.axes.group, this.clouds.group);
    this.gizmo = new Gizmo(this.view, host.querySelector("canvas")!, (pose) => this.moved(pose));
    this.view.before = () => this.take();
    this.view.after = () => this.note();
    this.view.clicked = (ray) => {
      const name = this.objects.pick(ray);
      if (name !== null) console.selection.set({ object: name });
      else if (console.selection.get().object !== undefined) console.selection.set({});
    };
    const draw = () => this.view.request();
    this.stops = [
      ...SHOWN.map((name) => console.subscribe(name, draw)),
      console.selection.subscribe(draw),
      console.goal.subscribe(draw),
      watchTheme(() => {
        this.palette = paletteOf(host);
        this.view.paint(this.palette);
      }),
    ];
    void this.robot.load(source, draw).then(() => this.look("home"));
    draw();
  }

  set(options: StageOptions): void {
    this.options = options;
    if (options.clouds) this.stopClouds ??= this.console.subscribe("clouds", () => this.view.request());
    else {
      this.stopClouds?.();
      this.stopClouds = null;
    }
    this.view.request();
  }

  set turning(turning: boolean) {
    this.gizmo.turning = turning;
    this.view.request();
  }

  /** Looks from a direction; from home at the robot and at the objects near it. */
  look(from: Direction): void {
    if (from !== "home") {
      this.view.look(from);
      return;
    }
    const box = new Box3().setFromObject(this.robot.group.children[0] ?? this.objects.group);
    const near = box.clone().expandByScalar(REACH);
    for (const { position } of this.objects.group.children)
      if (near.containsPoint(position)) box.expandByPoint(position);
    this.view.fit(box);
  }

  /** Brings the selected object to the middle; whether there is one. */
  centreSelected(): boolean {
    const name = this.console.selection.get().object;
    const group = name === undefined ? null : this.objects.find(name);
    if (group === null) return false;
    this.view.centre(new Box3().setFromObject(group));
    return true;
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.stopClouds?.();
    for (const layer of [this.objects, this.paths, this.axes, this.clouds]) layer.clear();
    this.gizmo.dispose();
    this.robot.dispose();
    this.view.dispose();
  }

  /** Takes over what the channels hold now. */
  private take(): void {
    const { channels, selection, goal } = this.console;
    const objects = channels.current("objects");
    const transforms = channels.current("transforms");
    const frames = new FrameTree(transforms);
    const preview = channels.current("preview");
    const markers = new Map(
      [...channels.current("markers")].filter(([key]) => !key.startsWith(OF_THE_SCENE)),
    );
    this.robot.update(channels.current("joints") ?? {}, frames);
    this.robot.foresee(preview?.ghost, this.palette.waiting);
    this.objects.update(objects, frames, this.palette, {
      ...this.options, selected: selection.get().object,
    });
    this.paths.update(markers, preview, frames, this.palette);
    if (this.options.frames) this.axes.update(transforms, frames);
    else this.axes.clear();
    if (this.showsClouds) this.clouds.update(channels.current("clouds"), frames, this.palette.accent);
    else this.clouds.clear();
    this.gizmo.show(goal.get(), frames, this.palette.accent);
  }

  /** Nobody remembers clouds: there are none of the past. */
  private get showsClouds(): boolean {
    return this.options.clouds && this.console.at.get() === null;
  }

  private moved(pose: Pose): void {
    const goal = this.console.goal.get();
    if (goal !== null) this.console.goal.set({ ...goal, pose });
  }

  /** Leaves its state on the element, and tells the panel when that changes. */
  private note(): void {
    const { statistics } = this.view;
    const objects = this.console.channels.current("objects").size;
    Object.assign(this.host.dataset, {
      frames: statistics.frames, triangles: statistics.triangles, robot: this.robot.state,
      duration: statistics.duration.toFixed(1), objects, paths: this.paths.count,
      ghost: this.robot.foresees, points: this.clouds.count,
    });
    const clouds = !this.options.clouds ? ""
      : this.showsClouds ? saidOf(this.console.channels.current("clouds")) : "clouds are not remembered: go live to see them";
    const state: StageState = { robot: this.robot.state, problem: this.robot.problem, objects, clouds };
    const text = JSON.stringify(state);
    if (text === this.said) return;
    this.said = text;
    this.changed(state);
  }
}
