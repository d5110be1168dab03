// SPDX-License-Identifier: Apache-2.0
import { useEffect, type KeyboardEvent } from "react";
import type { Drop } from "../paint";
import type { Scene } from "../scene";
import type { NodeModel } from "./models";
import type { Editing } from "./useEditing";

/** Lets a click in the palette put a kind of node behind the selected node, or around it. */
export function usePaletteClicks(scene: Scene, { session, active, insert }: Editing): void {
  useEffect(() => {
    const place = (model: NodeModel) =>
      model.children[0] > 0 && scene.selected >= 0 ? { around: scene.selected } : behindSelected(scene);
    session.insert = active ? (model) => insert(model, place(model)) : null;
    return () => void (session.insert = null);
  }, [session, active, insert, scene]);
}

/** Place behind the selected card, or in the root. */
function behindSelected(scene: Scene): Drop {
  const { cards } = scene.model.get();
  const card = cards[scene.selected];
  const parent = card === undefined ? undefined : cards[card.parent];
  if (card === undefined || parent === undefined || card.kind === "control")
    return { parent: card?.index ?? 0, before: -1 };
  const next = parent.children[parent.children.indexOf(card.index) + 1];
  return { parent: parent.index, before: next ?? -1 };
}

/** Keys that change the tree; whether it was one. */
export function useEditKeys(scene: Scene, editing: Editing): (event: KeyboardEvent) => boolean {
  return (event) => {
    const index = scene.selected;
    if (!editing.active || index < 0) return false;
    const key = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.key}`;
    const right = scene.direction.get() === "right";
    const actions: Record<string, () => void> = {
      Delete: () => editing.remove(index),
      Enter: () => editing.setRenaming(index),
      F2: () => editing.setRenaming(index),
      [right ? "Alt+ArrowUp" : "Alt+ArrowLeft"]: () => editing.step(index, -1),
      [right ? "Alt+ArrowDown" : "Alt+ArrowRight"]: () => editing.step(index, 1),
      "Ctrl+d": () => editing.duplicate(index),
      "Ctrl+c": () => editing.copy(index),
      "Ctrl+v": () => void navigator.clipboard?.readText().then((xml) => editing.paste(index, xml)),
    };
    const action = actions[key];
    if (action === undefined) return false;
    event.preventDefault();
    action();
    return true;
  };
}
