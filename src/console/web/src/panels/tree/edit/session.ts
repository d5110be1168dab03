// SPDX-License-Identifier: Apache-2.0
// One page's part in editing: the shared document as the server has it, and edits as commands.
import { Value, type Answer, type Console } from "../../../store";
import type { TreeDocument } from "./document";
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
}

/** Codes of behavior_msgs/srv/EditTree. */
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
  private stop: (() => void) | null = null;

  constructor(private readonly console: Console) {}

  /** Begins to edit a mission's tree, or another one. */
  begin(tree: string): void {
    if (this.tree.get() === tree) return;
    this.end();
    this.tree.set(tree);
    const stops = [
      this.console.subscribe("document", ({ all, keys }) => void ((all || keys.includes(tree)) && this.take(tree))),
      // A server that was started anew has no document of it before it is asked.
      this.console.connection.welcome.subscribe(() => void this.open(tree)),
    ];
    this.stop = () => stops.forEach((each) => each());
    this.take(tree);
    void this.open(tree);
  }

  end(): void {
    this.stop?.();
    this.stop = null;
    this.tree.set(null);
    this.document.set(null);
    this.problem.set("");
    this.outcome.set(null);
  }

  /** Asks for an edit; what became of it stands in `outcome`. */
  async edit(operation: Operation, at = "", running: Running = "refuse"): Promise<Answer | null> {
    const tree = this.tree.get();
    if (tree === null) return null;
    this.outcome.set({ operation, at, kind: "sent", text: "" });
    const answer = await this.console.send("tree.edit", { tree, operation, running });
    const code = codeOf(answer);
    const kind = code === RUNS ? "runs" : !answer.ok ? "refused" : code === WAITS ? "waits" : "note";
    const text = answer.message || (kind === "waits" ? "It is made when what it changes has ended." : "");
    this.outcome.set(text === "" ? null : { operation, at, kind, text });
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
    if (this.tree.get() === tree && !answer.ok) this.problem.set(answer.message);
  }

  private take(tree: string): void {
    const entry = this.console.channels.current("document").get(tree);
    if (!isDocument(entry)) return;
    this.problem.set(entry.problem ?? "");
    if (entry.tree.file !== undefined) this.document.set(entry);
  }
}

function isDocument(entry: unknown): entry is TreeDocument & { problem?: string } {
  return typeof entry === "object" && entry !== null && "nodes" in entry && "files" in entry && "tree" in entry;
}

function codeOf({ value }: Answer): number {
  const code = typeof value === "object" && value !== null ? (value as { code?: unknown }).code : 0;
  return typeof code === "number" ? code : 0;
}

const sessions = new WeakMap<Console, EditSession>();

/** The page's one editor, which all panels share. */
export function editSession(console: Console): EditSession {
  let session = sessions.get(console);
  if (session === undefined) sessions.set(console, (session = new EditSession(console)));
  return session;
}
