// SPDX-License-Identifier: Apache-2.0
// A tree as cards: what the channel `tree` and its XML say about each node, without statuses.
import type { Tree } from "../../store";

export type Kind = "control" | "decorator" | "action" | "condition" | "subtree";

/** A node as it is drawn and listed. */
export interface Card {
  /** Place in `TreeModel.cards`; parents stand before children. */
  index: number;
  uid: number;
  /** Identifier in the shared document; only of a tree that is edited. */
  id?: string;
  /** Index, -1 for the root. */
  parent: number;
  children: number[];
  depth: number;
  type: string;
  name: string;
  kind: Kind;
  path: string;
  /** Port and its text, in the order of the document. */
  ports: [string, string][];
  /** Pre- and post-conditions: attribute without its underscore, and script. */
  conditions: [string, string][];
  /** Siblings (indices) that must have ended first, where that is not the one before. */
  after: number[];
  /** What is special about when it begins: "with the list", "when called". */
  begins: string;
  /** Whether it is a clause of a Try. */
  clause: boolean;
  /** Index of the SubTree around it, -1 outside of all. */
  group: number;
  /** How many SubTrees are nested in it, itself included. */
  nesting: number;
}

export interface TreeModel {
  treeId: string;
  cards: Card[];
  byUid: ReadonlyMap<number, number>;
  byPath: ReadonlyMap<string, number>;
}

export interface CardSource {
  uid: number;
  id?: string;
  parent: number;
  type: string;
  name: string;
  kind: Kind;
  path: string;
  attributes: readonly (readonly [string, string])[];
}

const KINDS: Record<string, Kind> = {
  control: "control", decorator: "decorator", action: "action", condition: "condition",
  subtree: "subtree",
};
const CONDITIONS = new Set([
  "_successIf", "_failureIf", "_skipIf", "_while", "_onSuccess", "_onFailure", "_onHalted", "_post",
]);
/** Ports that are drawn as something else. */
const SHOWN_OTHERWISE = new Set(["name", "ID", "execute_after", "enter", "exit"]);

export function kindOf(word: string): Kind {
  return KINDS[word.toLowerCase()] ?? "action";
}

/** The running tree's cards. What has no element in the XML has no ports. */
export function treeModel(tree: Tree): TreeModel {
  const attributes = attributesByUid(tree.xml);
  const places = new Map<number, number>();
  const sources = tree.nodes.map(([uid, parent, type, name, kind, path], index): CardSource => {
    places.set(uid, index);
    return {
      uid, parent: places.get(parent ?? -1) ?? -1, type, name: name || type, kind: kindOf(kind),
      path, attributes: attributes.get(uid) ?? [],
    };
  });
  return modelOf(tree.tree_id, sources);
}

/** Cards of nodes that are listed parents first; `parent` is an index. */
export function modelOf(treeId: string, sources: readonly CardSource[]): TreeModel {
  const cards: Card[] = [];
  for (const [index, source] of sources.entries()) {
    const parent = source.parent < index ? source.parent : -1;
    const above = cards[parent];
    above?.children.push(index);
    cards.push({
      ...shownAttributes(source.attributes),
      ...(source.id === undefined ? {} : { id: source.id }),
      index, uid: source.uid, parent, children: [], depth: above === undefined ? 0 : above.depth + 1,
      type: source.type, name: source.name, kind: source.kind, path: source.path,
      after: [], begins: "", clause: source.type === "Catch" && above?.type === "Try",
      group: above === undefined ? -1 : above.kind === "subtree" ? above.index : above.group,
      nesting: source.kind === "subtree" ? 1 : 0,
    });
  }
  for (const card of cards) setBegin(card, cards, sources[card.index]!.attributes);
  for (const card of [...cards].reverse()) nest(card, cards);
  return {
    treeId, cards,
    byUid: new Map(cards.map((card) => [card.uid, card.index])),
    byPath: new Map(cards.map((card) => [card.path, card.index])),
  };
}

/** All nodes below one, itself included, in the order of the tree. */
export function below(model: TreeModel, index: number): number[] {
  const found: number[] = [];
  const waiting = [index];
  while (waiting.length > 0) {
    const next = waiting.pop()!;
    found.push(next);
    waiting.push(...[...model.cards[next]!.children].reverse());
  }
  return found;
}

/** The ways up from a node, itself first. */
export function above(model: TreeModel, index: number): number[] {
  const found: number[] = [];
  for (let next = index; next >= 0; next = model.cards[next]!.parent) found.push(next);
  return found;
}

function attributesByUid(xml: string): Map<number, [string, string][]> {
  const found = new Map<number, [string, string][]>();
  const document = new DOMParser().parseFromString(xml, "application/xml");
  for (const element of document.querySelectorAll("[_uid]")) {
    const texts = [...element.attributes].map(({ name, value }): [string, string] => [name, value]);
    found.set(Number(element.getAttribute("_uid")), texts);
  }
  return found;
}

function shownAttributes(attributes: CardSource["attributes"]): Pick<Card, "ports" | "conditions"> {
  const ports: [string, string][] = [];
  const conditions: [string, string][] = [];
  for (const [name, text] of attributes) {
    if (CONDITIONS.has(name)) conditions.push([name.slice(1), text]);
    else if (!name.startsWith("_") && !SHOWN_OTHERWISE.has(name)) ports.push([name, text]);
    else if ((name === "enter" || name === "exit") && text !== "") conditions.push([name, text]);
  }
  return { ports, conditions };
}

function setBegin(card: Card, cards: readonly Card[], attributes: CardSource["attributes"]): void {
  const text = attributes.find(([name]) => name === "execute_after")?.[1] ?? "";
  const list = cards[card.parent];
  if (card.type !== "Step" || text === "" || text === "previous" || list === undefined) return;
  if (text === "beginning") card.begins = "with the list";
  else if (text === "gosub") card.begins = "when called";
  else {
    const wanted = new Set(text.split(";").map((each) => each.trim()));
    card.after = list.children.filter((each) => each !== card.index && isCalled(cards, each, wanted));
  }
}

/** A child of a list is meant by its own name, by that of a Step's child, by a SubTree's ID. */
function isCalled(cards: readonly Card[], index: number, names: ReadonlySet<string>): boolean {
  const card = cards[index]!;
  const inner = card.type === "Step" ? cards[card.children[0] ?? -1] : undefined;
  return [card, inner].some(
    (each) => each !== undefined
      && (names.has(each.name) || (each.kind === "subtree" && names.has(each.type))),
  );
}

function nest(card: Card, cards: readonly Card[]): void {
  const list = cards[card.parent];
  if (list === undefined) return;
  list.nesting = Math.max(list.nesting, card.nesting + (list.kind === "subtree" ? 1 : 0));
}
