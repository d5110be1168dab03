// SPDX-License-Identifier: Apache-2.0
import type { Localization, Preview, PreviewedObject, SceneObject, Xyz } from "../../store";

/** An object now and after the mission. */
export interface Move {
  name: string;
  now: Xyz | null;
  after: Xyz | null;
  /** [m] between both; null: it is new, or gone. */
  by: number | null;
  /** [m] by which it is not where it was when the preview began; null: it was not there. */
  since: number | null;
}

/** [m] from which on an object counts as moved, as `behavior preview` has it. */
export const MOVED = 0.01;
/** [m] likewise for a robot that drives. */
const DRIVEN = 0.1;

/** What each object does, those that move most first. */
export function moves(preview: Preview, objects: ReadonlyMap<string, SceneObject>): Move[] {
  const names = new Set([...objects.keys(), ...Object.keys(preview.end)]);
  return [...names]
    .map((name): Move => {
      const here = objects.get(name);
      const now: Xyz | null = here === undefined ? null : [here.pose[0], here.pose[1], here.pose[2]];
      const after = preview.end[name]?.position ?? null;
      const before = preview.begin[name]?.position ?? null;
      return { name, now, after, by: between(now, after), since: between(now, before) };
    })
    .sort((one, other) => (other.by ?? Infinity) - (one.by ?? Infinity) || one.name.localeCompare(other.name));
}

/** Sentences on what is not as it was when the preview began. */
export function changed(
  preview: Preview, objects: ReadonlyMap<string, SceneObject>, localization: Localization | undefined,
): string[] {
  const known = Object.entries(preview.begin) as [string, PreviewedObject][];
  const gone = known.filter(([name]) => !objects.has(name)).map(([name]) => `${name} is no more there`);
  const moved = moves(preview, objects)
    .filter((each) => each.since !== null && each.since > MOVED)
    .map((each) => `${each.name} has moved by ${Math.round(1000 * (each.since ?? 0))} mm`);
  return [...gone, ...moved, ...driven(preview.stood, localization)];
}

function driven(stood: Preview["stood"], localization: Localization | undefined): string[] {
  if (!stood || localization === undefined) return [];
  const shift = Math.hypot(localization.pose[0] - stood[0], localization.pose[1] - stood[1]);
  return shift > DRIVEN ? [`the robot stands elsewhere, by ${shift.toFixed(2)} m`] : [];
}

function between(one: Xyz | null, other: Xyz | null): number | null {
  if (one === null || other === null) return null;
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}
