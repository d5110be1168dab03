// SPDX-License-Identifier: Apache-2.0

/** Where a label is on the screen [px], and how much it matters: the higher rank stays. */
export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
  rank: number;
}

/**
 * Which of these labels can be read beside each other: of two that overlap the one of the higher rank, of
 * the same rank the first one. A label that is hidden hides no other.
 */
export function readable(labels: readonly Placed[]): boolean[] {
  const shown: Placed[] = [];
  const kept = new Array<boolean>(labels.length).fill(false);
  const order = labels.map((_, index) => index).sort((one, other) => labels[other]!.rank - labels[one]!.rank || one - other);
  for (const index of order) {
    const label = labels[index]!;
    if (shown.some((each) => overlap(each, label))) continue;
    shown.push(label);
    kept[index] = true;
  }
  return kept;
}

function overlap(one: Placed, other: Placed): boolean {
  return (
    one.x < other.x + other.width && other.x < one.x + one.width &&
    one.y < other.y + other.height && other.y < one.y + one.height
  );
}
