// SPDX-License-Identifier: Apache-2.0
import { FAILURE, type Change, type Console, type Span } from "../../store";
import { rowsOf, type Row } from "./rows";
import { SpanStore } from "./spans";

/** When something failed, and which node; null: it is not known. */
export interface Failed {
  t: number;
  node: number | null;
}

/** What the timeline shows, kept in step with the channels without React. */
export class TimelineData {
  readonly store = new SpanStore();
  private kept: Row[] | null = null;
  private stops: (() => void)[] = [];

  constructor(private readonly console: Console) {}

  /** Listens until `stop`; `changed` is called after each frame that changes something. */
  start(changed: () => void): void {
    const { console } = this;
    const renew = () => {
      this.kept = null;
      changed();
    };
    this.take({ all: true, keys: [], added: 0 });
    this.stops = [
      console.subscribe("spans", (change) => {
        this.take(change);
        changed();
      }),
      console.subscribe("events", renew),
      console.subscribe("lanes", renew),
      console.subscribe("tree", renew),
    ];
  }

  stop(): void {
    for (const stop of this.stops) stop();
    this.stops = [];
  }

  get rows(): readonly Row[] {
    const { channels } = this.console;
    this.kept ??= rowsOf(
      this.store, channels.current("events"), channels.current("tree"), channels.current("lanes"),
    );
    return this.kept;
  }

  /** [s] of the first and the last thing that is known. */
  get extent(): [number, number] {
    const events = this.console.channels.current("events");
    const begin = Math.min(this.store.begin, events[0]?.t ?? Infinity);
    const now = this.console.connection.now.get();
    return [Number.isFinite(begin) ? Math.min(begin, now) : now - 30, now];
  }

  /** The next thing that happened after `t` [s], or the last one before it. */
  change(t: number, direction: 1 | -1): number | null {
    const past = direction === 1 ? t + 1e-6 : t - 1e-6;
    const span = direction === 1 ? this.store.nextChange(past) : this.store.previousChange(past);
    const times = this.console.channels.current("events").map((event) => event.t);
    const beyond = times.filter((time) => (direction === 1 ? time > past : time < past));
    const found = span === null ? beyond : [...beyond, span];
    if (found.length === 0) return null;
    return found.reduce((a, b) => (direction === 1 ? Math.min(a, b) : Math.max(a, b)));
  }

  /** The next failure after `t` [s], or the last one before it: a leaf's, but no condition's, or a fault. */
  failure(t: number, direction: 1 | -1): Failed | null {
    let found: Failed | null = null;
    const take = (time: number, node: number | null) => {
      const beyond = (time - t) * direction;
      if (beyond > 1e-6 && (found === null || (found.t - time) * direction > 0)) found = { t: time, node };
    };
    for (const row of this.rows) {
      if (row.kind !== "lane" || row.condition) continue;
      const { lane } = row;
      for (let index = 0; index < lane.length; index += 1)
        if (lane.statuses[index] === FAILURE) take(lane.ends[index]!, lane.uid);
    }
    for (const event of this.console.channels.current("events"))
      if (event.kind === "fault") take(event.t, event.uid);
    return found;
  }

  private take(change: Change): void {
    const spans: readonly Span[] = this.console.channels.current("spans");
    const lanes = this.store.lanes.size;
    if (change.all) this.store.clear();
    this.store.add(change.all ? spans : spans.slice(spans.length - change.added));
    if (change.all || this.store.lanes.size !== lanes) this.kept = null;
  }
}
