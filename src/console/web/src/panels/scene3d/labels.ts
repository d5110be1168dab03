// SPDX-License-Identifier: Apache-2.0
import { Vector3, type Camera, type Scene } from "three";
import { CSS2DObject, CSS2DRenderer } from "three/addons/renderers/CSS2DRenderer.js";
import { readable, type Placed } from "./declutter";

/** Names in the scene: those that would lie on others are left out until they have room. */
export class Labels {
  readonly element: HTMLElement;
  private readonly renderer = new CSS2DRenderer();
  /** [px] of a label's text, measured once: to ask the page for it costs a layout. */
  private readonly sizes = new WeakMap<HTMLElement, { text: string; width: number; height: number }>();
  private width = 1;
  private height = 1;

  constructor() {
    this.element = this.renderer.domElement;
    this.element.className = "scene-labels";
  }

  setSize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
    this.renderer.setSize(width, height);
  }

  render(scene: Scene, camera: Camera): void {
    this.renderer.render(scene, camera);
    const found: { element: HTMLElement; depth: number; placed: Placed }[] = [];
    scene.traverseVisible((object) => {
      if (!(object instanceof CSS2DObject) || object.element.style.display === "none") return;
      const at = new Vector3().setFromMatrixPosition(object.matrixWorld).project(camera);
      found.push({ element: object.element, depth: at.z, placed: this.place(object, at) });
    });
    found.sort((one, other) => one.depth - other.depth);
    const shown = readable(found.map((each) => each.placed));
    found.forEach(({ element }, index) => {
      element.style.visibility = shown[index] ? "" : "hidden";
    });
  }

  private place(label: CSS2DObject, at: Vector3): Placed {
    const { width, height } = this.size(label.element);
    const x = ((at.x + 1) / 2) * this.width - label.center.x * width;
    const y = ((1 - at.y) / 2) * this.height - label.center.y * height;
    return { x, y, width, height, rank: Number(label.element.dataset.rank ?? 0) };
  }

  private size(element: HTMLElement): { width: number; height: number } {
    const text = element.textContent ?? "";
    const known = this.sizes.get(element);
    if (known?.text === text && known.width > 0) return known;
    const made = { text, width: element.offsetWidth, height: element.offsetHeight };
    this.sizes.set(element, made);
    return made;
  }
}
