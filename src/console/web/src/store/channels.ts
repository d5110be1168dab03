// SPDX-License-Identifier: Apache-2.0
import type { Channel, ChannelState, Frame } from "./types";

export const MAP_CHANNELS: ReadonlySet<string> = new Set([
  "status", "reasons", "blackboard", "health", "objects", "transforms", "markers", "editors",
  "document", "lanes", "orders", "clouds",
]);
export const LOG_CHANNELS: ReadonlySet<string> = new Set(["spans", "events"]);
/** Items of a log that are kept. */
export const LOG_LENGTH = 200_000;

/** What changed in a channel with one frame. */
export interface Change {
  /** The whole is new. */
  all: boolean;
  /** Keys of a map that changed or went; empty when the whole is new. */
  keys: readonly string[];
  /** How many items were appended to a log. */
  added: number;
}

type Watcher = (change: Change) => void;

/**
 * The latest state of each channel.
 *
 * Maps and logs are changed in place, for drawing at 20 Hz without copies (`current`, `subscribe`);
 * React gets a copy per change that it looks at (`snapshot`).
 */
export class Channels {
  private readonly states = new Map<string, unknown>();
  private readonly snapshots = new Map<string, unknown>();
  private readonly watchers = new Map<string, Set<Watcher>>();

  /** Takes over what a frame brings and tells who watches. */
  apply(frame: Frame): void {
    const changes = new Map<string, Change>();
    for (const [name, value] of Object.entries(frame.set ?? {})) {
      this.states.set(name, whole(name, value));
      changes.set(name, { all: true, keys: [], added: 0 });
    }
    for (const [name, patch] of Object.entries(frame.patch ?? {})) {
      const map = this.mutable(name, () => new Map<string, unknown>());
      for (const [key, value] of Object.entries(patch)) {
        if (value === null) map.delete(key);
        else map.set(key, value);
      }
      const before = changes.get(name);
      changes.set(name, { all: before?.all ?? false, keys: Object.keys(patch), added: 0 });
    }
    for (const [name, items] of Object.entries(frame.add ?? {})) {
      const log = this.mutable(name, () => [] as unknown[]);
      for (const item of items) log.push(item);
      if (log.length > LOG_LENGTH) log.splice(0, log.length - LOG_LENGTH);
      const before = changes.get(name);
      changes.set(name, { all: before?.all ?? false, keys: [], added: items.length });
    }
    for (const [name, change] of changes) this.changed(name, change);
  }

  /** Forgets everything: another server, or the same one anew. */
  reset(): void {
    const names = [...this.states.keys()];
    this.states.clear();
    for (const name of names) this.changed(name, { all: true, keys: [], added: 0 });
  }

  /** The state itself, which later frames change; only to read, within one go. */
  current<C extends Channel>(name: C): ChannelState<C> {
    return (this.states.get(name) ?? empty(name)) as ChannelState<C>;
  }

  /** The state as it is now, the same object until it changes. */
  snapshot<C extends Channel>(name: C): ChannelState<C> {
    if (!this.snapshots.has(name)) this.snapshots.set(name, copy(this.current(name)));
    return this.snapshots.get(name) as ChannelState<C>;
  }

  /** Calls `watcher` after each frame that changes the channel. */
  watch(name: Channel, watcher: Watcher): () => void {
    const watchers = this.watchers.get(name) ?? new Set();
    this.watchers.set(name, watchers.add(watcher));
    return () => watchers.delete(watcher);
  }

  private mutable<T>(name: string, make: () => T): T {
    const state = (this.states.get(name) as T | undefined) ?? make();
    this.states.set(name, state);
    return state;
  }

  private changed(name: string, change: Change): void {
    this.snapshots.delete(name);
    for (const watcher of [...(this.watchers.get(name) ?? [])]) watcher(change);
  }
}

const NO_ENTRIES: ReadonlyMap<string, unknown> = new Map();
const NO_ITEMS: readonly unknown[] = [];

function empty(name: string): unknown {
  if (MAP_CHANNELS.has(name)) return NO_ENTRIES;
  return LOG_CHANNELS.has(name) ? NO_ITEMS : undefined;
}

function whole(name: string, value: unknown): unknown {
  if (MAP_CHANNELS.has(name)) return new Map(Object.entries((value ?? {}) as object));
  if (LOG_CHANNELS.has(name)) return [...((value ?? []) as unknown[])].slice(-LOG_LENGTH);
  return value ?? undefined;
}

function copy(state: unknown): unknown {
  if (state instanceof Map) return new Map(state);
  return Array.isArray(state) ? [...state] : state;
}
