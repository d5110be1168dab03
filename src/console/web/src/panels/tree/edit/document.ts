// SPDX-License-Identifier: Apache-2.0
// The shared tree files as cards: the elements by identifier, SubTrees filled with their trees.
import { kindOf, modelOf, type CardSource, type Kind, type TreeModel } from "../model";
import type { NodeModel } from "./models";

export interface DocumentNode {
  tag: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly string[];
}

/** The shared tree files, as behavior_tree.sharing.document has them. */
export interface TreeDocument {
  nodes: Readonly<Record<string, DocumentNode>>;
  files: Readonly<Record<string, { root: string; modified: boolean }>>;
  tree: { revision?: number; file?: string };
}

/** A tree in the channel `document`, below its name; its nodes stand below `name\nn7`. */
export interface DocumentHead {
  files: TreeDocument["files"];
  file: string;
  revision: number;
  /** Whether a mission runs it now. */
  ticks: boolean;
  /** Why there is no tree, or what is wrong with it. */
  problem: string;
  /** The last answer to an edit that had waited, by editor: number, code, text. */
  late: Readonly<Record<string, [number, number, string]>>;
}

/** The tree of a name, from all entries of the channel; null: it is not there (yet). */
export function readDocument(entries: ReadonlyMap<string, unknown>, name: string): TreeDocument | null {
  const head = entries.get(name) as DocumentHead | undefined;
  if (head === undefined || head.file === "") return null;
  const nodes: Record<string, DocumentNode> = {};
  for (const [key, row] of entries) {
    const at = key.lastIndexOf("\n");
    if (at < 0 || key.slice(0, at) !== name) continue;
    const [tag, attributes, children] = row as [string, Record<string, string>, string[]];
    nodes[key.slice(at + 1)] = { tag, attributes, children };
  }
  return { nodes, files: head.files, tree: { revision: head.revision, file: head.file } };
}

const EXPLICIT = new Set(["Action", "Condition", "Control", "Decorator"]);
/** Nodes that are shown; a tree that uses itself again and again would never end. */
const MOST = 20_000;

export function typeOf({ tag, attributes }: DocumentNode): string {
  return (tag === "SubTree" || EXPLICIT.has(tag) ? attributes.ID : undefined) ?? tag;
}

/** Identifiers of the `<BehaviorTree>` elements by their IDs. */
export function treesOf({ nodes, files }: TreeDocument): Map<string, string> {
  const found = new Map<string, string>();
  for (const { root } of Object.values(files))
    for (const id of nodes[root]?.children ?? []) {
      const node = nodes[id];
      if (node?.tag === "BehaviorTree" && !found.has(node.attributes.ID ?? ""))
        found.set(node.attributes.ID ?? "", id);
    }
  return found;
}

/** ID of the tree that a mission runs. */
export function mainTree({ nodes, files, tree }: TreeDocument): string {
  const root = nodes[files[tree.file ?? ""]?.root ?? ""];
  const named = root?.attributes.main_tree_to_execute;
  if (named) return named;
  const first = root?.children.map((id) => nodes[id]).find((node) => node?.tag === "BehaviorTree");
  return first?.attributes.ID ?? "";
}

/**
 * The document's main tree as cards. Where the running tree is the same, cards have its uids and
 * paths, so that statuses, selection and closed cards fit both; others have negative uids.
 */
export function documentModel(
  document: TreeDocument, models: ReadonlyMap<string, NodeModel>, live: TreeModel | null,
): TreeModel {
  const main = mainTree(document);
  const trees = treesOf(document);
  const sources: CardSource[] = [];
  const seen = new Map<string, number>();
  const visit = (id: string, parent: number, path: string, twin: number, within: readonly string[]) => {
    const node = document.nodes[id];
    if (node === undefined || sources.length >= MOST) return;
    const type = typeOf(node);
    const index = sources.length;
    const same = live?.cards[twin];
    const nth = (seen.get(id) ?? 0) + 1;
    seen.set(id, nth);
    const own = same?.path ?? `${path}/${node.attributes.name ?? type}#${id}`;
    sources.push({
      id, parent, type, name: node.attributes.name ?? type, path: own,
      uid: same?.uid ?? -(1000 * Number(id.slice(1)) + nth), kind: kindIn(node, models, same?.kind),
      attributes: Object.entries(node.attributes),
    });
    const tree = node.tag === "SubTree" && !within.includes(type) ? trees.get(type) : undefined;
    const children = tree === undefined ? node.children : document.nodes[tree]?.children ?? [];
    const twins = twinsOf(document, children, live, same?.children ?? []);
    const inside = tree === undefined ? within : [...within, type];
    children.forEach((child, at) => visit(child, index, own, twins[at] ?? -1, inside));
  };
  const root = document.nodes[trees.get(main) ?? ""]?.children[0];
  const fits = live !== null && live.treeId === main;
  if (root !== undefined) visit(root, -1, main, fits && live.cards.length > 0 ? 0 : -1, [main]);
  return modelOf(main, sources);
}

/** Which of the running tree's siblings are which elements: in order, of the same type. */
function twinsOf(
  { nodes }: TreeDocument, children: readonly string[], live: TreeModel | null,
  candidates: readonly number[],
): number[] {
  let next = 0;
  return children.map((id) => {
    const node = nodes[id];
    if (node === undefined || live === null) return -1;
    const type = typeOf(node);
    const name = node.attributes.name ?? type;
    const rest = candidates.slice(next);
    const fits = (index: number) => live.cards[index]!.type === type;
    const at = rest.findIndex((index) => fits(index) && live.cards[index]!.name === name);
    const found = at >= 0 ? at : children.length === candidates.length && rest[0] !== undefined && fits(rest[0]) ? 0 : -1;
    if (found < 0) return -1;
    next += found + 1;
    return rest[found]!;
  });
}

function kindIn(
  node: DocumentNode, models: ReadonlyMap<string, NodeModel>, known: Kind | undefined,
): Kind {
  if (node.tag === "SubTree") return "subtree";
  if (EXPLICIT.has(node.tag)) return kindOf(node.tag);
  const guess = node.children.length === 0 ? "action" : node.children.length === 1 ? "decorator" : "control";
  return models.get(typeOf(node))?.kind ?? known ?? guess;
}

/** An element and all in it, as XML. */
export function xmlOf(document: TreeDocument, id: string, indent = ""): string {
  const node = document.nodes[id];
  if (node === undefined) return "";
  const head = element(node.tag, node.attributes);
  if (node.children.length === 0) return `${indent}<${head}/>`;
  const inner = node.children.map((child) => xmlOf(document, child, `${indent}  `)).join("\n");
  return `${indent}<${head}>\n${inner}\n${indent}</${node.tag}>`;
}

/** Tag and attributes of an element, escaped. */
export function element(tag: string, attributes: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(attributes).map(([name, text]) => ` ${name}="${escaped(text)}"`);
  return tag + pairs.join("");
}

function escaped(text: string): string {
  return text
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")
    .replace(/\n/g, "&#10;").replace(/\t/g, "&#9;").replace(/\r/g, "&#13;");
}
