// SPDX-License-Identifier: Apache-2.0
import type { ConsoleEvent, Mission, SceneObject, TreeNode } from "../store/types";
import { stackBlocks } from "./stack_blocks";

const NAMES = [
  "<script>window.struck = 1</script>",
  "\"><img src=x onerror='window.struck = 1'>",
  "x".repeat(10_000),
  "\u202eevitartsinimda\u202c",
  "javascript:window.struck=1",
  "__proto__",
];

/** The usual run with names that want to be more than text. */
export function hostile(t: number): Record<string, unknown> {
  const channels = stackBlocks(t);
  const name = (index: number) => NAMES[index % NAMES.length]!;
  const tree = channels.tree as { nodes: TreeNode[] };
  const mission = channels.mission as Mission;
  const objects = Object.values(channels.objects as Record<string, SceneObject>);
  const events = channels.events as ConsoleEvent[];
  return {
    ...channels,
    tree: {
      ...tree,
      nodes: tree.nodes.map(([uid, parent, , , kind, path], index) =>
        [uid, parent, name(index), name(index + 1), kind, path]),
    },
    mission: {
      ...mission, name: NAMES.join(" "), detail: name(2),
      cause: mission.cause && { ...mission.cause, sentence: NAMES.join(" "), remedy: name(0) },
    },
    objects: Object.fromEntries(objects.map((each, index) => [name(index), { ...each, class: name(index) }])),
    events: events.map((each, index) => ({ ...each, text: name(index) })),
    blackboard: Object.fromEntries(NAMES.map((each) => [each, ["string", each, true]])),
    controller: { holder: { number: 99, name: NAMES.join(" ") }, asks: null, answer_within: null },
    stack: { ...(channels.stack as object), namespace: NAMES.join(" ") },
  };
}
