// SPDX-License-Identifier: Apache-2.0
import { Color, Group, type Object3D } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import type { Marker, Preview, Xyz } from "../../store";
import { matrixOf, type FrameTree } from "./frames";
import type { Palette } from "./palette";

const LINE_STRIP = 4;
const PREVIEW = "preview";
/** Width of lines [px]. */
const WIDTH = 3;

/** Planned ways of the tool: the line markers of the stack, and that of a preview. */
export class PathLayer {
  readonly group = new Group();
  private readonly lines = new Map<string, { line: Line2; shown: unknown }>();

  /** Draws exactly these lines; a line that is the same as before is left alone. */
  update(
    markers: ReadonlyMap<string, Marker>, preview: Preview | undefined, frames: FrameTree,
    palette: Palette,
  ): void {
    const wanted = new Map<string, { points: Xyz[]; marker: Marker | null; shown: unknown }>();
    for (const [key, marker] of markers)
      if (marker.type === LINE_STRIP && marker.points.length > 1)
        wanted.set(key, { points: marker.points, marker, shown: marker });
    if ((preview?.path?.length ?? 0) > 1)
      wanted.set(PREVIEW, { points: preview!.path, marker: null, shown: preview });
    for (const key of [...this.lines.keys()]) if (!wanted.has(key)) this.remove(key);
    for (const [key, { points, marker, shown }] of wanted) {
      const line = this.at(key, points, shown);
      const foreseen = marker === null || key.startsWith(PREVIEW);
      paint(line, foreseen, palette);
      if (marker !== null)
        matrixOf(marker.pose)
          .premultiply(frames.matrix(marker.frame))
          .decompose(line.position, line.quaternion, line.scale);
    }
  }

  /** How many lines are drawn. */
  get count(): number {
    return this.lines.size;
  }

  clear(): void {
    for (const key of [...this.lines.keys()]) this.remove(key);
  }

  private at(key: string, points: Xyz[], shown: unknown): Line2 {
    const known = this.lines.get(key);
    if (known !== undefined && known.shown === shown) return known.line;
    this.remove(key);
    const line = new Line2(
      new LineGeometry().setPositions(points.flat()), new LineMaterial({ linewidth: WIDTH }),
    );
    this.lines.set(key, { line, shown });
    this.group.add(line as Object3D);
    return line;
  }

  private remove(key: string): void {
    const known = this.lines.get(key);
    if (known === undefined) return;
    this.lines.delete(key);
    this.group.remove(known.line);
    known.line.geometry.dispose();
    known.line.material.dispose();
  }
}

/** What is foreseen is dashed and amber, what is planned is solid and blue. */
function paint(line: Line2, foreseen: boolean, palette: Palette): void {
  const material = line.material as LineMaterial;
  if (material.dashed !== foreseen) {
    material.dashed = foreseen;
    material.dashSize = 0.02;
    material.gapSize = 0.012;
    line.computeLineDistances();
  }
  material.color = new Color(foreseen ? palette.waiting : palette.path);
}
