// SPDX-License-Identifier: Apache-2.0
// Texts of messages on the canvas: as long as there is room, in their own direction, on one line.

/** More characters than any card has room for. */
const LONGEST = 80;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** A text on one line that cannot turn its neighbours around, shortened to what may be drawn. */
export function oneLine(text: string, longest = LONGEST): string {
  const plain = text.slice(0, 4 * longest).replace(CONTROLS, " ");
  const letters = [...plain];
  const cut = letters.length > longest || text.length > 4 * longest;
  return cut ? `${letters.slice(0, longest).join("")}…` : plain;
}

/** Shortens texts to a width; remembers what it has measured. */
export class Clipper {
  private readonly known = new Map<string, string>();

  constructor(private readonly measure: (text: string, font: string) => number) {}

  clip(text: string, font: string, width: number): string {
    const key = `${font}\n${width}\n${text}`;
    const before = this.known.get(key);
    if (before !== undefined) return before;
    if (this.known.size > 50_000) this.known.clear();
    const clipped = this.clipped(oneLine(text), font, width);
    this.known.set(key, clipped);
    return clipped;
  }

  private clipped(text: string, font: string, width: number): string {
    if (this.measure(text, font) <= width) return isolated(text);
    const letters = [...text.replace(/…$/, "")];
    let low = 0;
    let high = letters.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const fits = this.measure(`${letters.slice(0, middle).join("")}…`, font) <= width;
      if (fits) low = middle;
      else high = middle - 1;
    }
    return isolated(`${letters.slice(0, low).join("")}…`);
  }
}

/** Only a text with letters that run from right to left needs to be kept apart. */
function isolated(text: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
}

/** A time as short as it is of use: 0.4 s, 12 s, 3:05. */
export function duration(seconds: number): string {
  const value = Math.max(0, seconds);
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 60) return `${Math.floor(value)} s`;
  return `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, "0")}`;
}
