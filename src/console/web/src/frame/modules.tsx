// SPDX-License-Identifier: Apache-2.0
// Panels that other packages offer: ES modules that the server has at an address.
import { useEffect, useMemo, useRef, useState } from "react";
import { Empty } from "../design";
import { useChannel, useConsole, type Channel, type Console, type Module, type Selection } from "../store";

/** What a panel's module is given; docs/console_panels.md says what it may count on. */
export interface PanelApi {
  /** Calls `changed` with the state of a channel now and after each change. Returns how to stop. */
  watch(channel: string, changed: (state: unknown) => void): () => void;
  /** Asks for a command; always answers, with a sentence where it was refused. */
  send(name: string, args?: Record<string, unknown>): Promise<{ ok: boolean; message: string }>;
  selection(): Selection;
  select(selection: Selection): void;
}

/** Shows a panel in an element; may return what ends it. */
type Mount = (element: HTMLElement, api: PanelApi) => (() => void) | void;

/** An offered panel with its id among all panels. */
export type Offered = Module & { panel: string };

export function useOffered(): Offered[] {
  const modules = useChannel("modules");
  return useMemo(() => offeredIn(modules), [modules]);
}

/** The offered panels of a page, without React. */
export function offeredIn(modules: Module[] | undefined): Offered[] {
  return (modules ?? []).map((each) => ({ ...each, panel: `module:${each.id}` }));
}

/** A panel of another package, with its module loaded. */
export function ModulePanel({ module, load = (url) => import(/* @vite-ignore */ url) }: {
  module: Offered; load?: (url: string) => Promise<unknown>;
}) {
  const console = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let end: (() => void) | undefined;
    let over = false;
    const api = apiOf(console);
    load(module.url).then(
      (loaded) => {
        if (over || host.current === null) return;
        const mount = (loaded as { default?: unknown }).default;
        if (typeof mount !== "function") throw new Error("its module has no default export to call");
        end = (mount as Mount)(host.current, api) ?? undefined;
      },
    ).catch((error: unknown) => setProblem(String(error instanceof Error ? error.message : error)));
    return () => {
      over = true;
      end?.();
      api.close();
    };
  }, [console, module, load]);
  return (
    <>
      {problem === "" ? null : <Empty waitsFor={`the panel ${module.id} has failed; the others go on`} todo={problem} />}
      <div ref={host} className="module-panel" hidden={problem !== ""} />
    </>
  );
}

function apiOf(console: Console): PanelApi & { close(): void } {
  const stops = new Set<() => void>();
  return {
    watch(channel, changed) {
      const name = channel as Channel;
      const stop = console.subscribe(name, () => changed(console.channels.snapshot(name)));
      stops.add(stop);
      changed(console.channels.snapshot(name));
      return () => {
        if (stops.delete(stop)) stop();
      };
    },
    send: (name, args) => console.send(name, args),
    selection: () => console.selection.get(),
    select: (selection) => console.selection.set(selection),
    close: () => stops.forEach((stop) => stop()),
  };
}
