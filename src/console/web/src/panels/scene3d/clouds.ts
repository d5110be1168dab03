// SPDX-License-Identifier: Apache-2.0
import { BufferAttribute, BufferGeometry, Group, Points, PointsMaterial, type Color } from "three";
import type { Cloud } from "../../store";
import type { FrameTree } from "./frames";

/** Edge of a point [px]. */
const SIZE = 2;

/** Point clouds, as the channel `clouds` holds them; each is made anew only when it has changed. */
export class CloudLayer {
  readonly group = new Group();
  private readonly drawn = new Map<string, { points: Points<BufferGeometry, PointsMaterial>; shown: Cloud }>();

  update(clouds: ReadonlyMap<string, Cloud>, frames: FrameTree, color: Color): void {
    for (const topic of [...this.drawn.keys()]) if (!clouds.has(topic)) this.remove(topic);
    for (const [topic, cloud] of clouds) {
      const points = this.at(topic, cloud);
      if (!points.material.vertexColors) points.material.color = color;
      frames.matrix(cloud.frame).decompose(points.position, points.quaternion, points.scale);
    }
  }

  /** How many points are drawn. */
  get count(): number {
    return [...this.drawn.values()].reduce((sum, { points }) => sum + points.geometry.getAttribute("position").count, 0);
  }

  clear(): void {
    for (const topic of [...this.drawn.keys()]) this.remove(topic);
  }

  private at(topic: string, cloud: Cloud): Points<BufferGeometry, PointsMaterial> {
    const known = this.drawn.get(topic);
    if (known?.shown === cloud) return known.points;
    this.remove(topic);
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(positionsOf(cloud), 3));
    const colored = cloud.colors.length === 3 * geometry.getAttribute("position").count && cloud.colors.length > 0;
    if (colored) geometry.setAttribute("color", new BufferAttribute(cloud.colors.slice(), 3, true));
    const points = new Points(geometry, new PointsMaterial({ size: SIZE, sizeAttenuation: false, vertexColors: colored }));
    this.drawn.set(topic, { points, shown: cloud });
    this.group.add(points);
    return points;
  }

  private remove(topic: string): void {
    const known = this.drawn.get(topic);
    if (known === undefined) return;
    this.drawn.delete(topic);
    this.group.remove(known.points);
    known.points.geometry.dispose();
    known.points.material.dispose();
  }
}

/** The points of a cloud; the bytes of a message may lie anywhere, numbers may not. */
export function positionsOf({ points }: Cloud): Float32Array<ArrayBuffer> {
  const whole = points.slice(0, points.length - (points.length % 12));
  return new Float32Array(whole.buffer, whole.byteOffset, whole.length / 4);
}

/** What there is to say of the clouds, in a line. */
export function saidOf(clouds: ReadonlyMap<string, Cloud>): string {
  if (clouds.size === 0) return "no clouds: no camera or sensor of this robot publishes any";
  const each = [...clouds].map(([topic, { text, count, points }]) => {
    const shown = Math.floor(points.length / 12);
    return `${topic}: ${text || (shown < count ? `${shown} of ${count} points` : `${count} points`)}`;
  });
  return each.join("; ");
}
