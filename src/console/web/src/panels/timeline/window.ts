// SPDX-License-Identifier: Apache-2.0

/** [s] The finest window that can be looked at, and the widest. */
const FINEST = 0.002;
const WIDEST = 7 * 86_400;
/** Share of the window that stays free right of what happens now. */
const AHEAD = 0.06;

/** The stretch of time that is in view [s]. */
export class TimeWindow {
  from = 0;
  to = 30;
  /** Moves on with what happens now. */
  follows = true;
  /** Holds all that is known, until it is moved by hand. */
  fits = false;

  get length(): number {
    return this.to - this.from;
  }

  /** Makes the window `factor` times as wide; `t` stays where it is. While it follows, now stays. */
  zoom(t: number, factor: number): void {
    this.fits = false;
    const length = Math.min(Math.max(this.length * factor, FINEST), WIDEST);
    const share = this.follows ? 1 - AHEAD : (t - this.from) / this.length;
    const fixed = this.follows ? this.from + share * this.length : t;
    this.from = fixed - share * length;
    this.to = this.from + length;
  }

  /** Moves by some seconds, and follows no more. */
  pan(seconds: number): void {
    this.follows = false;
    this.fits = false;
    this.from += seconds;
    this.to += seconds;
  }

  /** Shows all from `begin` to `end`; returns whether that is another stretch than before. */
  fit(begin: number, end: number): boolean {
    const { from, to } = this;
    this.follows = false;
    const length = Math.max(end - begin, 0.1);
    this.from = begin - 0.02 * length;
    this.to = end + AHEAD * length;
    return this.from !== from || this.to !== to;
  }

  /** Now has moved on. */
  now(t: number): void {
    if (!this.follows) return;
    const length = this.length;
    this.to = t + AHEAD * length;
    this.from = this.to - length;
  }

  /** Brings a moment into view, if it is not. */
  reveal(t: number): void {
    if (t >= this.from && t <= this.to) return;
    const length = this.length;
    this.follows = false;
    this.fits = false;
    this.from = t - length / 2;
    this.to = this.from + length;
  }
}

/** Steps between lines of the axis [s]. */
const STEPS = [
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30,
  60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200, 86_400,
];

/** The step that makes at most `most` lines of `length` seconds. */
export function stepOf(length: number, most: number): number {
  return STEPS.find((step) => length / step <= most) ?? 86_400;
}

/** A time of the axis with as many digits as a step needs. */
export function timeText(seconds: number, step: number): string {
  if (seconds < 0) return `-${timeText(-seconds, step)}`;
  const digits = step >= 1 ? 0 : Math.min(4, Math.ceil(-Math.log10(step) - 1e-9));
  const unit = 10 ** digits;
  const within = Math.round((seconds % 86_400) * unit) / unit;
  const hours = Math.floor(within / 3600);
  const minutes = String(Math.floor(within / 60) % 60).padStart(2, "0");
  const rest = (within % 60).toFixed(digits).padStart(digits > 0 ? digits + 3 : 2, "0");
  return hours > 0 ? `${String(hours).padStart(2, "0")}:${minutes}:${rest}` : `${minutes}:${rest}`;
}

/** How long something took, in the unit that reads best. */
export function durationText(seconds: number): string {
  if (seconds < 0.0005) return "at once";
  if (seconds < 1) return `${(seconds * 1000).toPrecision(seconds < 0.01 ? 2 : 3)} ms`;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
