// SPDX-License-Identifier: Apache-2.0
import type { SceneObject } from "../../store";

/** How an object's state is drawn: by its edges first, by its colour second. */
export interface Look {
  /** 0 to 1. */
  opacity: number;
  /** Dashed edges: it may be elsewhere by now. */
  dashed: boolean;
  /** Whose colour the edges have. */
  edges: "strong" | "accent" | "waiting" | "failure";
  /** What its label says after its name. */
  word: string;
}

/** Seen through where something may be in it. */
const CONTAINER_OPACITY = 0.35;

/**
 * A clear look for each state; what is derived from others is a room one sees through, and so is a
 * container, so that it does not swallow what is in it.
 */
export function lookOf(object: SceneObject, container = false): Look {
  if (object.state === "lost")
    return { opacity: 0.12, dashed: true, edges: "failure", word: `lost${seen(object)}` };
  if (object.state === "stale")
    return { opacity: 0.4, dashed: true, edges: "waiting", word: `not seen${seen(object)}` };
  if (derived(object)) return { opacity: 0.12, dashed: false, edges: "strong", word: object.kind };
  if (object.state === "attached")
    return { opacity: 1, dashed: false, edges: "accent", word: `held by ${object.link}` };
  if (object.state === "frozen")
    return { opacity: 1, dashed: false, edges: "waiting", word: "frozen" };
  const opacity = container ? CONTAINER_OPACITY : (object.color[3] ?? 1);
  return { opacity, dashed: false, edges: "strong", word: "" };
}

/** Whether an object is computed from others, as a place to approach is. */
export function derived(object: SceneObject): boolean {
  return object.kind !== "detected" && object.kind !== "";
}

/** Names of the objects that others lie in: those whose interior is known. */
export function containers(objects: Iterable<SceneObject>): Set<string> {
  const rooms = [...objects].filter((object) => object.kind === "interior");
  return new Set(rooms.flatMap((room) => room.sources));
}

/** For how long an object was not seen, in words that follow others; empty: it never was. */
function seen(object: SceneObject): string {
  return object.seen === null ? "" : ` for ${Math.max(0, object.t - object.seen).toFixed(0)} s`;
}
