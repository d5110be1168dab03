// SPDX-License-Identifier: Apache-2.0
import type { GridMap } from "../../store";

/** From which value on a cell is occupied, and which value says that nobody knows. */
const OCCUPIED = 50;
const UNKNOWN = 255;

/** Colours of cells: r, g, b from 0 to 255. */
export interface CellColors {
  free: readonly number[];
  occupied: readonly number[];
  unknown: readonly number[];
}

/** The map's cells, unpacked; rejects where they are not what the map says. */
export async function cellsOf(map: GridMap): Promise<Uint8Array> {
  const inflater = new DecompressionStream("deflate");
  const writer = inflater.writable.getWriter();
  const written = writer.write(map.cells as Uint8Array<ArrayBuffer>).then(() => writer.close());
  const [bytes] = await Promise.all([new Response(inflater.readable).arrayBuffer(), written]);
  const cells = new Uint8Array(bytes);
  if (cells.length !== map.width * map.height)
    throw new Error(`the map says ${map.width} x ${map.height} cells and has ${cells.length}`);
  return cells;
}

/** Cells as RGBA, the row of the largest y first, as pictures have it. */
export function pixelsOf(
  cells: Uint8Array, width: number, height: number, colors: CellColors,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const cell = cells[(height - 1 - row) * width + column]!;
      const color = cell === UNKNOWN ? colors.unknown : cell >= OCCUPIED ? colors.occupied : colors.free;
      const at = 4 * (row * width + column);
      pixels[at] = color[0]!;
      pixels[at + 1] = color[1]!;
      pixels[at + 2] = color[2]!;
      pixels[at + 3] = 255;
    }
  }
  return pixels;
}

/** Numbers of a colour written as #rrggbb, or as #rgb, as a built page shortens it. */
export function rgb(color: string): number[] {
  const digits = color.trim().replace("#", "");
  const each = digits.length === 3 ? [...digits].map((digit) => digit + digit) : digits.match(/../g) ?? [];
  return [0, 1, 2].map((at) => Number.parseInt(each[at] ?? "", 16) || 0);
}
