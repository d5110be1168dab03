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
  const node = tree?.nodes.find((each) => each[0] === own);
  const name = node?.[3] || node?.[2] || (path.split("/").at(-1) ?? path);
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
  /** Where its text stands in the tree, over the SubTrees around the node; null: nowhere. */
  source: Source | null;
}

/** A port in which a text stands. */
export interface Source {
  uid: number;
  port: string;
  text: string;
}

const OWN = new Set(["name", "ID"]);

/** The ports of a node as the tree's XML has them, for a failure at `t` [s]. */
export function givenTo(
  tree: Tree, uid: number, board: ReadonlyMap<string, BlackboardEntry>, statuses: ReadonlyMap<string, NodeStatus>,
  t = Infinity,
): Given[] {
  const document = new DOMParser().parseFromString(tree.xml, "application/xml");
  const elements = [...document.querySelectorAll("BehaviorTree *")];
  const byUid = new Map(elements.map((each) => [Number(each.getAttribute("_uid")), each]));
  const element = byUid.get(uid);
  if (element === undefined) return [];
  return [...element.attributes]
    .filter(({ name }) => !OWN.has(name) && !name.startsWith("_"))
    .map(({ name, value }) => {
      const source = sourceOf(tree, byUid, uid, name);
      const key = entryOf(name, value);
      if (key === "") return { port: name, text: value, key, later: false, writers: [], source };
      const writers = elements.filter((each) => writes(each, key)).flatMap((each) => writer(each, tree, statuses));
      const later = writers.some((each) => each.t !== null && each.t > t);
      const text = valueOf(board, key) ?? source?.text ?? "(not written)";
      return { port: name, key, text, later, writers: lastOf(writers, t), source };
    });
}

/** The entry that a port is connected to; empty: its text is its value. */
function entryOf(port: string, text: string): string {
  const key = /^\{(.*)\}$/.exec(text)?.[1] ?? "";
  return key === "=" ? port : key;
}

/** Where a port's text stands: at the node, or at a SubTree around it that hands it down. */
function sourceOf(
  tree: Tree, elements: ReadonlyMap<number, Element>, uid: number, port: string,
): Source | null {
  const text = elements.get(uid)?.getAttribute(port) ?? null;
  if (text === null) return null;
  const key = entryOf(port, text);
  if (key === "") return { uid, port, text };
  const around = new Map(tree.nodes.map((node) => [node[0], node]));
  for (let node = around.get(around.get(uid)?.[1] ?? NaN); node !== undefined; node = parentOf(node, around))
    if (node[4] === "SubTree") return sourceOf(tree, elements, node[0], key);
  return null;
}

/** Of what a node was given, what a failure speaks of and can be changed in the tree. */
export function spokenOf(given: readonly Given[], texts: readonly string[]): Source | null {
  const all = texts.map((text) => text.toLowerCase());
  const named = given.find(({ port, source, writers }) =>
    source !== null && writers.length === 0 && all.some((text) => wordIn(text, port)));
  return named?.source ?? null;
}

/** Whether a text has the name of a port, in words or as it is. */
function wordIn(text: string, port: string): boolean {
  return [port, port.replace(/_/g, " ")].some((name) =>
    new RegExp(`(^|[^\\w])${name.toLowerCase().replace(/[^\w]/g, "\\$&")}($|[^\\w])`).test(text));
}

/** Of those that write, the one that ran last before `t`; all of them where none did. */
function lastOf(writers: Link[], t: number): Link[] {
  const ran = writers.filter((each) => each.t !== null && each.t <= t);
  return ran.length === 0 ? writers : [ran.reduce((one, other) => ((other.t ?? 0) > (one.t ?? 0) ? other : one))];
}

function valueOf(board: ReadonlyMap<string, BlackboardEntry>, key: string): string | undefined {
  const place = [...board.keys()].find((each) => each === key) ?? [...board.keys()].find((each) => each.endsWith(`/${key}`));
  return place === undefined ? undefined : (board.get(place)?.[1] ?? "");
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
