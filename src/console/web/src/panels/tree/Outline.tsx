// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { shapeOf, StatusIcon } from "../../design";
import { RUNNING, useChannel, useConsole, useSelection, useValue } from "../../store";
import { EditOverlay } from "./edit/EditOverlay";
import { useEditKeys } from "./edit/useEditKeys";
import type { Editing } from "./edit/useEditing";
import type { Card, TreeModel } from "./model";
import type { Scene } from "./scene";
import { oneLine } from "./text";
import { shownCards, shownFor } from "./visible";

/** [px] of a line. */
const LINE = 26;
/** Lines that are kept above and below what is on the screen. */
const SPARE = 8;

/** The tree as an ARIA tree: only the lines on the screen are in the page. */
export function Outline({ scene, editing, hits, only }: {
  scene: Scene; editing: Editing; hits: readonly number[]; only: boolean;
}) {
  const console = useConsole();
  const model = useValue(scene.model);
  const closed = useValue(scene.closed);
  const [selection] = useSelection();
  const selected = model.byUid.get(selection.node ?? NaN) ?? -1;
  const shown = useMemo(
    () => shownCards(model, closed, only && hits.length > 0 ? new Set(hits) : undefined),
    [model, closed, only, hits],
  );
  const places = useMemo(() => new Map(shown.map((index, place) => [index, place])), [shown]);
  const { ref, first, last, scrolled, show } = useLines(shown.length);
  useFollow(scene, places, show);
  useEffect(() => {
    const place = places.get(selected);
    if (place !== undefined) show(place);
    else if (selected >= 0) scene.reveal(selected);
  }, [selected, places, show, scene]);
  const select = (index: number) => console.selection.set({ node: model.cards[index]!.uid });
  const change = useEditKeys(scene, editing);
  const keys = (event: KeyboardEvent) => {
    if (change(event)) return;
    const next = target(event.key, model, shown, places, selected, scene);
    if (next === null) return;
    event.preventDefault();
    if (next >= 0) select(next);
  };
  return (
    <div className="tree-list">
      <div
        ref={ref} className="tree-outline" role="tree" tabIndex={0} aria-label="Tree"
        onKeyDown={keys} onScroll={scrolled}
        {...(places.has(selected) ? { "aria-activedescendant": `tree-line-${selected}` } : {})}
      >
        <div role="none" style={{ height: shown.length * LINE, position: "relative" }}>
          {shown.slice(first, last).map((index, at) => (
            <Line
              key={index} scene={scene} card={model.cards[index]!} model={model}
              top={(first + at) * LINE} selected={index === selected}
              isOpen={!closed.has(model.cards[index]!.path)} onSelect={select}
            />
          ))}
        </div>
      </div>
      {editing.active ? <EditOverlay scene={scene} editing={editing} drawn={false} /> : null}
    </div>
  );
}

function Line({ scene, card, model, top, selected, isOpen, onSelect }: {
  scene: Scene; card: Card; model: TreeModel; top: number; selected: boolean; isOpen: boolean;
  onSelect: (index: number) => void;
}) {
  const statuses = useChannel("status");
  const reasons = useChannel("reasons");
  const [status] = statuses.get(String(card.uid)) ?? [0];
  const siblings = model.cards[card.parent]?.children ?? [card.index];
  const shape = shapeOf(status, card.kind === "condition");
  const reason = shape === "failure" ? reasons.get(String(card.uid))?.text : undefined;
  const name = oneLine(card.name, 120);
  const closes = card.children.length > 0;
  return (
    <div
      id={`tree-line-${card.index}`} className="tree-line" role="treeitem" data-running={status === RUNNING}
      aria-level={card.depth + 1} aria-posinset={siblings.indexOf(card.index) + 1}
      aria-setsize={siblings.length} aria-selected={selected}
      {...(closes ? { "aria-expanded": isOpen } : {})}
      style={{ top, height: LINE, paddingInlineStart: 8 + Math.min(card.depth, 24) * 16 }}
      onClick={() => onSelect(card.index)} onDoubleClick={() => scene.toggle(card.index)}
    >
      <span
        className="tree-fold" aria-hidden="true" data-closes={closes} data-open={isOpen}
        onClick={(event) => {
          event.stopPropagation();
          scene.toggle(card.index);
        }}
      />
      <StatusIcon status={shape} />
      <span className="tree-name">{name}</span>
      {card.type === card.name ? null : <span className="tree-type">{oneLine(card.type, 40)}</span>}
      {reason === undefined ? null : <span className="tree-reason">{oneLine(reason, 120)}</span>}
    </div>
  );
}

/** Which lines are on the screen. */
function useLines(count: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 60 });
  const scrolled = useCallback(() => {
    const element = ref.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / LINE) - SPARE);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / LINE) + SPARE;
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
  }, []);
  useEffect(() => {
    const observer = new ResizeObserver(scrolled);
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, [scrolled]);
  useEffect(scrolled, [scrolled, count]);
  const show = useCallback((line: number) => {
    const element = ref.current;
    if (element === null) return;
    const top = line * LINE;
    const margin = Math.min(3 * LINE, element.clientHeight / 4);
    if (top - margin < element.scrollTop) element.scrollTop = top - margin;
    else if (top + LINE + margin > element.scrollTop + element.clientHeight)
      element.scrollTop = top + LINE + margin - element.clientHeight;
  }, []);
  return { ref, first: range.first, last: range.last, scrolled, show };
}

function useFollow(
  scene: Scene, places: ReadonlyMap<number, number>, show: (line: number) => void,
): void {
  const running = useValue(scene.running);
  const follow = useValue(scene.follow);
  useEffect(() => {
    const [leaf] = running;
    if (!follow || leaf === undefined) return;
    const index = shownFor(scene.model.get(), leaf, places);
    if (index !== undefined) show(places.get(index)!);
  }, [scene, running, follow, places, show]);
}

/** The card that a key leads to, -1 if it only opens or closes one; null: not a key of the tree. */
function target(
  key: string, model: TreeModel, shown: readonly number[], places: ReadonlyMap<number, number>,
  selected: number, scene: Scene,
): number | null {
  const place = places.get(selected) ?? -1;
  const card = model.cards[selected];
  const isOpen = card !== undefined && card.children.some((each) => places.has(each));
  switch (key) {
    case "ArrowDown": return shown[Math.min(place + 1, shown.length - 1)] ?? null;
    case "ArrowUp": return shown[Math.max(place - 1, 0)] ?? null;
    case "Home": return shown[0] ?? null;
    case "End": return shown.at(-1) ?? null;
    case "PageDown": return shown[Math.min(place + 20, shown.length - 1)] ?? null;
    case "PageUp": return shown[Math.max(place - 20, 0)] ?? null;
    case "ArrowRight":
      if (card === undefined || card.children.length === 0) return null;
      if (isOpen) return card.children[0]!;
      scene.toggle(selected);
      return -1;
    case "ArrowLeft":
      if (card === undefined) return null;
      if (!isOpen) return card.parent;
      scene.toggle(selected);
      return -1;
    case "Enter":
      scene.toggle(selected);
      return -1;
    default: return null;
  }
}
