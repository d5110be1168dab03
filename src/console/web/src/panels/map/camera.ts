// SPDX-License-Identifier: Apache-2.0
/** What part of the map is seen: the place [m] in the middle and pixels per metre. */
export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

const SCALES = { least: 0.5, most: 1000 };

/** Where a place [m] is on the canvas [px]; y points down there. */
export function toCanvas(camera: Camera, size: Size, [x, y]: readonly number[]): [number, number] {
  return [
    size.width / 2 + ((x ?? 0) - camera.x) * camera.scale,
    size.height / 2 - ((y ?? 0) - camera.y) * camera.scale,
  ];
}

/** The place [m] at a point of the canvas [px]. */
export function toMap(camera: Camera, size: Size, [x, y]: readonly number[]): [number, number] {
  return [
    camera.x + ((x ?? 0) - size.width / 2) / camera.scale,
    camera.y - ((y ?? 0) - size.height / 2) / camera.scale,
  ];
}

/** Zooms so that what is at a point [px] stays there. */
export function zoomed(camera: Camera, size: Size, point: readonly number[], factor: number): Camera {
  const scale = Math.max(SCALES.least, Math.min(SCALES.most, camera.scale * factor));
  const before = toMap(camera, size, point);
  const after = toMap({ ...camera, scale }, size, point);
  return { x: camera.x + before[0] - after[0], y: camera.y + before[1] - after[1], scale };
}

/** Moves what is seen by pixels. */
export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y + dy / camera.scale };
}

/** Shows a rectangle [m] as a whole. */
export function fitted(size: Size, low: readonly number[], high: readonly number[]): Camera {
  const [x0 = 0, y0 = 0] = low;
  const [x1 = 1, y1 = 1] = high;
  const scale = 0.94 * Math.min(size.width / Math.max(x1 - x0, 0.1), size.height / Math.max(y1 - y0, 0.1));
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale: Math.max(SCALES.least, Math.min(SCALES.most, scale)) };
}
