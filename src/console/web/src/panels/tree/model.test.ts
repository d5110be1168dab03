// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { NodeKind, Tree, TreeNode } from "../../store";
import { linesOf } from "./geometry";
import { above, below, treeModel } from "./model";
import { States } from "./states";
import { found, shownCards, shownFor } from "./visible";

const XML = `<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main" _fullpath="">
    <Try name="fetch" _uid="1">
      <SubTree ID="Drive" name="drive" _uid="2" goal="{place}" _autoremap="true" _fullpath="drive"/>
      <Step name="Step" _uid="4" execute_after="beginning"><Arm name="arm up" _uid="5" height="0.3"/></Step>
      <Step name="Step" _uid="6" execute_after="Drive;arm up">
        <Grasp name="grasp" _uid="7" a="1" b="2" force="{f}" c="3" _skipIf="held" _onFailure="n := n + 1"/>
      </Step>
      <Catch name="again" _uid="8" of="grasp"><Say name="Say" _uid="9" text="&lt;b&gt;"/></Catch>
    </Try>
  </BehaviorTree>
  <BehaviorTree ID="Drive" _fullpath="drive"><Go name="go" _uid="3"/></BehaviorTree>
</root>`;

const node = (uid: number, parent: number | null, type: string, name: string, kind: NodeKind): TreeNode =>
  [uid, parent, type, name, kind, `${name}::${uid}`];

const TREE: Tree = {
  life: "1", action_id: "a", tree_id: "Main", revision: 1, xml: XML,
  nodes: [
    node(1, null, "Try", "fetch", "Control"), node(2, 1, "Drive", "drive", "SubTree"),
    node(3, 2, "Go", "go", "Action"), node(4, 1, "Step", "Step", "Decorator"),
    node(5, 4, "Arm", "arm up", "Action"), node(6, 1, "Step", "Step", "Decorator"),
    node(7, 6, "Grasp", "grasp", "Action"), node(8, 1, "Catch", "again", "Decorator"),
    node(9, 8, "Say", "Say", "Action"),
  ],
};
const MODEL = treeModel(TREE);
const card = (uid: number) => MODEL.cards[MODEL.byUid.get(uid)!]!;

describe("a tree's cards", () => {
  test("have ports and conditions from the XML, apart from what is drawn otherwise", () => {
    expect(card(2).ports).toEqual([["goal", "{place}"]]);
    expect(card(6).ports).toEqual([]);
    expect(card(7).conditions).toEqual([["skipIf", "held"], ["onFailure", "n := n + 1"]]);
    expect(card(9).ports).toEqual([["text", "<b>"]]);
  });

  test("show ports that are connected before others, three at most", () => {
    expect(linesOf(card(7)).ports).toEqual(["force = {f}", "a = 1", "b = 2  (+1)"]);
    expect(linesOf(card(7)).chips).toEqual(["skipIf: held", "+1"]);
    expect(linesOf(card(9)).type).toBe("");
  });

  test("know what they come after: a SubTree by its ID, a Step by its child's name", () => {
    expect(card(6).after.map((index) => MODEL.cards[index]!.uid)).toEqual([2, 4]);
    expect(card(4).begins).toBe("with the list");
    expect(card(4).after).toEqual([]);
  });

  test("know clauses, and in which SubTree they are", () => {
    expect(MODEL.cards.filter(({ clause }) => clause).map(({ uid }) => uid)).toEqual([8]);
    expect(card(3).group).toBe(card(2).index);
    expect(card(5).group).toBe(-1);
    expect(card(1).nesting).toBe(1);
  });

  test("are there without XML that can be read", () => {
    const model = treeModel({ ...TREE, xml: "<root><broken" });
    expect(model.cards).toHaveLength(9);
    expect(model.cards[1]!.ports).toEqual([]);
  });

  test("stand above and below each other", () => {
    expect(below(MODEL, card(6).index).map((each) => MODEL.cards[each]!.uid)).toEqual([6, 7]);
    expect(above(MODEL, card(3).index).map((each) => MODEL.cards[each]!.uid)).toEqual([3, 2, 1]);
  });
});

describe("what is shown", () => {
  const states = new States(MODEL);

  test("leaves out what is in closed cards, and stands for it", () => {
    const shown = shownCards(MODEL, new Set([card(2).path, card(6).path]));
    const places = new Map(shown.map((index, place) => [index, place]));
    expect(shown.map((index) => MODEL.cards[index]!.uid)).toEqual([1, 2, 4, 5, 6, 8, 9]);
    expect(shownFor(MODEL, card(3).index, places)).toBe(card(2).index);
    expect(shownFor(MODEL, card(5).index, places)).toBe(card(5).index);
  });

  test("of a filtered tree is the way to what was found, also through closed cards", () => {
    const hits = found(MODEL, "go kind:action", states);
    const shown = shownCards(MODEL, new Set([card(2).path]), new Set(hits));
    expect(shown.map((index) => MODEL.cards[index]!.uid)).toEqual([1, 2, 3]);
  });

  test("is found by name, type, port, status; by nothing nothing", () => {
    const uids = (query: string) => found(MODEL, query, states).map((each) => MODEL.cards[each]!.uid);
    states.take(new Map([["7", [3, 2, 1, 3]], ["1", [1, 0, 0, 0]]]));
    expect(uids("GRASP {f}")).toEqual([7]);
    expect(uids("is:failed")).toEqual([7]);
    expect(uids("is:running")).toEqual([1]);
    expect(uids("kind:condition")).toEqual([]);
    expect(uids("  ")).toEqual([]);
  });
});

describe("states", () => {
  test("say who runs, the latest first, and whether that has changed", () => {
    const states = new States(MODEL);
    const all = new Map<string, [1 | 2, number, number, 0]>([
      ["1", [1, 0, 0, 0]], ["2", [1, 0, 0, 0]], ["3", [1, 1, 0, 0]], ["4", [1, 0, 0, 0]], ["5", [1, 4, 0, 0]],
    ]);
    expect(states.take(all)).toBe(true);
    expect(states.running().map((each) => MODEL.cards[each]!.uid)).toEqual([5, 3]);
    expect(states.take(all, ["5", "99"])).toBe(false);
    all.set("5", [2, 6, 1, 0]);
    expect(states.take(all, ["5"])).toBe(true);
    expect(states.running().map((each) => MODEL.cards[each]!.uid)).toEqual([3, 4]);
  });
});
