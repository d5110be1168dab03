// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../design";
import { useCommand, useConsole, useValue, Value } from "../../store";
import { EditBar } from "./edit/EditBar";
import type { Mode } from "./kept";
import type { Scene } from "./scene";
import { found } from "./visible";

export interface Search {
  query: string;
  setQuery: (query: string) => void;
  hits: readonly number[];
  /** Whether only hits, and what is above them, are shown. */
  only: boolean;
  setOnly: (only: boolean) => void;
  /** Selects the next hit, or the one before. */
  next: (step: 1 | -1) => void;
}

const NEVER = new Value(0);

/** What is searched for, with the canvas told about it. */
export function useSearch(scene: Scene): Search {
  const console = useConsole();
  const [query, setQuery] = useState("");
  const [only, setOnly] = useState(false);
  const hits = useHits(scene, query);
  useEffect(
    () => scene.setHits(query.trim() === "" ? null : new Set(hits), only),
    [scene, hits, only, query],
  );
  const next = useCallback((step: 1 | -1) => {
    if (hits.length === 0) return;
    const at = hits.indexOf(scene.selected);
    const index = hits[at < 0 ? 0 : (at + step + hits.length) % hits.length]!;
    console.selection.set({ node: scene.model.get().cards[index]!.uid });
  }, [console, scene, hits]);
  return { query, setQuery, hits, only, setOnly, next };
}

/** What a search finds now: with statuses in it, that changes with what runs. */
function useHits(scene: Scene, query: string): readonly number[] {
  const model = useValue(scene.model);
  const changes = useValue(query.includes("is:") ? scene.changed : NEVER);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- statuses are not React's
  return useMemo(() => found(model, query, scene.states), [model, query, scene, changes]);
}

export function Toolbar({ scene, search, mode, onMode }: {
  scene: Scene; search: Search; mode: Mode; onMode: (mode: Mode) => void;
}) {
  const console = useConsole();
  const follow = useValue(console.follow);
  const direction = useValue(scene.direction);
  const closed = useValue(scene.closed);
  const field = useRef<HTMLInputElement>(null);
  const canvas = mode === "canvas";
  const turn = useCallback(
    () => scene.setDirection(scene.direction.get() === "right" ? "down" : "right"), [scene],
  );
  const toggleFollow = useCallback(() => console.follow.set(!console.follow.get()), [console]);
  useCommand("tree.search", "Tree: search", "/", useCallback(() => field.current?.focus(), []));
  useCommand("tree.follow", "Tree: follow what runs", "F", toggleFollow);
  useCommand("tree.turn", "Tree: left to right, or top down", "T", turn);
  useCommand("tree.fit", "Tree: show all of it", "0", useCallback(() => scene.fit(), [scene]));
  useCommand("tree.close", "Tree: close all subtrees", undefined, useCallback(() => scene.closeAll(), [scene]));
  useCommand("tree.open", "Tree: open all", undefined, useCallback(() => scene.openAll(), [scene]));
  useCommand(
    "tree.outline", "Tree: picture or outline", "O",
    useCallback(() => onMode(canvas ? "outline" : "canvas"), [onMode, canvas]),
  );
  return (
    <div className="tree-tools" role="toolbar" aria-label="Tree">
      <input
        ref={field} type="search" className="tree-search" placeholder="Search  /" value={search.query}
        aria-label="Search the tree: names, types, ports, is:failed, kind:action"
        title="names, types, ports; is:running, is:failed, kind:action"
        onChange={(event) => search.setQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") search.next(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") {
            search.setQuery("");
            field.current?.blur();
          }
        }}
      />
      {search.query.trim() === "" ? null : (
        <>
          <span className="tree-hits" role="status">
            {search.hits.length === 0 ? "nothing found" : `${search.hits.length} found`}
          </span>
          <Button
            look="quiet" aria-pressed={search.only} title="Show only what was found"
            onClick={() => search.setOnly(!search.only)}
          >
            Only these
          </Button>
        </>
      )}
      <span className="tree-gap" />
      <EditBar />
      <Button look="quiet" aria-pressed={follow} title="Keep what runs in view  F" onClick={toggleFollow}>
        Follow
      </Button>
      {canvas ? (
        <>
          <Button look="quiet" title="Left to right, or top down  T" onClick={turn}>
            {direction === "right" ? "Down" : "Right"}
          </Button>
          <Button look="quiet" title="Show all of the tree  0" onClick={() => scene.fit()}>Fit</Button>
        </>
      ) : null}
      <Button
        look="quiet" title={closed.size > 0 ? "Open all that is closed" : "Close all subtrees"}
        onClick={() => (closed.size > 0 ? scene.openAll() : scene.closeAll())}
      >
        {closed.size > 0 ? "Open all" : "Close all"}
      </Button>
      <Button
        look="quiet" aria-pressed={!canvas} title="The tree as a list, for keyboard and screen readers  O"
        onClick={() => onMode(canvas ? "outline" : "canvas")}
      >
        Outline
      </Button>
    </div>
  );
}
