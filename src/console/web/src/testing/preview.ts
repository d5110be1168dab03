// SPDX-License-Identifier: Apache-2.0
import type { Preview, PreviewedObject, Xyz } from "../store/types";
import { joints } from "./scene";

function at(position: Xyz): PreviewedObject {
  return { class: "block", sight: "tracked", derived: false, position, orientation_xyzw: [0, 0, 0, 1] };
}

const BLOCKS = ["red", "green", "blue", "yellow"];
const TABLE: PreviewedObject = { ...at([0.5, 0, -0.01]), class: "table" };

/** A preview of stacking the blocks, from the moment before they are touched. */
export const PREVIEW: Preview = {
  state: "done", mission: "stack_blocks", parameters: {}, text: "", success: true,
  reason: "the tower stands", duration: 31.5, path: [[0.4, 0, 0.4], [0.4, -0.3, 0.1], [0.5, 0.3, 0.3]],
  ghost: joints(0), touched: BLOCKS.map((color, index) => ({ name: `${color}_block`, time_s: 4 + 7 * index, links: ["panda_hand"] })),
  clearance: { distance_m: 0.012, time_s: 18.2, link: "panda_leftfinger", name: "green_block" },
  notes: ["table was put where the scene believes it"],
  begin: { table: TABLE, ...Object.fromEntries(BLOCKS.map((color, index) => [`${color}_block`, at([0.4, -0.3 + 0.12 * index, 0.025])])) },
  end: { table: TABLE, ...Object.fromEntries(BLOCKS.map((color, index) => [`${color}_block`, at([0.5, 0.3, 0.035 + 0.05 * index])])) },
  tree_changes: [],
  stood: null,
};
