// SPDX-License-Identifier: Apache-2.0
// Which cards are shown: those in no closed card, and of a filtered tree those on the way to a hit.
import { FAILURE, RUNNING, SKIPPED, SUCCESS } from "../../store";
import { cardHeight, CARD_WIDTH } from "./geometry";
import type { Direction, LayoutInput } from "./layout";
import { above, type Card, type TreeModel } from "./model";
import type { States } from "./states";

/** Indices of the cards that are shown, in the order of the tree. */
export function shownCards(
  model: TreeModel, closed: ReadonlySet<string>, only?: ReadonlySet<number>,
): number[] {
  if (model.cards.length === 0) return [];
  const wanted = only === undefined
    ? undefined
    : new Set([...only].flatMap((index) => above(model, index)));
  const shown: number[] = [];
  const waiting = [0];
  while (waiting.length > 0) {
    const index = waiting.pop()!;
    if (wanted !== undefined && !wanted.has(index)) continue;
    shown.push(index);
    const card = model.cards[index]!;
    if (wanted !== undefined || !closed.has(card.path))
      waiting.push(...[...card.children].reverse());
  }
  return shown;
}

/** What the layout needs to know about the cards that are shown. */
export function layoutInput(
  model: TreeModel, shown: readonly number[], direction: Direction,
): LayoutInput {
  const places = new Map(shown.map((index, place) => [index, place]));
  const cards = shown.map((index) => model.cards[index]!);
  const open = (card: Card) => card.children.some((child) => places.has(child));
  return {
    parents: Int32Array.from(cards, (card) => places.get(card.parent) ?? -1),
    heights: Float32Array.from(cards, cardHeight),
    groups: Int32Array.from(cards, (card) => card.group),
    nesting: Int32Array.from(cards, (card) => (open(card) ? card.nesting : 0)),
    width: CARD_WIDTH,
    direction,
  };
}

/** The shown card that stands for one: itself, or the closed one around it. */
export function shownFor(
  model: TreeModel, index: number, places: ReadonlyMap<number, number>,
): number | undefined {
  return above(model, index).find((each) => places.has(each));
}

const IS: Record<string, number> = {
  running: RUNNING, success: SUCCESS, failed: FAILURE, failure: FAILURE, skipped: SKIPPED,
};

/**
 * Cards that a search finds: words in name, type, path, ports and conditions, `is:failed`,
 * `kind:action`; all of them must fit. Nothing is found by nothing.
 */
export function found(model: TreeModel, query: string, states: States): number[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  return model.cards
    .filter((card) => words.every((word) => fits(card, word, states)))
    .map(({ index }) => index);
}

function fits(card: Card, word: string, states: States): boolean {
  const [field, value = ""] = word.split(":", 2);
  if (field === "is" && value in IS) return states.of(card.index) === IS[value];
  if (field === "kind") return card.kind.startsWith(value);
  return card.name.toLowerCase().includes(word) || card.type.toLowerCase().includes(word)
    || card.path.toLowerCase().includes(word)
    || [...card.ports, ...card.conditions].some((pair) =>
      pair.some((text) => text.toLowerCase().includes(word)));
}
