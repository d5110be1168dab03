// SPDX-License-Identifier: Apache-2.0
import {
  FAILURE, IDLE, RUNNING, SUCCESS, type NodeKind, type NodeStatus, type Reason, type Span, type StatusCode,
  type TreeNode,
} from "../store/types";

/** One node of a script: type, name, children; a leaf has when it worked and how that ended. */
export interface Scripted {
  type: string;
  name: string;
  kind: NodeKind;
  children?: Scripted[];
  /** `[begin, end, status]` [s] of each time a leaf ran. */
  ran?: [number, number, StatusCode][];
  /** Status that a node with children ends with, SUCCESS if not said. */
  ends?: StatusCode;
  ports?: Record<string, string>;
  reason?: Reason;
}

interface Placed {
  node: Scripted;
  uid: number;
  ran: [number, number, StatusCode][];
}

/** A run of a tree that is known for every moment. */
export class ScriptedRun {
  readonly nodes: TreeNode[] = [];
  readonly xml: string;
  private readonly placed: Placed[] = [];

  constructor(readonly id: string, root: Scripted) {
    this.place(root, null, id);
    this.xml = `<root BTCPP_format="4"><BehaviorTree ID="${id}">${xml(root, counter())}</BehaviorTree></root>`;
  }

  /** Uid of the node of this name. */
  uid(name: string): number {
    const found = this.placed.find((each) => each.node.name === name);
    if (found === undefined) throw new Error(`the script has no node '${name}'`);
    return found.uid;
  }

  status(t: number): Record<string, NodeStatus> {
    const entries = this.placed.map(({ uid, ran }) => [String(uid), statusAt(ran, t)]);
    return Object.fromEntries(entries) as Record<string, NodeStatus>;
  }

  reasons(t: number): Record<string, Reason> {
    const entries = this.placed
      .filter(({ node }) => node.reason !== undefined && node.reason.t <= t)
      .map(({ node, uid }) => [String(uid), node.reason]);
    return Object.fromEntries(entries) as Record<string, Reason>;
  }

  /** What leaves did until `t`, in the order of beginning. */
  spans(t: number): Span[] {
    return this.placed
      .filter(({ node }) => node.children === undefined)
      .flatMap(({ node, uid, ran }) =>
        ran.filter(([begin]) => begin <= t).map(([begin, end, status]): Span =>
          end > t ? [uid, begin, null, RUNNING]
            : status === FAILURE && node.reason !== undefined
              ? [uid, begin, end, status, uid, node.reason.text] : [uid, begin, end, status]),
      )
      .sort((a, b) => a[1] - b[1]);
  }

  /** Path of the node of this name. */
  path(name: string): string {
    return this.nodes.find((each) => each[3] === name)?.[5] ?? "";
  }

  private place(node: Scripted, parent: number | null, path: string): [number, number] {
    const uid = this.placed.length + 1;
    const own = parent === null ? node.name : `${path}/${node.name}`;
    const placed: Placed = { node, uid, ran: node.ran ?? [] };
    this.placed.push(placed);
    this.nodes.push([uid, parent, node.type, node.name, node.kind, own]);
    const times = (node.children ?? []).map((child) => this.place(child, uid, own));
    if (node.children !== undefined) {
      const begin = Math.min(...times.map((each) => each[0]));
      const end = Math.max(...times.map((each) => each[1]));
      if (Number.isFinite(begin)) placed.ran = [[begin, end, node.ends ?? SUCCESS]];
    }
    return [
      Math.min(...placed.ran.map((each) => each[0])), Math.max(...placed.ran.map((each) => each[1])),
    ];
  }
}

function statusAt(ran: [number, number, StatusCode][], t: number): NodeStatus {
  const ended = ran.filter(([, end]) => end <= t);
  const last: StatusCode = ended.at(-1)?.[2] ?? IDLE;
  const now = ran.find(([begin, end]) => begin <= t && t < end);
  if (now !== undefined) return [RUNNING, now[0], ended.length, last];
  return [last, ended.at(-1)?.[1] ?? 0, ended.length, last];
}

function counter(): () => number {
  let last = 0;
  return () => ++last;
}

/** The node and what is in it, numbered in the order of the document as `place` does. */
function xml(node: Scripted, uid: () => number): string {
  const ports = Object.entries(node.ports ?? {}).map(([key, value]) => ` ${key}="${escape(value)}"`);
  const tag = node.kind === "SubTree" ? "Sequence" : node.type;
  const head = `${tag} name="${escape(node.name)}" _uid="${uid()}"${ports.join("")}`;
  const inner = (node.children ?? []).map((child) => xml(child, uid)).join("");
  return inner === "" ? `<${head}/>` : `<${head}>${inner}</${tag}>`;
}

function escape(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}

