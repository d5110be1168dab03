// SPDX-License-Identifier: Apache-2.0
// A tree of 5000 nodes in which much happens, with names that want to do harm.
import {
  FAILURE, IDLE, RUNNING, SUCCESS, type NodeStatus, type StatusCode, type Tree, type TreeNode,
} from "../store/types";

const COUNT = 5000;
const BRANCH = 7;
/** Leaves that begin and end per second. */
const RATE = 40;

export const HOSTILE: readonly string[] = [
  "<script>window.harmed = true</script>",
  "<img src=x onerror='window.harmed = true'>",
  "x".repeat(10_000),
  "\u202eoffering the robot\u202c שלום",
  "مرحبا بالعالم",
  "new\nline\u0000and\u0007bell",
  "__proto__",
  "{{constructor.constructor('window.harmed = true')()}}",
  "👩‍🚀".repeat(40),
  "",
];

const NODES = nodes();
const LEAVES = NODES.filter(([uid]) => !NODES.some(([, parent]) => parent === uid)).map(([uid]) => uid);
const TREE: Tree = {
  life: "1", action_id: "large", tree_id: "large", revision: 1, nodes: NODES, ended: null,
  xml: `<root BTCPP_format="4"><BehaviorTree ID="large">${NODES.map(
    ([uid]) => `<Fake _uid="${uid}" name="n" speed="{speed}" _skipIf="done"/>`,
  ).join("")}</BehaviorTree></root>`,
};

/** What channels hold after `t` seconds. */
export function largeTree(t: number): Record<string, unknown> {
  return {
    stack: { namespace: "/large", world: "none", up: { executor: true }, empty: null },
    tree: TREE, status: status(t), reasons: {}, spans: [], events: [], blackboard: {},
    editors: {}, modules: [], missions: [], queue: [],
  };
}

function nodes(): TreeNode[] {
  return Array.from({ length: COUNT }, (_, index): TreeNode => {
    const uid = index + 1;
    const parent = index === 0 ? null : Math.floor((index - 1) / BRANCH) + 1;
    const inner = BRANCH * index + 1 < COUNT;
    const name = HOSTILE[index % 40] ?? `node ${uid}`;
    const type = index % 11 === 3 && inner ? "Part" : inner ? "Sequence" : index % 5 === 0 ? "Look" : "Fake";
    const kind = type === "Part" ? "SubTree" : inner ? "Control" : type === "Look" ? "Condition" : "Action";
    return [uid, parent, type, name, kind, `large/${uid}`];
  });
}

function status(t: number): Record<string, NodeStatus> {
  const found: Record<string, NodeStatus> = { "1": [RUNNING, 0, 0, IDLE] };
  const done = Math.floor(t * RATE);
  for (let at = Math.max(0, done - LEAVES.length); at < done; at++) {
    const uid = LEAVES[at % LEAVES.length]!;
    const ended: StatusCode = uid % 17 === 0 ? FAILURE : SUCCESS;
    found[uid] = [ended, (at + 1) / RATE, 1, ended];
  }
  for (let uid = LEAVES[done % LEAVES.length]!; uid > 0; uid = Math.floor((uid - 2) / BRANCH) + 1) {
    found[uid] = [RUNNING, done / RATE, 0, IDLE];
    if (uid === 1) break;
  }
  return found;
}
