// SPDX-License-Identifier: Apache-2.0
import { placed, type LayoutInput, type Placing } from "./layout";

/** Cards up to which the page itself places them, which is sooner than asking the worker. */
const AT_ONCE = 150;

interface Request {
  number: number;
  input: LayoutInput;
}

/** Places trees in a worker, the newest only: what is asked meanwhile replaces what still waits. */
export class Placer {
  private worker: Worker | null = null;
  private number = 0;
  private busy = false;
  private waiting: Request | null = null;

  constructor(private readonly done: (number: number, placing: Placing) => void) {}

  /** Asks for a placing; `done` is given the number that this returns, soon or at once. */
  place(input: LayoutInput): number {
    const number = ++this.number;
    if (input.parents.length <= AT_ONCE) queueMicrotask(() => this.arrived(number, placed(input)));
    else {
      this.waiting = { number, input };
      this.next();
    }
    return number;
  }

  close(): void {
    this.worker?.terminate();
    this.number += 1;
  }

  private next(): void {
    if (this.busy || this.waiting === null) return;
    this.worker ??= this.started();
    this.worker.postMessage(this.waiting);
    this.waiting = null;
    this.busy = true;
  }

  private started(): Worker {
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<{ number: number; placing: Placing }>) => {
      this.busy = false;
      this.arrived(data.number, data.placing);
      this.next();
    };
    return worker;
  }

  private arrived(number: number, placing: Placing): void {
    if (number === this.number) this.done(number, placing);
  }
}
