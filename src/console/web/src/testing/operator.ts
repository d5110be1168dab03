// SPDX-License-Identifier: Apache-2.0
import type { Proposal } from "../store/types";
import { PREVIEW } from "./preview";
import { stackBlocks } from "./stack_blocks";

const PROPOSAL: Proposal = {
  id: "3f2a91c0", created: "2026-11-23 17:40", author: "behavior ask", mission: "sort_by_color", reason: "Put red blocks left, all others right.",
  trial: "9 of 10 episodes succeeded", status: "open", decided: "", outcome: "", digest: "d1", cut: false, edit: false,
  text: "<root BTCPP_format=\"4\">\n  <BehaviorTree ID=\"sort_by_color\"/>\n</root>",
};

/** A run that an operator controls: one leaf has failed, one waits to begin, a preview is there. */
export function operatorWaits(t: number): Record<string, unknown> {
  const path = "stack_blocks/stack blue/blue done or do/try blue 3 times/carry blue/Place blue";
  const { mission, ...run } = stackBlocks(t);
  return {
    ...run, mission,
    run_control: {
      controlled: true, automatic: false, concurrent: true, stands: true, held: ["stack_blocks/go home"],
      failed: [path], breakpoints: ["stack_blocks/go home"], prepared: [],
    },
    preview: PREVIEW,
    proposals: [PROPOSAL],
    queue: ["tour", "pick_and_place"].map((name) => ({ ...(mission as object), name, action_id: name, state: "waiting", ended: false, elapsed: 0 })),
    controller: { holder: { number: 1, name: "you #1" }, asks: { number: 7, name: "ben #7" }, answer_within: 15 },
  };
}
