// SPDX-License-Identifier: Apache-2.0
import { AxesHelper, Group } from "three";
import type { Transform } from "../../store";
import type { FrameTree } from "./frames";
import { label } from "./label";

/** Length of an axis [m]. */
const LENGTH = 0.08;
/** Of all frames; more would hide what is there. */
const MOST = 200;

/** The frames of the channel `transforms`, drawn as axes: x red, y green, z blue. */
export class FrameLayer {
  readonly group = new Group();
  private readonly drawn = new Map<string, Group>();

  update(transforms: ReadonlyMap<string, Transform>, frames: FrameTree): void {
    const names = new Set([...transforms.keys()].slice(0, MOST));
    for (const [name, axes] of this.drawn) if (!names.has(name)) this.remove(name, axes);
    for (const name of names) {
      const axes = this.drawn.get(name) ?? this.add(name);
      frames.matrix(name).decompose(axes.position, axes.quaternion, axes.scale);
    }
  }

  clear(): void {
    for (const [name, axes] of this.drawn) this.remove(name, axes);
  }

  private add(name: string): Group {
    const group = new Group();
    const text = label("scene-frame", name);
    text.element.dataset.rank = "-2";
    group.add(new AxesHelper(LENGTH), text);
    this.drawn.set(name, group);
    this.group.add(group);
    return group;
  }

  private remove(name: string, axes: Group): void {
    this.drawn.delete(name);
    this.group.remove(axes);
    const [helper, text] = axes.children;
    if (text !== undefined) axes.remove(text); // takes the label out of the page
    (helper as AxesHelper).dispose();
  }
}
