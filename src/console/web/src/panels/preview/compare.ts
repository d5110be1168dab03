// SPDX-License-Identifier: Apache-2.0
import type { Localization, Preview, PreviewedObject, Quaternion, SceneObject, Xyz } from "../../store";

/** An object now and after the mission. */
export interface Move {
  name: string;
  now: Xyz | null;
  after: Xyz | null;
  /** [m] between both; null: it is new, or gone. */
  by: number | null;
}

/** [m] from which on an object counts as moved, as `behavior_console.object_changes` has it. */
export const MOVED = 0.01;
/** [rad] likewise as turned. */
const TURNED = 0.2;
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
      return { name, now, after, by: between(now, after) };
    })
    .sort((one, other) => (other.by ?? Infinity) - (one.by ?? Infinity) || one.name.localeCompare(other.name));
}

/** Sentences on what is not as it was when the preview began. */
export function changed(
  preview: Preview, objects: ReadonlyMap<string, SceneObject>, localization: Localization | undefined,
): string[] {
  // What is derived from other objects follows them.
  const before = new Map(Object.entries(preview.begin).filter(([, each]) => !each.derived));
  const now = new Map([...objects].filter(([, each]) => each.kind === "" || each.kind === "detected"));
  const names = [...new Set([...before.keys(), ...now.keys()])].sort();
  return [
    ...names.flatMap((name) => object(name, before.get(name), now.get(name))),
    ...driven(preview.stood, localization),
  ];
}

/** As `behavior_console.object_changes` has it, whose sentences the server tells who approves. */
function object(name: string, before: PreviewedObject | undefined, now: SceneObject | undefined): string[] {
  if (before === undefined || now === undefined) return [`${name} is ${now === undefined ? "no more there" : "new"}`];
  const found: string[] = [];
  const [held, lost] = [now.state === "attached", now.state === "lost"];
  if ((before.sight === "held") !== held) found.push(`${name} ${held ? "is held now" : "is not held any more"}`);
  if ((before.sight === "lost") !== lost) found.push(`${name} ${lost ? "is lost now" : "was found again"}`);
  const [x, y, z, ...orientation] = now.pose;
  const shift = between([x, y, z], before.position) ?? 0;
  const turn = turned(orientation, before.orientation_xyzw);
  if (shift > MOVED) found.push(`${name} has moved by ${Math.round(1000 * shift)} mm`);
  else if (turn > TURNED) found.push(`${name} has turned by ${Math.round((180 / Math.PI) * turn)} degrees`);
  return found;
}

/** [rad] between two orientations. */
function turned(one: Quaternion, other: Quaternion): number {
  const same = one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
  return 2 * Math.acos(Math.min(1, Math.abs(same)));
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
