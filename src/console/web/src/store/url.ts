// SPDX-License-Identifier: Apache-2.0
import { LAYOUTS, type Console, type Layout, type Selection } from "./console";

/** What a link holds, so that it shows somebody else the same. */
export interface UrlState {
  selection: Selection;
  at: number | null;
  layout: Layout;
}

/** Reads the part after `?`; what it does not understand it leaves out. */
export function readUrl(query: string): UrlState {
  const parameters = new URLSearchParams(query);
  const node = number(parameters.get("node"));
  const object = parameters.get("object");
  const mission = parameters.get("mission");
  const server = parameters.get("server");
  const layout = parameters.get("layout") as Layout | null;
  return {
    selection: {
      ...(node === null ? {} : { node }),
      ...(object === null ? {} : { object }),
      ...(mission === null ? {} : { mission }),
      ...(server === null ? {} : { server }),
    },
    at: number(parameters.get("at")),
    layout: layout !== null && LAYOUTS.includes(layout) ? layout : "operate",
  };
}

/** The query for the state, with the other parameters of `query` kept. */
export function writeUrl(query: string, state: UrlState): string {
  const parameters = new URLSearchParams(query);
  const { node, object, mission, server } = state.selection;
  const own = { node, object, mission, server, at: state.at ?? undefined, layout: state.layout };
  for (const [key, value] of Object.entries(own)) {
    if (value === undefined) parameters.delete(key);
    else parameters.set(key, String(value));
  }
  return `?${parameters.toString()}`;
}

/** [ms] Browsers refuse addresses that change oftener, as they would while somebody scrubs. */
const ADDRESS_PAUSE = 250;

/** Keeps the address in step with the page. */
export function keepUrl(console: Console): void {
  let waits = false;
  const write = () => {
    waits = false;
    const state = {
      selection: console.selection.get(), at: console.at.get(), layout: console.layout.get(),
    };
    history.replaceState(null, "", writeUrl(location.search, state));
  };
  const later = () => {
    if (!waits) window.setTimeout(write, ADDRESS_PAUSE);
    waits = true;
  };
  for (const value of [console.selection, console.at, console.layout]) value.subscribe(later);
}

function number(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
