// SPDX-License-Identifier: Apache-2.0
// Lines of two texts that differ. Pure.

export interface Line {
  sign: " " | "+" | "-";
  text: string;
}

/** Lines beyond which the middle of two texts is shown as replaced. */
const MOST = 3000;

/** The lines of both texts, in order: kept, added, taken out. */
export function difference(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const kept = (text: string): Line => ({ sign: " ", text });
  return [
    ...a.slice(0, start).map(kept),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(kept),
  ];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const gone = (text: string): Line => ({ sign: "-", text });
  const fresh = (text: string): Line => ({ sign: "+", text });
  if (a.length * b.length > MOST * MOST) return [...a.map(gone), ...b.map(fresh)];
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j]
        ? longest[(i + 1) * width + j + 1]! + 1
        : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i++]! });
      j += 1;
    } else if (i < a.length && (j >= b.length || longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!))
      lines.push(gone(a[i++]!));
    else lines.push(fresh(b[j++]!));
  }
  return lines;
}

/** Only what differs, with some lines around it; null stands for what is left out. */
export function changed(lines: readonly Line[], around = 2): (Line | null)[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ sign }) => sign !== " "));
  return lines.flatMap((line, at) => (near[at] ? [line] : near[at - 1] ? [null] : []));
}
