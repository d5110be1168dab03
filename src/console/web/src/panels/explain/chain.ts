// SPDX-License-Identifier: Apache-2.0
import {
  FAILURE, type BlackboardEntry, type ConsoleEvent, type Mission, type NodeStatus, type Reason, type Tree,
  type TreeNode,
} from "../../store";

/** A failure: why, by what it shows, and what to do. */
export interface Failure {
  sentence: string;
  evidence: string;
  remedy: string;
  /** The node's path; empty: none has failed. */
  path: string;
  uid: number | null;
  t: number;
}

/** One link of what led to a failure. */
export interface Link {
  text: string;
  uid: number | null;
  t: number | null;
}

/**
 * The failure to explain: that on which the operator has to decide, that of the mission, or the last that
 * was reported; null: nothing failed.
 */
export function failureOf(
  mission: Mission | undefined, tree: Tree | undefined, reasons: ReadonlyMap<string, Reason>,
  events: readonly ConsoleEvent[], waiting: readonly string[] = [],
): Failure | null {
  if (waiting[0] !== undefined) return waitingFailure(waiting[0], tree, reasons);
  const cause = mission?.cause ?? null;
  if (cause !== null && mission !== undefined) {
    const uid = uidOf(tree, cause.node);
    const t = (uid === null ? undefined : reasons.get(String(uid))?.t) ?? mission.t;
    return { ...cause, path: cause.node, uid, t };
  }
  const fault = events.findLast((event) => event.kind === "fault");
  if (fault === undefined) return null;
  const uid = fault.uid ?? uidOf(tree, fault.node ?? "");
  const path = tree?.nodes.find((node) => node[0] === uid)?.[5] ?? "";
  return { sentence: fault.text, evidence: "", remedy: reasons.get(String(uid))?.remedy ?? "", path, uid, t: fault.t };
}

function waitingFailure(path: string, tree: Tree | undefined, reasons: ReadonlyMap<string, Reason>): Failure {
  const own = uidOf(tree, path);
  const found = tree === undefined || own === null ? null : reasonIn(tree, own, reasons);
  const name = nameOf(path);
  const by = found === null || found.uid === own ? "" : `${found.name}: `;
  return {
    sentence: found === null ? `${name} has failed` : `${name} has failed: ${by}${found.reason.text}`,
    evidence: "", remedy: found?.reason.remedy ?? "", path, uid: found?.uid ?? own, t: found?.reason.t ?? 0,
  };
}

/** Why a node failed: its own reason, or the newest in it, as a node with children has mostly none. */
export function reasonIn(
  tree: Tree, uid: number, reasons: ReadonlyMap<string, Reason>,
): { uid: number; name: string; reason: Reason } | null {
  const within = new Set([uid]);
  let newest: { uid: number; name: string; reason: Reason } | null = null;
  for (const [each, parent, type, name] of tree.nodes) {
    if (parent !== null && within.has(parent)) within.add(each);
    const reason = within.has(each) ? reasons.get(String(each)) : undefined;
    if (reason === undefined) continue;
    if (each === uid) return { uid: each, name: name || type, reason };
    if (newest === null || reason.t > newest.reason.t) newest = { uid: each, name: name || type, reason };
  }
  return newest;
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? path;
}

export function uidOf(tree: Tree | undefined, path: string): number | null {
  return tree?.nodes.find((node) => node[5] === path)?.[0] ?? null;
}

/** From the mission down to the node: what repeats, tries or contains it. */
export function ancestors(tree: Tree, uid: number, statuses: ReadonlyMap<string, NodeStatus>): Link[] {
  const byUid = new Map(tree.nodes.map((node) => [node[0], node]));
  const found: Link[] = [];
  for (let node = byUid.get(uid); node !== undefined; node = parentOf(node, byUid)) {
    const [own, , type, name, kind] = node;
    const status = statuses.get(String(own));
    const matters = own === uid || kind === "SubTree" || kind === "Decorator" || node[1] === null;
    if (matters) found.unshift({ text: said(name, type, status), uid: own, t: status?.[1] ?? null });
  }
  return found;
}

function parentOf(node: TreeNode, byUid: Map<number, TreeNode>): TreeNode | undefined {
  return node[1] === null ? undefined : byUid.get(node[1]);
}

function said(name: string, type: string, status: NodeStatus | undefined): string {
  const what = name === type || type === "SubTree" ? name : `${name} (${type})`;
  if (status === undefined || status[2] === 0) return what;
  const failed = status[3] === FAILURE ? ", failed last" : "";
  return status[2] > 1 || failed ? `${what}, ended ${status[2]} ${status[2] === 1 ? "time" : "times"}${failed}` : what;
}

/** What a node was given: its ports, with the value on the blackboard and who writes it. */
export interface Given {
  port: string;
  text: string;
  /** Where on the blackboard; empty: it stands in the tree. */
  key: string;
  /** Whether it was written after the failure: the value is a later one. */
  later: boolean;
  writers: Link[];
}

const OWN = new Set(["name", "ID"]);

/** The ports of a node as the tree's XML has them, for a failure at `t` [s]. */
export function givenTo(
  tree: Tree, uid: number, board: ReadonlyMap<string, BlackboardEntry>, statuses: ReadonlyMap<string, NodeStatus>,
  t = Infinity,
): Given[] {
  const document = new DOMParser().parseFromString(tree.xml, "application/xml");
  const elements = [...document.querySelectorAll("BehaviorTree *")];
  const element = elements.find((each) => each.getAttribute("_uid") === String(uid));
  if (element === undefined) return [];
  return [...element.attributes]
    .filter(({ name }) => !OWN.has(name) && !name.startsWith("_"))
    .map(({ name, value }) => {
      const key = /^\{(.*)\}$/.exec(value)?.[1] ?? "";
      if (key === "") return { port: name, text: value, key, later: false, writers: [] };
      const wanted = key === "=" ? name : key;
      const writers = elements.filter((each) => writes(each, wanted)).flatMap((each) => writer(each, tree, statuses));
      const later = writers.some((each) => each.t !== null && each.t > t);
      return { port: name, key: wanted, text: valueOf(board, wanted), later, writers: lastOf(writers, t) };
    });
}

/** Of those that write, the one that ran last before `t`; all of them where none did. */
function lastOf(writers: Link[], t: number): Link[] {
  const ran = writers.filter((each) => each.t !== null && each.t <= t);
  return ran.length === 0 ? writers : [ran.reduce((one, other) => ((other.t ?? 0) > (one.t ?? 0) ? other : one))];
}

function valueOf(board: ReadonlyMap<string, BlackboardEntry>, key: string): string {
  const place = [...board.keys()].find((each) => each === key) ?? [...board.keys()].find((each) => each.endsWith(`/${key}`));
  return place === undefined ? "(not written)" : (board.get(place)?.[1] ?? "");
}

function writes(element: Element, key: string): boolean {
  const code = ["code", "_onSuccess", "_onFailure", "_onHalted", "_post"]
    .map((name) => element.getAttribute(name) ?? "").join(";");
  return new RegExp(`(^|[^\\w@])${key.replace(/[^\w]/g, "\\$&")}\\s*([-+*/.]|:)?=(?!=)`).test(code);
}

function writer(element: Element, tree: Tree, statuses: ReadonlyMap<string, NodeStatus>): Link[] {
  const uid = Number(element.getAttribute("_uid") ?? NaN);
  const node = tree.nodes.find((each) => each[0] === uid);
  if (node === undefined) return [];
  const status = statuses.get(String(uid));
  const ran = status !== undefined && status[2] > 0;
  return [{ text: `${node[2]} '${node[3]}'`, uid, t: ran ? status[1] : null }];
}
