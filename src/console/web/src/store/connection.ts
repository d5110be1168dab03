// SPDX-License-Identifier: Apache-2.0
import type { Channels } from "./channels";
import type { Connect, Receiver, Transport } from "./transport";
import type { Answer, Problem, Role, ServerMessage, Welcome } from "./types";
import { Value } from "./value";

export type LinkState =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "lost"; reason: string; attempt: number }
  | { state: "refused"; reason: string };

/** Time and drawing of the machine, handed in so that tests have their own. */
export interface Timing {
  later(run: () => void, seconds: number): () => void;
  /** Runs after what was changed has been drawn. */
  drawn(run: () => void): void;
}

export const browserTiming: Timing = {
  later: (run, seconds) => {
    const timer = window.setTimeout(run, seconds * 1000);
    return () => window.clearTimeout(timer);
  },
  drawn: (run) => void window.requestAnimationFrame(() => run()),
};

export interface Hello {
  name: string;
  role: Role;
  record?: string;
}

/** [s] after which a command without an answer counts as failed. */
const ANSWER_TIMEOUT = 15;
const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 5;

/** The link to the server: connects, connects again when it is lost, and keeps what was asked for. */
export class Connection implements Receiver {
  readonly link = new Value<LinkState>({ state: "connecting" });
  readonly welcome = new Value<Welcome | null>(null);
  readonly problem = new Value<Problem | null>(null);
  /** The executor's clock with the latest frame [s]. */
  readonly now = new Value(0);
  /** The moment that the channels hold; null: live. */
  readonly shown = new Value<number | null>(null);

  private transport: Transport | null = null;
  private attempt = 0;
  private cancelRetry: () => void = () => {};
  private wanted: string[] = [];
  private at: number | null = null;
  private nextId = 1;
  private readonly pending = new Map<number, (answer: Answer) => void>();

  constructor(
    private readonly channels: Channels,
    private readonly connect: Connect,
    private readonly hello: Hello,
    private readonly timing: Timing = browserTiming,
  ) {}

  /** Connects; to be called once. */
  open(): void {
    this.link.set({ state: "connecting" });
    this.transport = this.connect(this);
  }

  close(): void {
    this.cancelRetry();
    this.transport?.close();
    this.transport = null;
  }

  /** Connects now instead of after the pause. */
  retry(): void {
    this.cancelRetry();
    this.transport?.close();
    this.open();
  }

  /** The whole list of channels that are shown now. */
  subscribe(names: string[]): void {
    this.wanted = names;
    if (this.isOpen()) this.transport?.send({ subscribe: names });
  }

  /** Asks for the state at a moment [s], or the live one. */
  show(at: number | null): void {
    this.at = at;
    if (this.isOpen()) this.transport?.send({ at });
  }

  /** Sends a command; the answer always comes, if need be one that says why there is none. */
  send(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const id = this.nextId++;
    const fail = (message: string): Answer => ({ id, ok: false, message });
    if (!this.isOpen())
      return Promise.resolve(fail("not connected to the console's server: nothing was sent"));
    return new Promise((resolve) => {
      const cancel = this.timing.later(
        () => this.answered(fail(`no answer to '${name}' within ${ANSWER_TIMEOUT} s`)),
        ANSWER_TIMEOUT,
      );
      this.pending.set(id, (answer) => {
        cancel();
        resolve(answer);
      });
      this.transport?.send({ command: { id, name, args } });
    });
  }

  opened(): void {
    const { name, role, record } = this.hello;
    const view = record === undefined ? ("live" as const) : ("record" as const);
    this.transport?.send({ hello: { name, role, view, ...(record === undefined ? {} : { record }) } });
  }

  message(message: ServerMessage): void {
    if ("welcome" in message) this.welcomed(message.welcome);
    else if ("answer" in message) this.answered(message.answer);
    else if ("problem" in message) {
      this.problem.set(message.problem);
    } else {
      this.channels.apply(message);
      this.now.set(message.now);
      this.shown.set(message.at);
      if (message.at === this.at && this.problem.get()?.at !== undefined) this.problem.set(null);
      this.timing.drawn(() => this.transport?.send({ seen: message.frame }));
    }
  }

  closed(reason: string, final: boolean): void {
    this.transport = null;
    for (const [id, resolve] of this.pending)
      resolve({ id, ok: false, message: "the connection was lost before the answer came" });
    this.pending.clear();
    if (this.link.get().state === "refused") return;
    if (final) return this.refuse(this.problem.get()?.text || reason);
    this.attempt += 1;
    this.link.set({ state: "lost", reason, attempt: this.attempt });
    const pause = Math.min(FIRST_PAUSE * 2 ** (this.attempt - 1), LONGEST_PAUSE);
    this.cancelRetry = this.timing.later(() => {
      this.transport = this.connect(this);
    }, pause);
  }

  private welcomed(welcome: Welcome): void {
    this.attempt = 0;
    this.channels.reset();
    this.problem.set(null);
    this.welcome.set(welcome);
    this.link.set({ state: "open" });
    this.transport?.send({ subscribe: this.wanted });
    if (this.at !== null) this.transport?.send({ at: this.at });
  }

  private answered(answer: Answer): void {
    const resolve = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    resolve?.(answer);
  }

  private refuse(reason: string): void {
    this.link.set({
      state: "refused",
      reason: reason || "the server refused the connection: open the address that it printed",
    });
  }

  private isOpen(): boolean {
    return this.transport !== null && this.link.get().state === "open";
  }
}
