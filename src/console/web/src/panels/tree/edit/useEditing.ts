// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useMemo, useState } from "react";
import { useConsole, useMay, useTime, useValue } from "../../../store";
import type { Scene } from "../scene";
import type { Drop } from "../paint";
import { xmlOf } from "./document";
import type { NodeModel } from "./models";
import {
  insertion, missing, moving, pasting, stepping, wrapping, type Dragged, type Operation,
} from "./operations";
import { editSession, type EditSession } from "./session";

/** Where a new node goes: to a place, or around a node. */
export type Place = Drop | { around: number };

/** A node that is to be put in as soon as what it needs is given. */
export interface Pending {
  model: NodeModel;
  place: Place;
}

/** What can be done to the tree with gestures and keys, and what is being asked for. */
export function useEditing(scene: Scene) {
  const console = useConsole();
  const session = editSession(console);
  const document = useValue(session.document);
  const may = useMay("edit");
  const [at] = useTime();
  const active = document !== null && may && at === null;
  const [pending, setPending] = useState<Pending | null>(null);
  const [renaming, setRenaming] = useState<number | null>(null);

  usePointing(scene, session, active);

  const idOf = useCallback((index: number) => scene.model.get().cards[index]?.id ?? "", [scene]);
  const edit = useCallback(
    (operation: Operation | null, index: number) => {
      if (operation !== null) void session.edit(operation, idOf(index));
      else session.outcome.set({
        operation: { op: "move" }, at: idOf(index), kind: "refused",
        text: "that is no place for it: drop it before, behind or into another node",
      });
    },
    [session, idOf],
  );
  const insert = useCallback(
    (model: NodeModel, place: Place, attributes: Record<string, string> = {}) => {
      const now = session.document.get();
      if (now === null) return;
      if (missing(model, attributes).length > 0) return setPending({ model, place });
      setPending(null);
      const cards = scene.model.get();
      if ("around" in place) edit(wrapping(cards, now, place.around, model, attributes), place.around);
      else edit(insertion(cards, now, place, model, attributes), place.parent);
    },
    [session, scene, edit],
  );
  const actions = useMemo(() => {
    const now = () => session.document.get();
    return {
      drop: (dragged: Dragged, drop: Drop) => {
        const doc = now();
        if (doc === null) return;
        if ("model" in dragged) return insert(dragged.model, drop);
        edit(moving(scene.model.get(), doc, drop, dragged.index), drop.parent);
      },
      remove: (index: number) => edit({ op: "remove", node: idOf(index) }, index),
      rename: (index: number, name: string) => {
        setRenaming(null);
        if (name !== "" && name !== scene.model.get().cards[index]?.name)
          edit({ op: "rename", node: idOf(index), name }, index);
      },
      step: (index: number, step: 1 | -1) => {
        const doc = now();
        const operation = doc === null ? null : stepping(scene.model.get(), doc, index, step);
        if (operation !== null) edit(operation, index);
      },
      duplicate: (index: number) => edit({ op: "duplicate", node: idOf(index) }, index),
      copy: (index: number) => {
        const doc = now();
        if (doc !== null) void navigator.clipboard?.writeText(xmlOf(doc, idOf(index)));
      },
      paste: (index: number, xml: string) => {
        const doc = now();
        if (doc !== null) edit(pasting(scene.model.get(), doc, index, xml), index);
      },
      undo: () => void session.edit({ op: "undo" }),
      redo: () => void session.edit({ op: "redo" }),
    };
  }, [session, scene, edit, insert, idOf]);
  return { session, active, pending, setPending, renaming, setRenaming, insert, ...actions };
}

export type Editing = ReturnType<typeof useEditing>;

/** Tells the others what is selected and pointed at here, a few times a second. */
function usePointing(scene: Scene, session: EditSession, active: boolean): void {
  useEffect(() => {
    if (!active) return;
    let told = "";
    const timer = window.setInterval(() => {
      const { cards } = scene.model.get();
      const [node, over] = [cards[scene.selected]?.id ?? null, cards[scene.hovered]?.id ?? null];
      if (told === `${node} ${over} ${session.name.get()}`) return;
      told = `${node} ${over} ${session.name.get()}`;
      session.point(node, over);
    }, 250);
    return () => window.clearInterval(timer);
  }, [scene, session, active]);
}
