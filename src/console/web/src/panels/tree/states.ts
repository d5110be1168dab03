// SPDX-License-Identifier: Apache-2.0
// Statuses of a tree's cards in arrays, for drawing many without objects.
import { IDLE, RUNNING, type NodeStatus, type StatusCode } from "../../store";
import type { TreeModel } from "./model";

export class States {
  readonly status: Uint8Array;
  /** Since when [s]. */
  readonly since: Float64Array;
  /** How a card ended last. */
  readonly ended: Uint8Array;

  constructor(private readonly model: TreeModel) {
    this.status = new Uint8Array(model.cards.length);
    this.since = new Float64Array(model.cards.length);
    this.ended = new Uint8Array(model.cards.length);
  }

  /** Takes over the statuses of some uids, or of all; whether it changes who runs. */
  take(statuses: ReadonlyMap<string, NodeStatus>, uids?: readonly string[]): boolean {
    let runs = false;
    if (uids === undefined)
      for (const card of this.model.cards)
        runs = this.put(card.index, statuses.get(String(card.uid))) || runs;
    else
      for (const uid of uids) {
        const index = this.model.byUid.get(Number(uid));
        if (index !== undefined) runs = this.put(index, statuses.get(uid)) || runs;
      }
    return runs;
  }

  of(index: number): StatusCode {
    return (this.status[index] ?? IDLE) as StatusCode;
  }

  /** What runs and has nothing in it that runs, the latest first. */
  running(): number[] {
    const found = this.model.cards.filter(
      ({ index, children }) =>
        this.status[index] === RUNNING && !children.some((each) => this.status[each] === RUNNING),
    );
    return found.map(({ index }) => index).sort((a, b) => this.since[b]! - this.since[a]!);
  }

  private put(index: number, entry: NodeStatus | undefined): boolean {
    const [status, since, , ended] = entry ?? [IDLE, 0, 0, IDLE];
    const runs = (this.status[index] === RUNNING) !== (status === RUNNING)
      || (status === RUNNING && this.since[index] !== since);
    this.status[index] = status;
    this.since[index] = since;
    this.ended[index] = ended;
    return runs;
  }
}
