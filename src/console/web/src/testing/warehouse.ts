// SPDX-License-Identifier: Apache-2.0
import type { GridMap, Pose, Xyz } from "../store/types";

const [WIDTH, HEIGHT, RESOLUTION] = [240, 160, 0.1];
const FRAME = "map";

/** A robot that drives around the racks of a warehouse, `t` seconds after it began. */
export function warehouse(t: number): Record<string, unknown> {
  const route = loop(0, 2 * Math.PI, 60);
  const at = 0.1 * t;
  const [x, y] = place(at);
  const ahead = place(at + 0.05);
  const yaw = Math.atan2(ahead[1] - y, ahead[0] - x);
  return {
    stack: { namespace: "/cart", world: "warehouse", up: {}, empty: null },
    map: MAP, route: { frame: FRAME, points: route }, path: { frame: FRAME, points: loop(at, at + 0.8, 20) },
    localization: {
      frame: FRAME, pose: upright(x, y, yaw), deviation: [0.15, 0.3, 0, 0, 0, 0.05],
      verdict: t > 20 && t < 25 ? "bad" : "good",
    },
    regions: {
      frame: FRAME,
      regions: [
        { id: "loading <bay>", type: "restricted", polygon: box(1, 1, 5, 4), speed_limit: 0 },
        { id: "crossing", type: "speed_zone", polygon: box(10, 11.5, 14, 15), speed_limit: 0.5 },
      ],
    },
    people: {
      frame: FRAME,
      poses: [upright(17 + Math.sin(t / 3), 3, 0), upright(6, 12 + Math.cos(t / 2), 0)],
    },
    transforms: { map: ["", [0, 0, 0], [0, 0, 0, 1]] }, objects: {}, events: [], missions: [],
  };
}

function place(angle: number): Xyz {
  return [12 + 9 * Math.cos(angle), 8 + 5.6 * Math.sin(angle), 0];
}

function loop(from: number, to: number, count: number): Xyz[] {
  return Array.from({ length: count + 1 }, (_, index) => place(from + ((to - from) * index) / count));
}

function box(x0: number, y0: number, x1: number, y1: number): Xyz[] {
  return [[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]];
}

function upright(x: number, y: number, yaw: number): Pose {
  return [x, y, 0, 0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)];
}

/** Walls around, racks inside, and a corner where nobody has been. */
function cells(): Uint8Array {
  const grid = new Uint8Array(WIDTH * HEIGHT);
  for (let row = 0; row < HEIGHT; row += 1)
    for (let column = 0; column < WIDTH; column += 1) {
      const wall = row < 2 || column < 2 || row >= HEIGHT - 2 || column >= WIDTH - 2;
      const rack = row % 30 > 18 && row > 40 && row < 110 && column > 75 && column < 165;
      const unknown = row > 130 && column > 200;
      grid[row * WIDTH + column] = unknown ? 255 : wall || rack ? 100 : 0;
    }
  return grid;
}

/** Bytes as a zlib stream that holds them as they are. */
export function stored(bytes: Uint8Array): Uint8Array {
  const blocks: number[] = [0x78, 0x01];
  for (let at = 0; at < bytes.length; at += 65_535) {
    const part = bytes.subarray(at, at + 65_535);
    const last = at + part.length >= bytes.length ? 1 : 0;
    const size = part.length;
    blocks.push(last, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255, ...part);
  }
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return Uint8Array.from([...blocks, b >> 8, b & 255, a >> 8, a & 255]);
}

const MAP: GridMap = {
  frame: FRAME, resolution: RESOLUTION, width: WIDTH, height: HEIGHT, origin: upright(0, 0, 0),
  cells: stored(cells()), text: "",
};
