// SPDX-License-Identifier: Apache-2.0
import type { ConsoleEvent, LaneName, Level, Span, Tree } from "../../store";

export type Kind = ConsoleEvent["kind"] | "reason";
export const KINDS: readonly Kind[] = ["fault", "reason", "mission", "mode", "edit", "command", "log"];

/** A line of the log. */
export interface Entry {
  t: number;
  kind: Kind;
  level: Level;
  text: string;
  uid: number | null;
}

export interface Filter {
  kinds: ReadonlySet<Kind>;
  words: string;
}

/** Events and reasons of failures that pass a filter, newest first, at most `most`. */
export function entriesOf(
  events: readonly ConsoleEvent[], failures: readonly Span[], nameOf: (span: Span) => string, filter: Filter, most: number,
): Entry[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const passes = ({ kind, text }: Entry) =>
    filter.kinds.has(kind) && words.every((word) => `${kind} ${text}`.toLowerCase().includes(word));
  const found = newest(events, ({ t, kind, text, uid, level }) => ({ t, kind, text, uid: uid ?? null, level }), passes, most);
  const reasons = newest(failures, (span) => reasonOf(span, nameOf(span)), passes, most);
  return [...found, ...reasons].sort((a, b) => b.t - a.t).slice(0, most);
}

/** Whether a span is of a condition: that it does not hold is normal, and announced only to who asks for reasons alone. */
export function normal(lanes: ReadonlyMap<string, LaneName>, tree: Tree | undefined): (span: Span) => boolean {
  const kinds = new Map((tree?.nodes ?? []).map((node) => [node[0], node[4]] as const));
  return ([uid, , , , lane]) => (lanes.get(String(lane))?.[4] ?? kinds.get(uid)) === "Condition";
}

/** The name of the leaf that a span is of. */
export function namer(lanes: ReadonlyMap<string, LaneName>, tree: Tree | undefined): (span: Span) => string {
  const names = new Map((tree?.nodes ?? []).map((node) => [node[0], node[3]] as const));
  return ([uid, , , , lane]) => lanes.get(String(lane))?.[3] ?? names.get(uid) ?? `node ${uid}`;
}

function reasonOf(span: Span, name: string): Entry {
  return { t: span[2] ?? span[1], kind: "reason", text: `${name}: ${span[5] ?? ""}`, uid: span[0], level: "info" };
}

function newest<T>(items: readonly T[], entry: (item: T) => Entry, passes: (entry: Entry) => boolean, most: number): Entry[] {
  const found: Entry[] = [];
  for (let index = items.length - 1; index >= 0 && found.length < most; index -= 1) {
    const made = entry(items[index]!);
    if (passes(made)) found.push(made);
  }
  return found;
}
