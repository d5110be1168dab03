// SPDX-License-Identifier: Apache-2.0
import { PREVIEW } from "./preview";
import { stackBlocks } from "./stack_blocks";

/** A run that an operator controls: one leaf has failed, one waits to begin, a preview is there. */
export function operatorWaits(t: number): Record<string, unknown> {
  const path = "stack_blocks/stack blue/blue done or do/try blue 3 times/carry blue/Place blue";
  return {
    ...stackBlocks(t),
    run_control: {
      controlled: true, automatic: false, concurrent: true, stands: true, held: ["stack_blocks/go home"],
      failed: [path], breakpoints: ["stack_blocks/go home"], prepared: [],
    },
    preview: PREVIEW,
    controller: { holder: { number: 1, name: "you #1" }, asks: { number: 7, name: "ben #7" }, answer_within: 15 },
  };
}
