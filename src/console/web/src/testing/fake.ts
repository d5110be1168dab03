// SPDX-License-Identifier: Apache-2.0
import { LOG_CHANNELS, MAP_CHANNELS } from "../store/channels";
import type { Connect, Receiver, Transport } from "../store/transport";
import type { ClientMessage, Frame, Role } from "../store/types";

/** What all channels hold at a moment [s]. */
export type Script = (t: number) => Record<string, unknown>;

interface Link {
  receiver: Receiver;
  wanted: string[];
  /** What the client has of each channel. */
  has: Map<string, unknown>;
  at: number | null;
}

/** A server without a network: plays a script, answers commands and remembers what it was sent. */
export class FakeServer {
  readonly received: ClientMessage[] = [];
  role: Role = "edit";
  /** How commands are answered; those not here are accepted. */
  readonly answers = new Map<string, { ok: boolean; message: string; value?: unknown }>();
  /** Answers no command. */
  silent = false;
  private links: Link[] = [];
  private frame = 0;
  private pages = 0;
  private overlay: Record<string, unknown> = {};

  constructor(private readonly script: Script, public t = 0) {}

  /** To be handed to `Console`. */
  readonly connect: Connect = (receiver) => {
    const link: Link = { receiver, wanted: [], has: new Map(), at: null };
    this.links.push(link);
    queueMicrotask(() => receiver.opened());
    const transport: Transport = {
      send: (message) => this.take(link, message),
      close: () => void (this.links = this.links.filter((each) => each !== link)),
    };
    return transport;
  };

  /** Lets time pass; whoever is live sees what changed. */
  advance(seconds: number): void {
    this.t += seconds;
    for (const link of this.links) this.send(link);
  }

  /** Replaces channels of the script, for what it does not hold. */
  put(channels: Record<string, unknown>): void {
    this.overlay = { ...this.overlay, ...channels };
    for (const link of this.links) this.send(link);
  }

  /** Breaks all connections. */
  drop(reason = "", final = false): void {
    const links = this.links;
    this.links = [];
    for (const link of links) link.receiver.closed(reason, final);
  }

  private take(link: Link, message: ClientMessage): void {
    this.received.push(message);
    if ("hello" in message) {
      link.receiver.message({
        welcome: {
          protocol: 1, number: ++this.pages, name: `${message.hello.name} #${this.pages}`,
          role: this.role, view: message.hello.view, now: this.t, channels: {}, commands: [],
        },
      });
    } else if ("subscribe" in message) {
      link.wanted = message.subscribe;
      for (const name of link.has.keys()) if (!link.wanted.includes(name)) link.has.delete(name);
      this.send(link);
    } else if ("at" in message) {
      link.at = message.at;
      this.send(link);
    } else if ("command" in message) {
      if (this.silent) return;
      const { id, name } = message.command;
      const answer = this.answers.get(name) ?? { ok: true, message: "done" };
      queueMicrotask(() => link.receiver.message({ answer: { id, ...answer } }));
    }
  }

  private send(link: Link): void {
    const whole = this.script(this.t);
    const logs = Object.fromEntries([...LOG_CHANNELS].map((name) => [name, whole[name]]));
    const moment = link.at === null ? whole : { ...this.script(link.at), ...logs };
    const state = { ...moment, ...this.overlay };
    const frame: Frame = { frame: ++this.frame, now: this.t, at: link.at };
    for (const name of link.wanted) {
      add(frame, name, link.has.get(name), state[name], link.has.has(name));
      link.has.set(name, state[name]);
    }
    link.receiver.message(frame);
  }
}

function add(frame: Frame, name: string, before: unknown, now: unknown, known: boolean): void {
  if (known && before === now) return;
  if (known && JSON.stringify(before) === JSON.stringify(now)) return;
  const grown = Array.isArray(before) && Array.isArray(now) && now.length >= before.length;
  if (known && MAP_CHANNELS.has(name)) (frame.patch ??= {})[name] = difference(before, now);
  else if (known && LOG_CHANNELS.has(name) && grown && starts(now, before))
    (frame.add ??= {})[name] = now.slice(before.length);
  else (frame.set ??= {})[name] = now ?? null;
}

function starts(now: unknown[], before: unknown[]): boolean {
  return JSON.stringify(now.slice(0, before.length)) === JSON.stringify(before);
}

function difference(before: unknown, now: unknown): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  const fresh = (now ?? {}) as Record<string, unknown>;
  const changed = Object.entries(fresh)
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key]));
  const gone = Object.keys(old).filter((key) => !(key in fresh)).map((key) => [key, null]);
  return Object.fromEntries([...changed, ...gone]) as Record<string, unknown>;
}
