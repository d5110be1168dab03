// SPDX-License-Identifier: Apache-2.0
// How large cards are and what stands on them [px at scale 1].
import type { Card } from "./model";

export const CARD_WIDTH = 208;
export const NAME_HEIGHT = 28;
export const LINE_HEIGHT = 15;
export const CHIP_HEIGHT = 18;
export const PADDING = 8;
const MOST_PORTS = 3;

/** What a card shows below its name. */
export interface Lines {
  type: string;
  ports: string[];
  chips: string[];
}

const known = new WeakMap<Card, Lines>();

export function linesOf(card: Card): Lines {
  let lines = known.get(card);
  if (lines === undefined) known.set(card, (lines = linesFor(card)));
  return lines;
}

/** Ports that matter come first: those connected to the blackboard. */
function linesFor(card: Card): Lines {
  const connected = card.ports.filter(([, text]) => text.includes("{"));
  const others = card.ports.filter(([, text]) => !text.includes("{"));
  const ports = [...connected, ...others].slice(0, MOST_PORTS);
  const hidden = card.ports.length - ports.length;
  const chips = card.conditions.map(([name, text]) => `${name}: ${text}`).slice(0, 1);
  if (card.conditions.length > 1) chips.push(`+${card.conditions.length - 1}`);
  if (card.begins !== "") chips.push(card.begins);
  return {
    type: card.type === card.name ? "" : card.type,
    ports: ports.map(([name, text], at) =>
      `${name} = ${text}${hidden > 0 && at === ports.length - 1 ? `  (+${hidden})` : ""}`),
    chips,
  };
}

export function cardHeight(card: Card): number {
  const { type, ports, chips } = linesOf(card);
  const lines = (type === "" ? 0 : 1) + ports.length;
  return NAME_HEIGHT + lines * LINE_HEIGHT + (chips.length > 0 ? CHIP_HEIGHT : 0)
    + (lines + chips.length > 0 ? 4 : 0);
}
