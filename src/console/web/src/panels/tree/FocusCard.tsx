// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "react";
import { useConsole, useSelection, useValue } from "../../store";
import { oneLine } from "./text";
import type { Scene } from "./scene";

/** [px] below a card, for what can be done with it. */
const BELOW = 6;

/** What the selected card cannot say on the canvas: its whole name and reason, as text. */
export function FocusCard({ scene }: { scene: Scene }) {
  const console = useConsole();
  const [selection] = useSelection();
  const model = useValue(scene.model);
  const element = useRef<HTMLDivElement>(null);
  const card = model.cards[model.byUid.get(selection.node ?? NaN) ?? -1];
  const reason = card === undefined
    ? undefined : console.channels.current("reasons").get(String(card.uid))?.text;
  const long = card !== undefined && (card.name.length > 22 || reason !== undefined);
  useEffect(() => {
    const place = () => {
      const box = card === undefined ? null : scene.onScreen(card.index);
      if (element.current === null) return;
      element.current.hidden = box === null || box.scale < 0.28;
      if (box === null) return;
      element.current.style.transform = `translate(${box.x}px, ${box.y + box.height + BELOW}px)`;
    };
    place();
    return scene.moved.subscribe(place);
  }, [scene, card, long]);
  if (card === undefined || !long) return null;
  return (
    <div ref={element} className="tree-focus">
      <span className="text">{oneLine(card.name, 200)}</span>
      {reason === undefined ? null : <span className="tree-reason text">{oneLine(reason, 300)}</span>}
    </div>
  );
}
