// SPDX-License-Identifier: Apache-2.0
import {
  createContext, useCallback, useContext, useEffect, useSyncExternalStore, type ReactNode,
} from "react";
import { Channels, type Change } from "./channels";
import { Commands } from "./commands";
import { Connection, type Hello, type Timing } from "./connection";
import type { Goal } from "./goal";
import type { Connect } from "./transport";
import type { Answer, Channel, ChannelState, Role } from "./types";
import { readUrl, type UrlState } from "./url";
import { useValue, Value } from "./value";

/** What is selected, everywhere at once. */
export interface Selection {
  /** A tree node's uid. */
  node?: number;
  /** A scene object's name. */
  object?: string;
  /** A mission's identifier, or the name of one that is offered. */
  mission?: string;
  /** A server or manager, by the name of its diagnostics. */
  server?: string;
}

export type Layout = "operate" | "author" | "diagnose" | "replay";
export const LAYOUTS: readonly Layout[] = ["operate", "author", "diagnose", "replay"];
export type Theme = "light" | "dark" | "system";

const RANK: Record<Role, number> = { view: 0, operate: 1, edit: 2 };

/** All of the page's state; panels reach it by `useConsole()` and the hooks below. */
export class Console {
  readonly channels = new Channels();
  readonly connection: Connection;
  readonly commands = new Commands();
  readonly selection: Value<Selection>;
  /** The moment wanted [s]; null: live. */
  readonly at: Value<number | null>;
  readonly layout: Value<Layout>;
  readonly theme = new Value<Theme>("system");
  /** Whether the tree keeps the running leaf in view. */
  readonly follow = new Value(true);
  /** The pose that somebody sets in the 3D view or on the map; null: nobody does. */
  readonly goal = new Value<Goal | null>(null);
  /** Brings a panel to the front, opening it if need be; the frame sets it. */
  showPanel: (id: string) => void = () => {};
  private readonly users = new Map<Channel, number>();

  constructor(connect: Connect, hello: Hello, url: UrlState = readUrl(""), timing?: Timing) {
    this.connection = new Connection(this.channels, connect, hello, timing);
    this.selection = new Value(url.selection);
    this.at = new Value(url.at);
    this.layout = new Value(url.layout);
    this.at.subscribe(() => this.connection.show(this.at.get()));
    if (url.at !== null) this.connection.show(url.at);
  }

  /**
   * Has the server send a channel, and calls `watcher` after each frame that changes it, without
   * React: for drawing. Read the state with `console.channels.current(name)`.
   */
  subscribe(name: Channel, watcher: (change: Change) => void): () => void {
    const count = this.users.get(name) ?? 0;
    this.users.set(name, count + 1);
    if (count === 0) this.announce();
    const stop = this.channels.watch(name, watcher);
    return () => {
      stop();
      const left = (this.users.get(name) ?? 1) - 1;
      if (left > 0) this.users.set(name, left);
      else {
        this.users.delete(name);
        this.announce();
      }
    };
  }

  /** Sends a command to the server; never rejects. */
  send(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    return this.connection.send(name, args);
  }

  /** Whether this client may do what `role` may. */
  may(role: Role): boolean {
    const own = this.connection.welcome.get()?.role ?? "view";
    return RANK[own] >= RANK[role];
  }

  private announced = false;
  private announce(): void {
    if (this.announced) return;
    this.announced = true;
    queueMicrotask(() => {
      this.announced = false;
      this.connection.subscribe([...this.users.keys()].sort());
    });
  }
}

const Context = createContext<Console | null>(null);

export function ConsoleProvider({ console, children }: { console: Console; children: ReactNode }) {
  return <Context value={console}>{children}</Context>;
}

export function useConsole(): Console {
  const console = useContext(Context);
  if (console === null) throw new Error("useConsole: there is no ConsoleProvider around this");
  return console;
}

/** The latest state of a channel, which the server sends as long as somebody shows it. */
export function useChannel<C extends Channel>(name: C): ChannelState<C> {
  const console = useConsole();
  const subscribe = useCallback(
    (changed: () => void) => console.subscribe(name, changed), [console, name],
  );
  return useSyncExternalStore(subscribe, () => console.channels.snapshot(name));
}

export function useSelection(): [Selection, (selection: Selection) => void] {
  const console = useConsole();
  return [useValue(console.selection), useCallback((s) => console.selection.set(s), [console])];
}

/** The moment wanted [s], null when live; and how to go to another. */
export function useTime(): [number | null, (at: number | null) => void] {
  const console = useConsole();
  return [useValue(console.at), useCallback((at) => console.at.set(at), [console])];
}

/** Whether the page shows a run that is over. */
export function useIsRecord(): boolean {
  return useValue(useConsole().connection.welcome)?.view === "record";
}

/** Whether this client may do what `role` may. */
export function useMay(role: Role): boolean {
  const console = useConsole();
  useValue(console.connection.welcome);
  return console.may(role);
}

/** Registers a command of the palette, with its key, as long as the component is there. */
export function useCommand(
  id: string, title: string, key: string | undefined, run: () => void, role: Role = "view",
): void {
  const { commands } = useConsole();
  useEffect(
    () => commands.add({ id, title, run, role, ...(key === undefined ? {} : { key }) }),
    [commands, id, title, key, run, role],
  );
}
