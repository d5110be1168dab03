// SPDX-License-Identifier: Apache-2.0
import type { Layout } from "../store";

/** Columns from left to right, each with groups of tabs from top to bottom, and a row below. */
export interface Preset {
  columns: { width: number; groups: string[][] }[];
  below: { height: number; groups: string[][] };
}

/** What each layout begins with; panels that are not there are left out. Sizes are shares. */
export const PRESETS: Record<Layout, Preset> = {
  operate: {
    columns: [
      { width: 0.22, groups: [["missions", "run"], ["objects"]] },
      { width: 0.3, groups: [["tree"]] },
      { width: 0.48, groups: [["scene", "map"]] },
    ],
    below: { height: 0.24, groups: [["timeline"], ["log", "health", "inspector"]] },
  },
  author: {
    columns: [
      { width: 0.17, groups: [["palette", "missions"]] },
      { width: 0.58, groups: [["tree"]] },
      { width: 0.25, groups: [["inspector"], ["preview", "scene"]] },
    ],
    below: { height: 0.18, groups: [["log", "blackboard"]] },
  },
  diagnose: {
    columns: [
      { width: 0.4, groups: [["tree", "scene", "map"]] },
      { width: 0.34, groups: [["explain", "log"]] },
      { width: 0.26, groups: [["inspector"], ["blackboard", "health"]] },
    ],
    below: { height: 0.32, groups: [["timeline"]] },
  },
  replay: {
    columns: [
      { width: 0.4, groups: [["tree"]] },
      { width: 0.34, groups: [["scene", "map"]] },
      { width: 0.26, groups: [["records", "inspector"], ["blackboard", "explain", "log"]] },
    ],
    below: { height: 0.32, groups: [["timeline"]] },
  },
};

/** Panels of a layout in the order in which a narrow screen has them as tabs. */
export function panelsOf(preset: Preset): string[] {
  const groups = [...preset.columns.flatMap((each) => each.groups), ...preset.below.groups];
  return [...new Set(groups.flat())];
}

/** The preset with only those panels that are there, and without what is empty then. */
export function present(preset: Preset, there: ReadonlySet<string>): Preset {
  const keep = (groups: string[][]) =>
    groups.map((group) => group.filter((id) => there.has(id))).filter((group) => group.length > 0);
  return {
    columns: preset.columns
      .map(({ width, groups }) => ({ width, groups: keep(groups) }))
      .filter(({ groups }) => groups.length > 0),
    below: { height: preset.below.height, groups: keep(preset.below.groups) },
  };
}
