// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "react";
import { useChannel, useConsole, useValue, type Console } from "../../store";
import { watchTheme } from "./colours";
import { modelOf, treeModel } from "./model";
import { Scene } from "./scene";

/** A scene that shows the console's tree, statuses, selection and stops as they change. */
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
  const showTree = () => {
    const tree = channels.current("tree");
    const model = tree === undefined ? modelOf("", []) : treeModel(tree);
    scene.show(model, channels.current("status"));
    scene.takeReasons(channels.current("reasons"));
    select();
  };
  const select = () => {
    const { node } = console.selection.get();
    const index = node === undefined ? -1 : scene.model.get().byUid.get(node) ?? -1;
    if (index === scene.selected) return;
    scene.select(index);
    if (index >= 0) scene.bring(index);
  };
  const follow = () => scene.setFollow(console.follow.get());
  const stops = [
    console.subscribe("tree", showTree),
    console.subscribe("status", ({ all, keys }) =>
      scene.takeStatuses(channels.current("status"), all ? undefined : keys)),
    console.subscribe("reasons", () => scene.takeReasons(channels.current("reasons"))),
    console.selection.subscribe(select),
    console.follow.subscribe(follow),
  ];
  if (channels.current("tree") !== undefined) showTree();
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
