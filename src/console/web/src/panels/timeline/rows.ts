// SPDX-License-Identifier: Apache-2.0
import type { ConsoleEvent, Level, Tree } from "../../store";
import type { Lane, SpanStore } from "./spans";

/** A stretch with a text, of a mission or a mode. */
export interface Band {
  begin: number;
  /** [s]; Infinity: it goes on. */
  end: number;
  text: string;
  look: "running" | "success" | "failure" | "quiet";
}

export interface Mark {
  t: number;
  event: ConsoleEvent;
}

/** One line of the timeline. */
export type Row =
  | { kind: "bands"; title: string; bands: Band[] }
  | { kind: "marks"; title: string; marks: Mark[]; level: Level }
  | { kind: "lane"; title: string; type: string; path: string; lane: Lane; condition: boolean };

const LOOKS: Record<string, Band["look"]> = { finished: "success", failed: "failure", canceled: "quiet" };

/** All lines from top to bottom; those without anything are left out. */
export function rowsOf(store: SpanStore, events: readonly ConsoleEvent[], tree: Tree | undefined, names: LaneNames): Row[] {
  const marks = (kind: ConsoleEvent["kind"]): Mark[] =>
    events.filter((event) => event.kind === kind).map((event) => ({ t: event.t, event }));
  const rows: Row[] = [
    { kind: "bands", title: "Missions", bands: missionBands(events) },
    { kind: "bands", title: "Mode", bands: modeBands(events) },
    { kind: "marks", title: "Faults", marks: marks("fault"), level: "error" },
    { kind: "marks", title: "Edits", marks: marks("edit"), level: "info" },
    { kind: "marks", title: "Commands", marks: marks("command"), level: "info" },
  ];
  const filled = rows.filter((row) => row.kind === "lane" || (row.kind === "bands" ? row.bands : row.marks).length > 0);
  return [...filled, ...laneRows(store, tree, names)];
}

/** What each lane is of: `[tree's ID, path, type, name, kind]`. */
export type LaneNames = ReadonlyMap<string, readonly [string, string, string, string, string]>;

/** Leaves of the tree that is shown first, in its order; then those of other trees. */
function laneRows(store: SpanStore, tree: Tree | undefined, names: LaneNames): Row[] {
  const order = new Map((tree?.nodes ?? []).map((node, index) => [node[0], index] as const));
  const nodes = new Map((tree?.nodes ?? []).map((node) => [node[0], node] as const));
  const rows = [...store.lanes.values()].map((lane) => {
    const name = names.get(String(lane.id));
    const node = nodes.get(lane.uid);
    const shown = node !== undefined && (name === undefined || name[1] === node[5]);
    const [, path, type, title, kind] = name ?? ["", node?.[5] ?? "", node?.[2] ?? "", node?.[3] ?? `node ${lane.uid}`, node?.[4] ?? ""];
    const row: Row = { kind: "lane", title, type, path, lane, condition: kind.toUpperCase() === "CONDITION" };
    return { row, place: shown ? order.get(lane.uid)! : order.size + lane.id };
  });
  return rows.sort((a, b) => a.place - b.place).map(({ row }) => row);
}

function missionBands(events: readonly ConsoleEvent[]): Band[] {
  const bands: Band[] = [];
  const open = new Map<string, Band>();
  for (const { t, mission, text } of events) {
    if (mission === undefined) continue;
    const ended = mission.state in LOOKS;
    let band = open.get(mission.id);
    if (band === undefined && mission.state !== "waiting") {
      band = { begin: t, end: Infinity, text: mission.name, look: "running" };
      open.set(mission.id, band);
      bands.push(band);
    }
    if (band !== undefined && ended) {
      band.end = t;
      band.look = LOOKS[mission.state]!;
      band.text = band.look === "success" ? mission.name : text;
      open.delete(mission.id);
    }
  }
  return bands;
}

function modeBands(events: readonly ConsoleEvent[]): Band[] {
  const bands: Band[] = [];
  for (const { t, mode } of events) {
    if (mode === undefined) continue;
    const last = bands.at(-1);
    if (last !== undefined) last.end = t;
    bands.push({ begin: t, end: Infinity, text: mode, look: "quiet" });
  }
  return bands;
}
