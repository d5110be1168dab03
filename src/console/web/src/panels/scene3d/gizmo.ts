// SPDX-License-Identifier: Apache-2.0
import { AxesHelper, ConeGeometry, Group, Mesh, MeshBasicMaterial, type Color } from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { Goal, Pose } from "../../store";
import { matrixOf, poseOf, type FrameTree } from "./frames";
import type { View } from "./view";

const SIZE = 0.06;

/** The handle by which a goal pose is dragged. */
export class Gizmo {
  private readonly group = new Group();
  private readonly tip = new Mesh(
    new ConeGeometry(SIZE / 4, SIZE, 16).rotateX(Math.PI / 2).translate(0, 0, -SIZE / 2),
    new MeshBasicMaterial({ transparent: true, opacity: 0.8 }),
  );
  private readonly controls: TransformControls;
  private goal: Goal | null = null;
  private frames: FrameTree | null = null;

  /** Calls `moved` with the goal's pose while somebody drags it. */
  constructor(private readonly view: View, element: HTMLElement, moved: (pose: Pose) => void) {
    this.group.add(this.tip, new AxesHelper(SIZE * 1.5));
    this.controls = new TransformControls(view.camera, element);
    this.controls.setSize(0.8);
    this.controls.addEventListener("change", () => view.request());
    this.controls.addEventListener("dragging-changed", (event) => {
      view.controls.enabled = event.value !== true;
    });
    this.controls.addEventListener("objectChange", () => {
      if (this.goal === null || this.frames === null) return;
      this.group.updateMatrix();
      const matrix = this.frames.matrix(this.goal.frame).invert().multiply(this.group.matrix);
      moved(poseOf(matrix));
    });
  }

  /** Shows the goal; null: there is none. */
  show(goal: Goal | null, frames: FrameTree, color: Color): void {
    this.goal = goal;
    this.frames = frames;
    if (goal === null) {
      this.controls.detach();
      this.view.scene.remove(this.group, this.controls.getHelper());
      return;
    }
    this.tip.material.color = color;
    const { position, quaternion, scale } = this.group;
    if (!this.controls.dragging)
      matrixOf(goal.pose).premultiply(frames.matrix(goal.frame)).decompose(position, quaternion, scale);
    if (this.controls.object === undefined) {
      this.view.scene.add(this.group, this.controls.getHelper());
      this.controls.attach(this.group);
    }
    this.limit(goal.flat);
  }

  /** Moves or turns when it is dragged. */
  set turning(turning: boolean) {
    this.controls.setMode(turning ? "rotate" : "translate");
    if (this.goal !== null) this.limit(this.goal.flat);
  }

  dispose(): void {
    this.controls.detach();
    this.controls.dispose();
    this.tip.geometry.dispose();
    this.tip.material.dispose();
  }

  /** What stays on the ground moves along x and y, and turns about z. */
  private limit(flat: boolean): void {
    const turning = this.controls.mode === "rotate";
    this.controls.showX = !flat || !turning;
    this.controls.showY = !flat || !turning;
    this.controls.showZ = !flat || turning;
  }
}
