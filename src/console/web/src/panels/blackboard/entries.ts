// SPDX-License-Identifier: Apache-2.0
import type { BlackboardEntry } from "../../store";

/** An entry as the panel shows it. */
export interface Row {
  /** As commands name it. */
  place: string;
  key: string;
  type: string;
  text: string;
  writable: boolean;
}

/** Entries of one blackboard; `board` is the SubTree's path, empty for the main tree. */
export interface Board {
  board: string;
  rows: Row[];
}

/** Entries in order of their blackboards, the main tree's first; those that a filter leaves. */
export function boardsOf(entries: ReadonlyMap<string, BlackboardEntry>, filter = ""): Board[] {
  const wanted = filter.trim().toLowerCase();
  const boards = new Map<string, Row[]>();
  for (const [place, [type, json, writable]] of entries) {
    const text = shown(json);
    if (wanted !== "" && !`${place} ${text}`.toLowerCase().includes(wanted)) continue;
    const at = place.lastIndexOf("/");
    const board = at < 0 ? "" : place.slice(0, at);
    const rows = boards.get(board) ?? [];
    rows.push({ place, key: place.slice(at + 1), type, text, writable });
    boards.set(board, rows);
  }
  return [...boards]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([board, rows]) => ({ board, rows: rows.sort((a, b) => a.key.localeCompare(b.key)) }));
}

/** A value's JSON for people: texts without quotes, what has no JSON form by what is said of it. */
export function shown(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return json;
  }
  if (typeof value === "string") return value;
  const omitted = (value as { __omitted?: unknown } | null)?.__omitted;
  return typeof omitted === "string" ? `(${omitted})` : json;
}
