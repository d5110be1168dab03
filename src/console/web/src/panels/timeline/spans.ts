// SPDX-License-Identifier: Apache-2.0
import { IDLE, RUNNING, type Span, type StatusCode } from "../../store";

/** Spans that are kept in all; a recording has the older ones. */
const MOST = 250_000;
/** [s] by which two stamps of the same beginning may differ. */
const SAME = 1e-6;

/** What one leaf did, oldest first, in columns: any part of it is found and drawn without objects. */
export class Lane {
  begins = new Float64Array(16);
  /** [s]; Infinity: it still runs. */
  ends = new Float64Array(16);
  statuses = new Uint8Array(16);
  /** Why it failed, by index. */
  readonly reasons = new Map<number, string>();
  length = 0;

  constructor(readonly id: number) {}

  put([uid, begin, ended, status, , reason]: Span): void {
    this.uid = uid;
    let last = this.length - 1;
    while (last >= 0 && this.begins[last]! > begin + SAME) last -= 1;
    this.cut(last + 1); // the clock was set back: what would come later has not been yet
    const open = last >= 0 && this.ends[last] === Infinity;
    const same = open && begin - this.begins[last]! < SAME;
    if (open && !same) {
      this.ends[last] = begin; // its end was lost
      this.statuses[last] = IDLE;
    }
    const index = same ? last : this.grow();
    this.begins[index] = begin;
    this.ends[index] = ended ?? Infinity;
    this.statuses[index] = ended === null ? RUNNING : status;
    if (reason) this.reasons.set(index, reason);
  }

  /** The uid that the leaf had last. */
  uid = 0;

  status(index: number): StatusCode {
    return this.statuses[index] as StatusCode;
  }

  /** Index of the first span that ends at or after `t` [s]; `length` if there is none. */
  firstEndingAfter(t: number): number {
    return firstWhere(this.length, (index) => this.ends[index]! >= t);
  }

  /** Forgets the older half. */
  forget(): void {
    const gone = this.length >> 1;
    for (const column of [this.begins, this.ends, this.statuses]) column.copyWithin(0, gone, this.length);
    const kept = [...this.reasons].filter(([index]) => index >= gone);
    this.reasons.clear();
    for (const [index, reason] of kept) this.reasons.set(index - gone, reason);
    this.length -= gone;
  }

  private cut(length: number): void {
    for (let index = length; index < this.length; index += 1) this.reasons.delete(index);
    this.length = length;
  }

  private grow(): number {
    if (this.length === this.begins.length) {
      const room = 2 * this.length;
      this.begins = larger(new Float64Array(room), this.begins);
      this.ends = larger(new Float64Array(room), this.ends);
      this.statuses = larger(new Uint8Array(room), this.statuses);
    }
    this.length += 1;
    return this.length - 1;
  }
}

/** What all leaves did. */
export class SpanStore {
  readonly lanes = new Map<number, Lane>();
  count = 0;

  clear(): void {
    this.lanes.clear();
    this.count = 0;
  }

  add(items: readonly Span[]): void {
    for (const item of items) {
      const id = item[4] ?? item[0];
      let lane = this.lanes.get(id);
      if (lane === undefined) this.lanes.set(id, (lane = new Lane(id)));
      const before = lane.length;
      lane.put(item);
      this.count += lane.length - before;
    }
    if (this.count > MOST) this.forget();
  }

  /** [s] when the first one began; Infinity: there is none. */
  get begin(): number {
    let begin = Infinity;
    for (const lane of this.lanes.values())
      if (lane.length > 0) begin = Math.min(begin, lane.begins[0]!);
    return begin;
  }

  /** When something began or ended last before `t` [s]. */
  previousChange(t: number): number | null {
    let found = -Infinity;
    for (const lane of this.lanes.values()) {
      const begun = firstWhere(lane.length, (index) => lane.begins[index]! >= t) - 1;
      const ended = lane.firstEndingAfter(t) - 1;
      if (begun >= 0) found = Math.max(found, lane.begins[begun]!);
      if (ended >= 0) found = Math.max(found, lane.ends[ended]!);
    }
    return Number.isFinite(found) ? found : null;
  }

  /** When something begins or ends first after `t` [s]. */
  nextChange(t: number): number | null {
    let found = Infinity;
    for (const lane of this.lanes.values()) {
      const begins = firstWhere(lane.length, (index) => lane.begins[index]! > t);
      const ends = firstWhere(lane.length, (index) => lane.ends[index]! > t);
      if (begins < lane.length) found = Math.min(found, lane.begins[begins]!);
      if (ends < lane.length) found = Math.min(found, lane.ends[ends]!);
    }
    return Number.isFinite(found) ? found : null;
  }

  private forget(): void {
    this.count = 0;
    for (const lane of this.lanes.values()) {
      lane.forget();
      this.count += lane.length;
    }
  }
}

/** The first index below `length` for which `holds`, of which all later ones hold too. */
export function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function larger<T extends Float64Array | Uint8Array>(column: T, old: T): T {
  column.set(old);
  return column;
}
