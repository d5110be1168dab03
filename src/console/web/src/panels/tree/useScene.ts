// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "react";
import { useChannel, useConsole, useValue, type Console } from "../../store";
import { watchTheme } from "./colours";
import { documentModel } from "./edit/document";
import { nodeModels, type NodeModel } from "./edit/models";
import { editSession } from "./edit/session";
import { modelOf, treeModel } from "./model";
import { Scene } from "./scene";

/** A scene that shows the console's tree, or the one that is edited, statuses, selection and stops as they change. */
export function useScene(): Scene {
  const console = useConsole();
  const clock = useClock(console);
  const [scene] = useState(() => new Scene(clock));
  useEffect(() => feed(scene, console), [scene, console]);
  useEffect(() => watchTheme(() => scene.recolour()), [scene]);
  useEffect(() => {
    const query = matchMedia("(prefers-reduced-motion: reduce)");
    scene.calm = query.matches;
  }, [scene]);
  useStops(scene);
  return scene;
}

/** The moment that is shown [s]: it goes on between two frames of the server while it is live. */
function useClock(console: Console): () => number {
  return useMemo(() => {
    const { connection } = console;
    let taken = { now: connection.now.get(), at: performance.now() };
    return () => {
      const shown = connection.shown.get();
      if (shown !== null) return shown;
      const now = connection.now.get();
      if (now !== taken.now) taken = { now, at: performance.now() };
      return now + Math.min(1, (performance.now() - taken.at) / 1000);
    };
  }, [console]);
}

function feed(scene: Scene, console: Console): () => void {
  const { channels } = console;
  const session = editSession(console);
  let models: ReadonlyMap<string, NodeModel> = new Map();
  const showTree = () => {
    const tree = channels.current("tree");
    const mission = channels.current("mission");
    const live = tree === undefined ? modelOf("", []) : treeModel(tree);
    const document = session.document.get();
    const runs = mission?.name === session.tree.get() && mission?.action_id === tree?.action_id;
    scene.show(
      document === null ? live : documentModel(document, models, runs ? live : null),
      channels.current("status"),
    );
    scene.takeReasons(channels.current("reasons"));
    selectFresh();
    select();
  };
  const selectFresh = () => {
    const fresh = session.fresh.get();
    const card = fresh === null ? undefined : scene.model.get().cards.find(({ id }) => id === fresh);
    if (card === undefined) return;
    session.fresh.set(null);
    console.selection.set({ node: card.uid });
  };
  const showDocument = () => {
    void nodeModels().then(({ byId }) => {
      if (byId.size === models.size) return;
      models = byId;
      showTree();
    });
    showTree();
  };
  const select = () => {
    const { node } = console.selection.get();
    const index = node === undefined ? -1 : scene.model.get().byUid.get(node) ?? -1;
    if (index === scene.selected) return;
    scene.select(index);
    if (index >= 0) scene.bring(index);
  };
  let shownMission = "";
  const missionChanged = () => {
    const mission = channels.current("mission");
    const next = `${mission?.name} ${mission?.action_id}`;
    if (next !== shownMission) showTree();
    shownMission = next;
  };
  const follow = () => scene.setFollow(console.follow.get());
  const stops = [
    console.subscribe("tree", showTree),
    console.subscribe("status", ({ all, keys }) =>
      scene.takeStatuses(channels.current("status"), all ? undefined : keys)),
    console.subscribe("reasons", () => scene.takeReasons(channels.current("reasons"))),
    console.selection.subscribe(select),
    console.follow.subscribe(follow),
    session.document.subscribe(showDocument),
    session.fresh.subscribe(selectFresh),
    console.subscribe("mission", () => void (session.document.get() !== null && missionChanged())),
  ];
  if (session.document.get() !== null) showDocument();
  else if (channels.current("tree") !== undefined) showTree();
  follow();
  return () => stops.forEach((stop) => stop());
}

/** Breakpoints and what waits, by path; the fake of a test may name nodes by their uid. */
function useStops(scene: Scene): void {
  const control = useChannel("run_control");
  const model = useValue(scene.model);
  useEffect(() => {
    const paths = (nodes: readonly (number | string)[] = []) =>
      new Set(nodes.map((node) =>
        typeof node === "string" ? node : model.cards[model.byUid.get(node) ?? -1]?.path ?? ""));
    scene.setStops(paths(control?.breakpoints), paths(control?.held));
  }, [scene, control, model]);
}
