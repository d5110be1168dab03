// SPDX-License-Identifier: Apache-2.0
// Which part of the tree is on the screen. Pure.

/** Screen = tree * scale + (x, y) [px]. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Box extends Size {
  x: number;
  y: number;
}

export const SMALLEST = 0.001;
export const LARGEST = 2.5;
/** Below this scale a card's texts cannot be read. */
export const READABLE = 0.6;
/** Share of the screen in which what is followed may move without the view moving. */
const CALM = 0.6;

/** Another scale, with the point `(x, y)` of the screen staying where it is. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
  const real = scale / view.scale;
  return { scale, x: x - (x - view.x) * real, y: y - (y - view.y) * real };
}

/** The view that shows a box as a whole, not larger than its natural size. */
export function fitted(box: Box, screen: Size, margin = 24): View {
  const scale = Math.max(SMALLEST, Math.min(
    1,
    (screen.width - 2 * margin) / Math.max(1, box.width),
    (screen.height - 2 * margin) / Math.max(1, box.height),
  ));
  return {
    scale,
    x: (screen.width - box.width * scale) / 2 - box.x * scale,
    y: (screen.height - box.height * scale) / 2 - box.y * scale,
  };
}

/** The view with a box in the middle, readable. */
export function centred(view: View, box: Box, screen: Size): View {
  const scale = Math.max(view.scale, READABLE);
  return {
    scale,
    x: screen.width / 2 - (box.x + box.width / 2) * scale,
    y: screen.height / 2 - (box.y + box.height / 2) * scale,
  };
}

/** The view moved so that no more of the screen is empty than has to be. */
export function filled(view: View, bounds: Box, screen: Size, margin = 24): View {
  const along = (from: number, start: number, length: number, room: number) => {
    const [low, high] = [from + start * view.scale, from + (start + length) * view.scale];
    if (high - low <= room - 2 * margin) return from + room / 2 - (low + high) / 2;
    if (low > margin) return from + margin - low;
    return high < room - margin ? from + room - margin - high : from;
  };
  return {
    ...view,
    x: along(view.x, bounds.x, bounds.width, screen.width),
    y: along(view.y, bounds.y, bounds.height, screen.height),
  };
}

/** The view itself while a box is in the middle part of the screen, else moved by what it takes. */
export function following(view: View, box: Box, screen: Size): View {
  const x = view.x + shift(view.x + box.x * view.scale, box.width * view.scale, screen.width);
  const y = view.y + shift(view.y + box.y * view.scale, box.height * view.scale, screen.height);
  return x === view.x && y === view.y ? view : { ...view, x, y };
}

function shift(from: number, length: number, screen: number): number {
  const low = (screen * (1 - CALM)) / 2;
  const high = screen - low;
  if (length > high - low) return from < low || from > high ? low - from : 0;
  if (from < low) return low - from;
  return from + length > high ? high - (from + length) : 0;
}

/** A view on the way between two, `part` from 0 to 1. */
export function between(from: View, to: View, part: number): View {
  const eased = part * (2 - part);
  const mix = (a: number, b: number) => a + (b - a) * eased;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), scale: mix(from.scale, to.scale) };
}
