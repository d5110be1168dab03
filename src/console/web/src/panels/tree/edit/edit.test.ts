// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../store";
import { fakeConsole } from "../../../testing";
import { treeModel } from "../model";
import { changed, difference } from "./difference";
import { documentModel, mainTree, readDocument, xmlOf, type TreeDocument } from "./document";
import { readModels } from "./models";
import {
  changes, dropAt, insertion, missing, moving, pasting, stepping, suggestions, unfit, wrapping,
} from "./operations";
import { editSession } from "./session";

const DOCUMENT: TreeDocument = {
  tree: { revision: 3, file: "main.xml" },
  files: { "main.xml": { root: "n1", modified: true }, "parts.xml": { root: "n20", modified: false } },
  nodes: {
    n1: { tag: "root", attributes: { BTCPP_format: "4", main_tree_to_execute: "Main" }, children: ["n2", "n9"] },
    n2: { tag: "BehaviorTree", attributes: { ID: "Main" }, children: ["n3"] },
    n3: { tag: "Sequence", attributes: { name: "all" }, children: ["n4", "n5", "n6"] },
    n4: { tag: "SubTree", attributes: { ID: "Part" }, children: [] },
    n5: { tag: "Say", attributes: { text: 'a "b" <c> & \n' }, children: [] },
    n6: { tag: "SubTree", attributes: { ID: "Part", name: "again" }, children: [] },
    n9: { tag: "BehaviorTree", attributes: { ID: "Other" }, children: ["n10"] },
    n10: { tag: "AlwaysSuccess", attributes: {}, children: [] },
    n20: { tag: "root", attributes: { BTCPP_format: "4" }, children: ["n21"] },
    n21: { tag: "BehaviorTree", attributes: { ID: "Part" }, children: ["n22"] },
    n22: { tag: "Retry", attributes: { n: "3" }, children: ["n23"] },
    n23: { tag: "Action", attributes: { ID: "Go", goal: "{x}" }, children: [] },
  },
};
const MODELS = readModels([
  { id: "Say", kind: "Action", package: "p", ports: [{ name: "text", type: "string", direction: "input" }] },
  { id: "Sequence", kind: "Control", min_children: 1 },
  { id: "Retry", kind: "Decorator", min_children: 1, max_children: 1, ports: [{ name: "n", type: "int", direction: "input", default: 3 }] },
  { nonsense: true },
]);
const BY_ID = new Map(MODELS.map((each) => [each.id, each]));
const model = documentModel(DOCUMENT, BY_ID, null);
const index = (id: string, nth = 0) => model.cards.filter((card) => card.id === id)[nth]!.index;

describe("a document as cards", () => {
  test("has SubTrees filled, each use apart, and explicit nodes by their ID", () => {
    expect(mainTree(DOCUMENT)).toBe("Main");
    expect(model.cards.map(({ id, type }) => `${id} ${type}`)).toEqual([
      "n3 Sequence", "n4 Part", "n22 Retry", "n23 Go", "n5 Say", "n6 Part", "n22 Retry", "n23 Go",
    ]);
    expect(new Set(model.cards.map(({ uid }) => uid)).size).toBe(8);
    expect(model.cards.every(({ uid }) => uid < 0)).toBe(true);
    expect(model.cards[2]!.kind).toBe("decorator");
  });

  test("has uids and paths of the running tree where that is the same", () => {
    const live = treeModel({
      life: "1", action_id: "a", tree_id: "Main", revision: 1, xml: "<root/>",
      nodes: [
        [1, null, "Sequence", "all", "Control", "all"], [2, 1, "Part", "Part", "SubTree", "Part"],
        [3, 2, "Retry", "Retry", "Decorator", "Part/Retry"], [4, 3, "Go", "Go", "Action", "Part/Go"],
        [7, 1, "Part", "again", "SubTree", "again"],
      ],
    });
    const both = documentModel(DOCUMENT, BY_ID, live);
    const uids = both.cards.map(({ uid }) => uid);
    expect(uids.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(uids[4]).toBeLessThan(0);
    expect(uids[5]).toBe(7);
    expect(both.cards[3]!.path).toBe("Part/Go");
  });

  test("ends although a tree uses itself", () => {
    const nodes = { ...DOCUMENT.nodes, n23: { tag: "SubTree", attributes: { ID: "Part" }, children: [] } };
    expect(documentModel({ ...DOCUMENT, nodes }, BY_ID, null).cards.length).toBeLessThan(20);
  });

  test("is XML again, escaped", () => {
    expect(xmlOf(DOCUMENT, "n5")).toBe('<Say text="a &quot;b&quot; &lt;c&gt; &amp; &#10;"/>');
    expect(xmlOf(DOCUMENT, "n22")).toBe('<Retry n="3">\n  <Action ID="Go" goal="{x}"/>\n</Retry>');
  });
});

describe("gestures", () => {
  const [say, sequence, retry] = ["Say", "Sequence", "Retry"].map((id) => BY_ID.get(id)!);

  test("a leaf is put before what it is dropped on, with its texts", () => {
    const drop = { parent: index("n3"), before: index("n5") };
    expect(missing(say!)).toHaveLength(1);
    expect(insertion(model, DOCUMENT, drop, say!, { text: "<hi>" })).toEqual(
      { op: "insert", parent: "n3", before: "n5", xml: '<Say text="&lt;hi&gt;"/>' });
  });

  test("what needs a child is put around what stands there", () => {
    const drop = { parent: index("n3"), before: index("n5") };
    expect(insertion(model, DOCUMENT, drop, retry!, {})).toMatchObject(
      { op: "replace", node: "n5", xml: expect.stringMatching(/^<Retry><Say .*\/><\/Retry>$/) as string });
    expect(sequence!.children).toEqual([1, Infinity]);
  });

  test("the first step of a new mission takes the place of what stands there for it", () => {
    const nodes = {
      ...DOCUMENT.nodes, n3: { tag: "Sequence", attributes: {}, children: ["n5"] },
      n5: { tag: "AlwaysSuccess", attributes: { name: "first step" }, children: [] },
    };
    const fresh = { ...DOCUMENT, nodes };
    const cards = documentModel(fresh, BY_ID, null);
    expect(insertion(cards, fresh, { parent: 0, before: -1 }, say!, { text: "hi" })).toEqual(
      { op: "replace", node: "n5", xml: '<Say text="hi"/>' });
  });

  test("a node is put around the selected one, whatever that is", () => {
    expect(wrapping(model, DOCUMENT, index("n3"), retry!, {})).toMatchObject({ op: "replace", node: "n3" });
    expect(wrapping(model, DOCUMENT, -1, retry!, {})).toBeNull();
  });

  test("a port is offered what it may be: words of its type, objects, places on top of them, entries", () => {
    const world = { objects: { red_block: 0.05, box: 0.2 }, entries: ["goal"] };
    const port = (name: string, choices: string[] = []) =>
      ({ name, type: "", direction: "input" as const, description: "", choices });
    const of = (name: string, texts = {}) => suggestions(port(name), texts, world).map(({ text }) => text);
    expect(of("object_name")).toEqual(["red_block", "box", "{goal}"]);
    expect(of("target", { object_name: "red_block" })).toEqual(["box;0;0;0.125", "{goal}"]);
    expect(of("speed")).toEqual(["{goal}"]);
    expect(suggestions(port("mode", ["OPEN"]), {}, world)[0]).toEqual({ text: "OPEN" });
  });

  test("into a SubTree means into its tree", () => {
    expect(moving(model, DOCUMENT, { parent: index("n4"), before: -1 }, index("n5"))).toEqual(
      { op: "move", node: "n5", parent: "n21" });
  });

  test("a step among siblings names the one before which it stands then", () => {
    expect(stepping(model, DOCUMENT, index("n4"), 1)).toEqual({ op: "move", node: "n4", parent: "n3", before: "n6" });
    expect(stepping(model, DOCUMENT, index("n5"), 1)).toEqual({ op: "move", node: "n5", parent: "n3" });
    expect(stepping(model, DOCUMENT, index("n6"), -1)).toEqual({ op: "move", node: "n6", parent: "n3", before: "n5" });
    expect(stepping(model, DOCUMENT, index("n4"), -1)).toBeNull();
  });

  test("a place is before, behind or inside, never within what is dragged", () => {
    const over = (id: string) => model.cards[index(id)]!;
    expect(dropAt(model, over("n5"), 0.2, { model: say! })).toEqual({ parent: index("n3"), before: index("n5") });
    expect(dropAt(model, over("n6"), 0.9, { model: say! })).toEqual({ parent: index("n3"), before: -1 });
    expect(dropAt(model, over("n3"), 0.5, { model: say! })).toEqual({ parent: index("n3"), before: -1 });
    expect(dropAt(model, over("n23"), 0.5, { index: index("n4") })).toBeNull();
  });

  test("pasted XML stands behind a leaf, or in what takes children", () => {
    expect(pasting(model, DOCUMENT, index("n5"), " <A/> ")).toEqual({ op: "insert", parent: "n3", xml: "<A/>", before: "n6" });
    expect(pasting(model, DOCUMENT, index("n3"), "<A/>")).toEqual({ op: "insert", parent: "n3", xml: "<A/>" });
    expect(pasting(model, DOCUMENT, index("n3"), "no XML")).toBeNull();
  });

  test("settings: only what differs, taken out when empty, and what cannot be", () => {
    expect(changes({ a: "1", b: "2" }, { a: "1", b: "", c: "3" })).toEqual({ b: null, c: "3" });
    const port = (type: string) => ({ name: "p", type, direction: "input" as const, description: "", default: "", choices: [] });
    expect(unfit(port("int"), "1.5")).not.toBe("");
    expect(unfit(port("int"), "{n}")).toBe("");
    expect(unfit(port("double"), "-1e3")).toBe("");
    expect(unfit(port("bool"), "maybe")).not.toBe("");
    expect(unfit({ ...port("double"), direction: "output" }, "3")).toContain("{");
  });
});

test("a difference keeps what is the same, and shows what is near", () => {
  const lines = difference("a\nb\nc\nd\ne\nf\ng", "a\nb\nX\nd\ne\nf\ng\nh");
  expect(lines.map(({ sign, text }) => sign + text).join(" ")).toBe(" a  b -c +X  d  e  f  g +h");
  expect(changed(lines, 1).map((line) => line?.text ?? "⋯")).toEqual(["b", "c", "X", "d", "⋯", "g", "h"]);
});

describe("a session", () => {
  test("asks what shall become of what runs, and sends the answer with the same edit", async () => {
    const { console, server } = await fakeConsole();
    const session = editSession(console);
    const answers: Omit<Answer, "id">[] = [
      { ok: false, message: "it changes what runs now: 'a'. Say how: ...", value: { code: 3 } },
      { ok: true, message: "", value: { code: 1 } },
    ];
    session.begin("stack_blocks");
    server.answers.set("tree.edit", answers[0]!);
    await session.edit({ op: "remove", node: "n5" }, "n5");
    expect(session.outcome.get()).toMatchObject({ kind: "runs", at: "n5" });
    server.answers.set("tree.edit", answers[1]!);
    session.again("after");
    await Promise.resolve();
    await new Promise((done) => setTimeout(done));
    expect(session.outcome.get()).toMatchObject({ kind: "waits", at: "n5" });
    const sent = server.received.flatMap((each) => ("command" in each ? [each.command] : []));
    expect(sent.map(({ name }) => name)).toEqual(["tree.open", "tree.edit", "tree.edit"]);
    expect(sent[2]!.args).toEqual({ tree: "stack_blocks", operation: { op: "remove", node: "n5" }, running: "after" });
  });

  test("takes the document of its tree only, and says what is wrong with it", async () => {
    const { console, server } = await fakeConsole();
    const session = editSession(console);
    session.begin("mine");
    await Promise.resolve();
    server.put({ document: entries("other") });
    expect(session.document.get()).toBeNull();
    server.put({ document: entries("mine", { problem: "merged badly" }) });
    expect(session.document.get()).toEqual(DOCUMENT);
    expect(session.problem.get()).toBe("merged badly");
    session.end();
    expect(session.document.get()).toBeNull();
    const sent = server.received.flatMap((each) => ("command" in each ? [each.command] : []));
    expect(sent.at(-1)).toMatchObject({ name: "tree.close", args: { tree: "mine" } });
  });

  test("is told at last what became of an edit that has waited", async () => {
    const { console, server } = await fakeConsole();
    server.answers.set("tree.open", { ok: true, message: "", value: { editor: "ann" } });
    server.answers.set("tree.edit", { ok: true, message: "it waits", value: { code: 1, number: 4, nodes: ["n30"] } });
    const session = editSession(console);
    session.begin("mine");
    await settled();
    await session.edit({ op: "remove", node: "n5" }, "n5");
    expect(session.outcome.get()).toMatchObject({ kind: "waits", number: 4 });
    expect(session.fresh.get()).toBe("n30");
    server.put({ document: entries("mine", { late: { ann: [3, 0, ""], bob: [4, 0, ""] } }) });
    expect(session.outcome.get()).toMatchObject({ kind: "waits" });
    server.put({ document: entries("mine", { late: { ann: [4, 2, "it is gone"] } }) });
    expect(session.outcome.get()).toMatchObject({ kind: "refused", at: "n5", text: "it is gone" });
  });

  test("edits a new mission at once, or says why there is none", async () => {
    const { console, server } = await fakeConsole();
    const session = editSession(console);
    server.answers.set("tree.new", { ok: false, message: "it is there already" });
    expect(await session.create("tidy")).toBe("it is there already");
    expect(session.tree.get()).toBeNull();
    server.answers.delete("tree.new");
    expect(await session.create("tidy")).toBe("");
    expect(session.tree.get()).toBe("tidy");
  });
});

/** The document as the channel has it. */
function entries(name: string, head: Record<string, unknown> = {}): Record<string, unknown> {
  const rows = Object.entries(DOCUMENT.nodes).map(([id, { tag, attributes, children }]) =>
    [`${name}\n${id}`, [tag, attributes, children]]);
  const { file, revision } = DOCUMENT.tree;
  const own = { files: DOCUMENT.files, file, revision, ticks: false, problem: "", late: {}, ...head };
  return { [name]: own, ...Object.fromEntries(rows) as Record<string, unknown> };
}

async function settled(): Promise<void> {
  await new Promise((done) => setTimeout(done));
}

test("a tree is read from the channel by its whole name", () => {
  const all = new Map(Object.entries({ ...entries("a b"), ...entries("a"), "a b\nn99": ["Say", {}, []] }));
  expect(readDocument(all, "a")).toEqual(DOCUMENT);
  expect(Object.keys(readDocument(all, "a b")!.nodes)).toContain("n99");
  expect(readDocument(all, "c")).toBeNull();
  expect(readDocument(new Map([["d", { file: "" }]]), "d")).toBeNull();
});
