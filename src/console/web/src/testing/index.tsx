// SPDX-License-Identifier: Apache-2.0
// A console without a server, for tests of panels.
import { render } from "@testing-library/react";
import type { ReactElement } from "react";
import type { Timing } from "../store/connection";
import { Console, ConsoleProvider } from "../store/console";
import { readUrl } from "../store/url";
import { FakeServer, type Script } from "./fake";
import { stackBlocks } from "./stack_blocks";

export { noStack } from "./empty";
export { FakeServer } from "./fake";
export { ENDS_AT, FAILS_AT, stackBlocks } from "./stack_blocks";

/** Timing of a test: drawing is at once, what comes later runs when `pass` says so. */
export class ManualTiming implements Timing {
  private now = 0;
  private waiting: { due: number; run: () => void }[] = [];

  later(run: () => void, seconds: number): () => void {
    const entry = { due: this.now + seconds, run };
    this.waiting.push(entry);
    return () => void (this.waiting = this.waiting.filter((each) => each !== entry));
  }

  drawn(run: () => void): void {
    run();
  }

  /** Lets time pass [s]. */
  pass(seconds: number): void {
    this.now += seconds;
    const due = this.waiting.filter((each) => each.due <= this.now);
    this.waiting = this.waiting.filter((each) => each.due > this.now);
    for (const each of due) each.run();
  }
}

/** A console that is connected to a fake at the moment `t` [s] of a script. */
export async function fakeConsole(options: { script?: Script; t?: number; url?: string; record?: string } = {}) {
  const server = new FakeServer(options.script ?? stackBlocks, options.t ?? 0);
  const timing = new ManualTiming();
  const hello = { name: "you", role: "edit" as const, ...(options.record === undefined ? {} : { record: options.record }) };
  const console = new Console(server.connect, hello, readUrl(options.url ?? ""), timing);
  console.connection.open();
  await Promise.resolve();
  return { console, server, timing };
}

/** Renders a panel with a console around it. */
export function renderWith(console: Console, element: ReactElement) {
  return render(<ConsoleProvider console={console}>{element}</ConsoleProvider>);
}
