// SPDX-License-Identifier: Apache-2.0
import type { Pose } from "./types";

/**
 * A pose that somebody is about to set by hand, for an argument of a command: a form puts it into
 * `console.goal`, the 3D view and the map let it be dragged, and `take` gets it when it is used.
 */
export interface Goal {
  /** What it is for, for people. */
  label: string;
  /** What the button says that uses it. */
  verb: string;
  /** In which `pose` is. */
  frame: string;
  pose: Pose;
  /** Only x, y and the heading count: something drives there. */
  flat: boolean;
  /** Uses the pose as it is then. */
  take(goal: Goal): void;
  /** Shows what would come of it, where that can be asked. */
  preview?(goal: Goal): void;
}
