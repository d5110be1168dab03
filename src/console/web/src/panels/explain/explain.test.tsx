// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import Explain from ".";
import type { Tree } from "../../store";
import { FAILS_AT, fakeConsole, renderWith } from "../../testing";
import { ancestors, failureOf, givenTo, spokenOf } from "./chain";
import { piecesOf } from "./Linked";

afterEach(cleanup);

const XML = `<root><BehaviorTree ID="main"><Sequence _uid="1" name="all">
  <Script _uid="2" name="aim" code="n := 1; target := 0.5"/>
  <Script _uid="3" name="look" code="ok = target == 1; target_speed := 2"/>
  <Retry _uid="4" name="three times" num_attempts="3"><Place _uid="5" name="Place" target="{target}" surface="table"/></Retry>
</Sequence></BehaviorTree></root>`;
const TREE: Tree = {
  life: "1", action_id: "m", tree_id: "main", revision: 1, xml: XML,
  nodes: [
    [1, null, "Sequence", "all", "Control", "all"], [2, 1, "Script", "aim", "Action", "all/aim"],
    [3, 1, "Script", "look", "Action", "all/look"], [4, 1, "Retry", "three times", "Decorator", "all/three times"],
    [5, 4, "Place", "Place", "Action", "all/three times/Place"],
  ],
};
const NESTED: Tree = {
  ...TREE,
  xml: `<root><BehaviorTree ID="main"><SubTree ID="Bring" _uid="2" target="1;2;3"/></BehaviorTree>
    <BehaviorTree ID="Bring"><SubTree ID="Put" _uid="3" goal="{target}"/></BehaviorTree>
    <BehaviorTree ID="Put"><Place _uid="4" name="Place" target="{goal}" any_yaw="{=}"/></BehaviorTree></root>`,
  nodes: [
    [2, null, "Bring", "Bring", "SubTree", "Bring"], [3, 2, "Put", "Put", "SubTree", "Bring/Put"],
    [4, 3, "Place", "Place", "Action", "Bring/Put/Place"],
  ],
};
const STATUS = new Map([["2", [2, 3.5, 1, 2]], ["4", [1, 4, 0, 0]], ["5", [3, 9, 3, 3]]]) as never;

describe("the chain", () => {
  it("goes from the root over what repeats to the node", () => {
    expect(ancestors(TREE, 5, STATUS).map((each) => each.text)).toEqual([
      "all (Sequence)", "three times (Retry)", "Place, ended 3 times, failed last",
    ]);
  });

  it("goes on over ports to values and who wrote them", () => {
    const given = givenTo(TREE, 5, new Map([["target", ["double", "0.5", true]]]), STATUS);
    expect(given).toEqual([
      { port: "target", key: "target", text: "0.5", later: false, writers: [{ text: "Script 'aim'", uid: 2, t: 3.5 }], source: null },
      { port: "surface", key: "", text: "table", later: false, writers: [], source: { uid: 5, port: "surface", text: "table" } },
    ]);
  });

  it("finds over the SubTrees around a node where a value stands", () => {
    const given = givenTo(NESTED, 4, new Map(), new Map());
    const source = { uid: 2, port: "target", text: "1;2;3" };
    expect(given).toEqual([
      { port: "target", key: "goal", text: "1;2;3", later: false, writers: [], source },
      { port: "any_yaw", key: "any_yaw", text: "(not written)", later: false, writers: [], source: null },
    ]);
    expect(spokenOf(given, ["The Target is too high"])).toEqual(source);
    expect(spokenOf(given, ["targets, and any yaw"])).toBeNull();
    expect(spokenOf(givenTo(TREE, 5, new Map(), new Map()), ["the target, on its surface"])?.port).toBe("surface");
  });

  it("names of several writers the one that ran last", () => {
    const xml = XML.replace("ok = target == 1;", "target := 1;");
    const late = new Map([["2", [2, 3.5, 1, 2]], ["3", [2, 8, 1, 2]]]) as never;
    expect(givenTo({ ...TREE, xml }, 5, new Map(), late)[0]?.writers.map((each) => each.uid)).toEqual([3]);
    const before = givenTo({ ...TREE, xml }, 5, new Map(), late, 5)[0];
    expect([before?.writers.map((each) => each.uid), before?.later]).toEqual([[2], true]);
    expect(givenTo({ ...TREE, xml }, 5, new Map(), new Map())[0]?.writers.map((each) => each.uid)).toEqual([2, 3]);
  });

  it("survives names that are no tree's, and XML that is broken", () => {
    expect(givenTo({ ...TREE, xml: "<root" }, 5, new Map(), new Map())).toEqual([]);
    expect(ancestors(TREE, 99, new Map())).toEqual([]);
  });
});

it("finds whole names of objects and servers only", () => {
  expect(piecesOf("inside 'green_block' by /pick.", ["green_block", "green", "block"], ["/pick"])).toEqual([
    { text: "inside '", names: "" }, { text: "green_block", names: "object" }, { text: "' by ", names: "" },
    { text: "/pick", names: "server" }, { text: ".", names: "" },
  ]);
  expect(piecesOf("a.b", ["a.b*", ""], [])).toEqual([{ text: "a.b", names: "" }]);
});

it("explains the last fault where no mission says a cause", () => {
  const event = { t: 4, kind: "fault" as const, text: "lost", uid: 5, level: "error" as const };
  expect(failureOf(undefined, TREE, new Map(), [event])).toMatchObject({ sentence: "lost", path: "all/three times/Place", t: 4 });
  expect(failureOf(undefined, TREE, new Map(), [])).toBeNull();
});

it("explains first what waits for the operator, by the newest reason in it", () => {
  const reasons = new Map([["3", { t: 2, text: "seen" }], ["5", { t: 7, text: "too low", remedy: "raise it" }]]);
  const found = failureOf(undefined, TREE, reasons, [], ["all/three times"]);
  expect(found).toEqual({
    sentence: "three times has failed: Place: too low", evidence: "", remedy: "raise it", path: "all/three times", uid: 5, t: 7,
  });
  expect(failureOf(undefined, TREE, new Map(), [], ["all/look"])?.sentence).toBe("look has failed");
});

it("leads to node, moment and object, and retries", async () => {
  const { console, server } = await fakeConsole({ t: FAILS_AT + 0.5 });
  const opened: string[] = [];
  console.showPanel = (id) => opened.push(id);
  renderWith(console, <Explain />);
  const user = userEvent.setup();
  await user.click((await screen.findAllByRole("button", { name: "blue_block" }))[0]!);
  expect(console.selection.get().object).toBe("blue_block");
  await user.click(screen.getByRole("button", { name: "Show node" }));
  expect(opened).toEqual(["scene", "tree"]);
  await user.click(screen.getByRole("button", { name: "Edit node" }));
  expect(opened).toEqual(["scene", "tree", "tree", "inspector"]);
  await user.click(screen.getByRole("button", { name: "Retry" }));
  await waitFor(() => expect(server.received.some((each) => "command" in each && each.command.name === "run.retry")).toBe(true));
  await user.click(screen.getByRole("button", { name: "Show moment" }));
  expect(console.at.get()).toBe(FAILS_AT);
});
