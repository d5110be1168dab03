// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, type DragEvent, type KeyboardEvent, type PointerEvent } from "react";
import { useConsole, useSelection, useValue } from "../../store";
import { FocusCard } from "./FocusCard";
import { EditOverlay } from "./edit/EditOverlay";
import { dropAt } from "./edit/operations";
import { useEditKeys } from "./edit/useEditKeys";
import type { Editing } from "./edit/useEditing";
import type { Drop } from "./paint";
import type { Scene } from "./scene";

/** [px] that a pointer may move and still click. */
const CLICK = 4;

/** The tree as a picture: drag to pan, wheel to zoom, arrows to walk. */
export function CanvasView({ scene, editing }: { scene: Scene; editing: Editing }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  useEffect(() => scene.attach(canvas.current!, map.current!), [scene]);
  useWheel(canvas, scene);
  const pointer = usePointer(scene, editing);
  const palette = usePaletteDrop(scene, editing);
  const walk = useWalk(scene);
  const change = useEditKeys(scene, editing);
  const { active } = editing;
  return (
    <div className="tree-canvas">
      <canvas
        ref={canvas} tabIndex={0} role="application" data-edits={active} {...pointer} {...palette}
        onKeyDown={(event) => void (change(event) || walk(event))}
        aria-label="Tree: arrows walk, Enter opens and closes, plus and minus zoom; the outline (O) is for screen readers"
      />
      <FocusCard scene={scene} />
      {active ? <EditOverlay scene={scene} editing={editing} drawn /> : null}
      <MiniMap scene={scene} map={map} />
    </div>
  );
}

function MiniMap({ scene, map }: { scene: Scene; map: React.RefObject<HTMLCanvasElement | null> }) {
  const go = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const box = event.currentTarget.getBoundingClientRect();
    scene.goToMapPoint(event.clientX - box.left, event.clientY - box.top);
  };
  return (
    <div className="tree-map" aria-hidden="true">
      <canvas ref={map} onPointerDown={go} onPointerMove={go} />
      <span className="tree-map-frame" />
    </div>
  );
}

/** React listens to the wheel passively: the page behind would scroll too. */
function useWheel(canvas: React.RefObject<HTMLCanvasElement | null>, scene: Scene): void {
  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      if (event.shiftKey) return scene.pan(-(event.deltaX + event.deltaY) * unit, 0);
      const box = element.getBoundingClientRect();
      const factor = Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016));
      scene.zoom(factor, event.clientX - box.left, event.clientY - box.top);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [canvas, scene]);
}

interface Drag {
  x: number;
  y: number;
  moved: boolean;
  /** Card that is moved; -1: the view is. */
  card: number;
}

/** Where something that is let go at a point of the screen lands. */
function dropPlace(scene: Scene, x: number, y: number, dragged: Parameters<typeof dropAt>[3]): Drop | null {
  const model = scene.model.get();
  const over = model.cards[scene.near(x, y)];
  const box = over === undefined ? null : scene.onScreen(over.index);
  if (over === undefined || box === null) return null;
  const part = scene.direction.get() === "right" ? (y - box.y) / box.height : (x - box.x) / box.width;
  return dropAt(model, over, part, dragged);
}

/** What is dragged here from the palette. */
function usePaletteDrop(scene: Scene, { session, active, drop }: Editing) {
  const place = (event: DragEvent<HTMLCanvasElement>) => {
    const model = session.dragged.get();
    if (!active || model === null) return null;
    event.preventDefault();
    const box = event.currentTarget.getBoundingClientRect();
    const found = dropPlace(scene, event.clientX - box.left, event.clientY - box.top, { model });
    return found === null ? null : { model, found };
  };
  return {
    onDragOver: (event: DragEvent<HTMLCanvasElement>) => scene.setDrop(place(event)?.found ?? null),
    onDragLeave: () => scene.setDrop(null),
    onDrop: (event: DragEvent<HTMLCanvasElement>) => {
      const found = place(event);
      scene.setDrop(null);
      if (found !== null) drop({ model: found.model }, found.found);
    },
  };
}

/** Panning with one pointer, zooming with two, clicking. */
function usePointer(scene: Scene, editing: Editing) {
  const console = useConsole();
  const drags = useRef(new Map<number, Drag>());
  const point = (event: PointerEvent | React.MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pinch = (event: PointerEvent, before: Drag, now: { x: number; y: number }) => {
    const other = [...drags.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) return scene.pan(now.x - before.x, now.y - before.y);
    const length = (at: { x: number; y: number }) => Math.hypot(at.x - other.x, at.y - other.y);
    scene.zoom(length(now) / Math.max(1, length(before)), other.x, other.y);
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = point(event);
      const hit = editing.active && event.button === 0 ? scene.at(at.x, at.y) : null;
      const card = hit === null || hit.knob || hit.index === 0 ? -1 : hit.index;
      drags.current.set(event.pointerId, { ...at, moved: false, card });
    },
    onPointerMove: (event: PointerEvent<HTMLCanvasElement>) => {
      const now = point(event);
      const before = drags.current.get(event.pointerId);
      if (before === undefined) {
        const hit = scene.at(now.x, now.y);
        event.currentTarget.style.cursor = hit === null ? "grab" : "pointer";
        return scene.hover(hit?.index ?? -1);
      }
      if (!before.moved && Math.hypot(now.x - before.x, now.y - before.y) < CLICK) return;
      if (before.card >= 0) scene.setDrop(dropPlace(scene, now.x, now.y, { index: before.card }));
      else pinch(event, before, now);
      drags.current.set(event.pointerId, { ...now, moved: true, card: before.card });
    },
    onPointerUp: (event: PointerEvent<HTMLCanvasElement>) => {
      const drag = drags.current.get(event.pointerId);
      drags.current.delete(event.pointerId);
      if (drag?.moved && drag.card >= 0) {
        const drop = dropPlace(scene, drag.x, drag.y, { index: drag.card });
        scene.setDrop(null);
        if (drop !== null) editing.drop({ index: drag.card }, drop);
      }
      if (drag === undefined || drag.moved || event.button !== 0) return;
      const hit = scene.at(drag.x, drag.y);
      if (hit?.knob) return scene.toggle(hit.index);
      if (hit === null) return console.selection.set({});
      scene.select(hit.index);
      console.selection.set({ node: scene.model.get().cards[hit.index]!.uid });
    },
    onPointerCancel: (event: PointerEvent) => {
      drags.current.delete(event.pointerId);
      scene.setDrop(null);
    },
    onPointerLeave: () => scene.hover(-1),
    onDoubleClick: (event: React.MouseEvent) => {
      const { x, y } = point(event);
      const hit = scene.at(x, y);
      if (hit !== null && !hit.knob) scene.toggle(hit.index);
    },
  };
}

/** Arrow keys go from card to card as these stand on the screen. */
function useWalk(scene: Scene): (event: KeyboardEvent) => void {
  const [selection, select] = useSelection();
  const direction = useValue(scene.direction);
  return (event) => {
    const model = scene.model.get();
    const index = model.byUid.get(selection.node ?? NaN);
    const go = (next: number | undefined) => {
      const card = next === undefined ? undefined : model.cards[next];
      if (card === undefined) return;
      event.preventDefault();
      scene.select(card.index);
      select({ node: card.uid });
      scene.approach(card.index);
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "-") {
      const box = event.currentTarget.getBoundingClientRect();
      return scene.zoom(event.key === "+" ? 1.25 : 0.8, box.width / 2, box.height / 2);
    }
    if (index === undefined) return event.key.startsWith("Arrow") ? go(0) : undefined;
    const card = model.cards[index]!;
    if (event.key === "Enter") return scene.toggle(index);
    const siblings = model.cards[card.parent]?.children ?? [index];
    const at = siblings.indexOf(index);
    const [inner, outer, before, after] = direction === "right"
      ? ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"]
      : ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"];
    if (event.key === inner) {
      if (!scene.isOpen(index)) scene.toggle(index);
      go(card.children[0]);
    } else if (event.key === outer) go(card.parent);
    else if (event.key === before) go(siblings[at - 1]);
    else if (event.key === after) go(siblings[at + 1]);
  };
}
