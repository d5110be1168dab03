// SPDX-License-Identifier: Apache-2.0
// What gestures mean, as operations of behavior_tree.sharing. Pure.
import type { Card, TreeModel } from "../model";
import type { Drop } from "../paint";
import { element, xmlOf, type TreeDocument } from "./document";
import type { NodeModel, PortModel } from "./models";

export type Operation = { op: string } & Record<string, unknown>;

/** Name of the node that stands in a new mission until there is another (editing/new_mission.py). */
const FIRST_STEP = "first step";

/** What is dragged: a kind of node, or a node that is there. */
export type Dragged = { model: NodeModel } | { index: number };

/** Ports that must be given a text before a node can be put in. */
export function missing(model: NodeModel, given: Readonly<Record<string, string>> = {}): PortModel[] {
  return model.ports.filter(({ name, default: known }) => known === undefined && !(given[name] ?? ""));
}

/** A new node as XML; what has children takes the given ones. */
export function newXml(
  model: NodeModel, attributes: Readonly<Record<string, string>>, inner = "",
): string {
  const tag = model.kind === "subtree" ? "SubTree" : model.id;
  const all = model.kind === "subtree" ? { ID: model.id, ...attributes } : attributes;
  return inner === "" ? `<${element(tag, all)}/>` : `<${element(tag, all)}>${inner}</${tag}>`;
}

/**
 * Puts a new node in. One that needs a child is put around what stands at the place; the first of a
 * new mission takes the place of what stands there for it. Null: the place cannot have it.
 */
export function insertion(
  model: TreeModel, document: TreeDocument, drop: Drop, kind: NodeModel,
  attributes: Readonly<Record<string, string>>,
): Operation | null {
  const before = model.cards[drop.before];
  if (kind.children[0] > 0)
    return wrapping(model, document, before?.index ?? model.cards[drop.parent]?.children.at(-1) ?? -1, kind, attributes);
  const parent = owner(model, document, drop.parent);
  if (parent === null) return null;
  const [only, ...more] = model.cards[drop.parent]!.children.map((index) => model.cards[index]!);
  if (more.length === 0 && only?.id !== undefined && only.name === FIRST_STEP)
    return { op: "replace", node: only.id, xml: newXml(kind, attributes) };
  return {
    op: "insert", parent, xml: newXml(kind, attributes),
    ...(before?.id === undefined ? {} : { before: before.id }),
  };
}

/**
 * Puts a new node around another, which begins anew then. The other's element is not moved into
 * it, since a tree has exactly one root: the new one takes its place with a copy of it.
 */
export function wrapping(
  model: TreeModel, document: TreeDocument, index: number, kind: NodeModel,
  attributes: Readonly<Record<string, string>>,
): Operation | null {
  const id = model.cards[index]?.id;
  if (id === undefined) return null;
  return { op: "replace", node: id, xml: newXml(kind, attributes, xmlOf(document, id)) };
}

/** Puts a node at another place. */
export function moving(
  model: TreeModel, document: TreeDocument, drop: Drop, index: number,
): Operation | null {
  const [node, before] = [model.cards[index], model.cards[drop.before]];
  const parent = owner(model, document, drop.parent);
  if (node?.id === undefined || parent === null || before?.index === index) return null;
  return { op: "move", node: node.id, parent, ...(before?.id === undefined ? {} : { before: before.id }) };
}

/** Moves a node among its siblings. */
export function stepping(
  model: TreeModel, document: TreeDocument, index: number, step: 1 | -1,
): Operation | null {
  const parent = model.cards[index]?.parent ?? -1;
  const siblings = model.cards[parent]?.children ?? [];
  const at = siblings.indexOf(index) + step;
  if (at < 0 || at >= siblings.length) return null;
  const before = step === 1 ? siblings[at + 1] ?? -1 : siblings[at]!;
  return moving(model, document, { parent, before }, index);
}

/** Puts copied XML behind a node, or into it if it takes children. */
export function pasting(
  model: TreeModel, document: TreeDocument, index: number, xml: string,
): Operation | null {
  const card = model.cards[index];
  if (card?.id === undefined || !xml.trimStart().startsWith("<")) return null;
  const into = card.kind === "control" || card.parent < 0;
  const siblings = model.cards[card.parent]?.children ?? [];
  const next = into ? undefined : model.cards[siblings[siblings.indexOf(index) + 1] ?? -1];
  const parent = owner(model, document, into ? index : card.parent);
  if (parent === null) return null;
  return { op: "insert", parent, xml: xml.trim(), ...(next?.id === undefined ? {} : { before: next.id }) };
}

/** The element that holds a card's children: of a SubTree that is its `<BehaviorTree>`. */
function owner(model: TreeModel, document: TreeDocument, index: number): string | null {
  const card = model.cards[index];
  if (card?.id === undefined) return null;
  if (card.kind !== "subtree") return card.id;
  for (const [id, node] of Object.entries(document.nodes))
    if (node.tag === "BehaviorTree" && node.attributes.ID === card.type) return id;
  return null;
}

/** Where something lands that is let go over a card, `part` of the way along its siblings. */
export function dropAt(model: TreeModel, over: Card, part: number, dragged: Dragged): Drop | null {
  const inside = "index" in dragged ? dragged.index : -1;
  for (let each = over.index; each >= 0; each = model.cards[each]!.parent)
    if (each === inside) return null;
  const parent = model.cards[over.parent];
  const takesMore = over.kind === "control" || (over.kind === "decorator" && over.children.length === 0);
  if (parent === undefined || (takesMore && part > 0.3 && part < 0.7))
    return takesMore || parent === undefined ? { parent: over.index, before: -1 } : null;
  const at = parent.children.indexOf(over.index);
  return { parent: parent.index, before: part < 0.5 ? over.index : parent.children[at + 1] ?? -1 };
}

/** Attributes that differ, as `set` wants them; an empty text takes a port with a default out. */
export function changes(
  before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const found: Record<string, string | null> = {};
  for (const [name, text] of Object.entries(after))
    if (text !== (before[name] ?? "")) found[name] = text === "" ? null : text;
  return found;
}

/** What a port may be given, to choose from; of the scene, of the blackboard, of its type. */
export function suggestions(
  port: PortModel, texts: Readonly<Record<string, string>>, world: World,
): { text: string; label?: string }[] {
  const entries = world.entries.map((entry) => ({ text: `{${entry}}` }));
  if (port.direction !== "input") return entries;
  const names = Object.keys(world.objects);
  const objects = /(^|_)(object|block|item)(_name|_names|s)?$|^names$/.test(port.name)
    ? names.map((text) => ({ text })) : [];
  const poses = port.name === "target" || /Pose/.test(port.type)
    ? names.flatMap((name) => onTop(name, texts, world)) : [];
  return [...port.choices.map((text) => ({ text })), ...objects, ...poses, ...entries];
}

/** Objects of the scene with their heights [m], and entries of the blackboard. */
export interface World {
  objects: Readonly<Record<string, number>>;
  entries: readonly string[];
}

/** The place on top of an object where the centre of the one that is put there rests. */
function onTop(name: string, texts: Readonly<Record<string, string>>, { objects }: World) {
  const own = texts.object_name ?? "";
  if (name === own) return [];
  const [below, above] = [objects[name] ?? 0, objects[own] ?? objects[name] ?? 0];
  if (below <= 0) return [];
  return [{ text: `${name};0;0;${Number(((below + above) / 2).toFixed(4))}`, label: `on top of ${name}` }];
}

/** Why a text does not fit a port; empty: it may. The executor has the last word. */
export function unfit({ type, name, direction, default: known }: PortModel, text: string): string {
  if (text === "") return known === undefined ? `'${name}' has to be given` : "";
  if (/^\{.+\}$/.test(text)) return "";
  if (direction !== "input") return `an output goes to an entry of the blackboard: {${text.replace(/\W/g, "_") || "entry"}}`;
  if (/^(u?int|u?int\d+(_t)?|unsigned)$/.test(type) && !/^[+-]?\d+$/.test(text) && !/^[A-Z_]\w*$/.test(text))
    return "a whole number, or {entry}";
  if (/^(double|float|float\d+)$/.test(type) && (text.trim() === "" || Number.isNaN(Number(text))))
    return "a number, or {entry}";
  if (type === "bool" && !/^(true|false|0|1)$/i.test(text)) return "true or false, or {entry}";
  return "";
}
