// SPDX-License-Identifier: Apache-2.0
/** What channels hold when no stack is up. */
export function noStack(): Record<string, unknown> {
  return {
    stack: {
      namespace: "", up: { executor: false, scene: false, robot: false, map: false },
      empty: { text: "no executor is up", remedy: "start a stack: behavior up" },
    },
  };
}
