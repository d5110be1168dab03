// SPDX-License-Identifier: Apache-2.0
// One page's part in editing: the shared document as the server has it, and edits as commands.
import { Value, type Answer, type Console } from "../../../store";
import { readDocument, type DocumentHead, type TreeDocument } from "./document";
import type { NodeModel } from "./models";
import type { Operation } from "./operations";

/** What becomes of an edit that changes what runs now. */
export type Running = "refuse" | "after" | "halt";

/** What was said to an edit, and at which node it is shown. */
export interface Outcome {
  operation: Operation;
  /** Identifier of the node; empty: beside the buttons. */
  at: string;
  kind: "sent" | "refused" | "runs" | "waits" | "note";
  text: string;
  /** Number of the edit, while it waits for what runs. */
  number?: number;
}

/** Codes of behavior_msgs/srv/EditTree. */
const MADE = 0;
const WAITS = 1;
const RUNS = 3;

export class EditSession {
  /** Name of the mission whose tree is edited; null: nobody edits. */
  readonly tree = new Value<string | null>(null);
  readonly document = new Value<TreeDocument | null>(null);
  /** Why there is no document, or what is wrong with it. */
  readonly problem = new Value("");
  readonly outcome = new Value<Outcome | null>(null);
  /** Kind of node that is dragged from the palette. */
  readonly dragged = new Value<NodeModel | null>(null);
  /** Puts a kind of node behind the selected one; the tree panel sets it. */
  insert: ((model: NodeModel) => void) | null = null;
  /** Identifier of a new node that is selected as soon as it is shown. */
  readonly fresh = new Value<string | null>(null);
  /** Port of the selected node whose field is to have the focus; empty: none. */
  readonly wanted = new Value("");
  /** What this page is called among editors. */
  readonly name = new Value("");
  private stop: (() => void) | null = null;

  constructor(private readonly console: Console) {}

  /** Begins to edit a mission's tree, or another one. */
  begin(tree: string): void {
    if (this.tree.get() === tree) return;
    this.end();
    this.tree.set(tree);
    const stops = [
      this.console.subscribe("document", ({ all, keys }) => void ((all || keys.includes(tree)) && this.take(tree))),
      this.console.subscribe("editors", () => undefined),
      // A server that was started anew has no document of it before it is asked.
      this.console.connection.welcome.subscribe(() => void this.open(tree)),
    ];
    this.stop = () => stops.forEach((each) => each());
    this.take(tree);
    void this.open(tree);
  }

  /** Makes a new mission and begins to edit it; why not, or an empty text. */
  async create(name: string): Promise<string> {
    const answer = await this.console.send("tree.new", { name });
    if (!answer.ok) return answer.message;
    this.begin(name);
    return "";
  }

  end(): void {
    const tree = this.tree.get();
    if (this.stop !== null && tree !== null) void this.console.send("tree.close", { tree });
    this.stop?.();
    this.stop = null;
    this.tree.set(null);
    this.document.set(null);
    this.problem.set("");
    this.outcome.set(null);
    this.fresh.set(null);
    this.wanted.set("");
  }

  /** Shows other editors what is selected and pointed at here. */
  point(node: string | null, over: string | null): void {
    const tree = this.tree.get();
    if (tree !== null && this.name.get() !== "") void this.console.send("tree.point", { tree, node, over });
  }

  /** Asks for an edit; what became of it stands in `outcome`. */
  async edit(operation: Operation, at = "", running: Running = "refuse"): Promise<Answer | null> {
    const tree = this.tree.get();
    if (tree === null) return null;
    this.outcome.set({ operation, at, kind: "sent", text: "" });
    const answer = await this.console.send("tree.edit", { tree, operation, running });
    const { code, number, nodes } = valueOf(answer);
    const kind = code === RUNS ? "runs" : !answer.ok ? "refused" : code === WAITS ? "waits" : "note";
    const text = answer.message || (kind === "waits" ? "It is made when what it changes has ended." : "");
    this.outcome.set(text === "" ? null : { operation, at, kind, text, ...(kind === "waits" ? { number } : {}) });
    if (answer.ok && nodes.length > 0) this.fresh.set(nodes[0]!);
    return answer;
  }

  /** Asks for the last edit again, with an answer to what shall become of what runs. */
  again(running: Running): void {
    const last = this.outcome.get();
    if (last !== null) void this.edit(last.operation, last.at, running);
  }

  private async open(tree: string): Promise<void> {
    if (this.console.connection.welcome.get() === null) return;
    const answer = await this.console.send("tree.open", { tree });
    if (this.tree.get() !== tree) return;
    if (answer.ok) this.name.set(String((answer.value as { editor?: unknown } | undefined)?.editor ?? ""));
    else this.problem.set(answer.message);
  }

  private take(tree: string): void {
    const entries = this.console.channels.current("document");
    const head = entries.get(tree) as DocumentHead | undefined;
    if (head === undefined) return;
    this.problem.set(head.problem);
    this.settle(head.late[this.name.get()]);
    const document = readDocument(entries, tree);
    if (document !== null) this.document.set(document);
  }

  /** An edit that has waited is answered at last. */
  private settle(late: [number, number, string] | undefined): void {
    const outcome = this.outcome.get();
    if (late === undefined || outcome === null || outcome.number !== late[0]) return;
    const [, code, text] = late;
    this.outcome.set(code === MADE && text === "" ? null : { ...outcome, kind: code === MADE ? "note" : "refused", text });
  }
}

function valueOf({ value }: Answer): { code: number; number: number; nodes: string[] } {
  const { code, number, nodes } = (value ?? {}) as { code?: number; number?: number; nodes?: string[] };
  return { code: code ?? MADE, number: number ?? 0, nodes: nodes ?? [] };
}

const sessions = new WeakMap<Console, EditSession>();

/** The page's one editor, which all panels share. */
export function editSession(console: Console): EditSession {
  let session = sessions.get(console);
  if (session === undefined) sessions.set(console, (session = new EditSession(console)));
  return session;
}
