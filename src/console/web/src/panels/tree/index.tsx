// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from "react";
import { Empty } from "../../design";
import { useChannel, useConsole, useValue } from "../../store";
import { CanvasView } from "./CanvasView";
import { EditBar } from "./edit/EditBar";
import { editSession } from "./edit/session";
import { usePaletteClicks } from "./edit/useEditKeys";
import { useEditing } from "./edit/useEditing";
import { keepMode, keptMode } from "./kept";
import { Outline } from "./Outline";
import { RunningNow } from "./RunningNow";
import { Toolbar, useSearch } from "./Toolbar";
import { useScene } from "./useScene";
import "./tree.css";

/** The tree that runs: as a picture or as a list, the same statuses and selection in both. */
export default function TreePanel() {
  const scene = useScene();
  const model = useValue(scene.model);
  const [mode, setMode] = useState(keptMode);
  const search = useSearch(scene);
  const stack = useChannel("stack");
  const change = useCallback((next: "canvas" | "outline") => {
    keepMode(next);
    setMode(next);
  }, []);
  const editing = useEditing(scene);
  usePaletteClicks(scene, editing);
  if (model.cards.length === 0) return <NoTree {...stack?.empty} />;
  return (
    <div className="tree-panel">
      <Toolbar scene={scene} search={search} mode={mode} onMode={change} />
      {mode === "canvas"
        ? <CanvasView scene={scene} editing={editing} />
        : <Outline scene={scene} editing={editing} hits={search.hits} only={search.only} />}
      <RunningNow scene={scene} />
    </div>
  );
}

function NoTree({ text, remedy }: { text?: string; remedy?: string }) {
  const session = editSession(useConsole());
  const [edited, problem] = [useValue(session.tree), useValue(session.problem)];
  const opens = problem === "" ? `opens the tree of ${edited} …` : `the tree of ${edited} cannot be edited`;
  return (
    <div className="tree-panel">
      <div className="tree-tools" role="toolbar" aria-label="Tree"><span className="tree-gap" /><EditBar /></div>
      <Empty
        waitsFor={edited !== null ? opens : text || "connected, no tree runs yet"}
        todo={edited !== null ? problem : remedy || "start a mission, or edit one's tree: it stands here"}
      />
    </div>
  );
}
