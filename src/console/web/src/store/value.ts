// SPDX-License-Identifier: Apache-2.0
import { useSyncExternalStore } from "react";

/** One value that others watch: the whole of what this page's state is made of. */
export class Value<T> {
  private readonly watchers = new Set<() => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  /** Replaces the value; who watches hears of it unless it is the same one. */
  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const watcher of [...this.watchers]) watcher();
  }

  /** Calls `watcher` after each change, until the function returned is called. */
  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
}

/** The value, and a new rendering whenever it changes. */
export function useValue<T>(value: Value<T>): T {
  return useSyncExternalStore(value.subscribe, value.get);
}
