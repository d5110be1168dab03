// SPDX-License-Identifier: Apache-2.0
/** Items whose text has all words of the query, those that begin with it first. */
export function ranked<T>(query: string, items: readonly T[], text: (item: T) => string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const scored = items
    .map((item) => ({ item, score: scoreOf(words, text(item).toLowerCase()) }))
    .filter(({ score }) => score >= 0);
  return scored.sort((a, b) => b.score - a.score).map(({ item }) => item);
}

function scoreOf(words: string[], text: string): number {
  let score = 0;
  for (const word of words) {
    const place = text.indexOf(word);
    if (place < 0) return -1;
    if (place === 0) score += 2;
    else if (/[\s:_/]/.test(text[place - 1] ?? "")) score += 1;
  }
  return score;
}
