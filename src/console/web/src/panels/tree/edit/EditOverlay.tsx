// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "../../../design";
import { useChannel, useValue } from "../../../store";
import type { Scene } from "../scene";
import { oneLine } from "../text";
import { missing } from "./operations";
import { PortFields } from "./PortFields";
import type { Editing } from "./useEditing";

/** What an edit asks or is answered: at the card that it is about, or above the outline. */
export function EditOverlay({ scene, editing, drawn }: { scene: Scene; editing: Editing; drawn: boolean }) {
  const { session, pending, renaming } = editing;
  const outcome = useValue(session.outcome);
  const model = useValue(scene.model);
  const at = outcome === null ? undefined : model.cards.find(({ id }) => id === outcome.at);
  return (
    <>
      {drawn ? <Others scene={scene} editing={editing} /> : null}
      {pending === null ? null : (
        <AtCard scene={scene} drawn={drawn} index={"around" in pending.place ? pending.place.around : pending.place.parent}>
          <PendingForm editing={editing} />
        </AtCard>
      )}
      {renaming === null ? null : (
        <AtCard scene={scene} drawn={drawn} index={renaming} over><Rename scene={scene} editing={editing} index={renaming} /></AtCard>
      )}
      {outcome === null || outcome.at === "" || outcome.kind === "sent" ? null : (
        <AtCard scene={scene} drawn={drawn} index={at?.index ?? 0}>
          <div className="tree-answer" data-kind={outcome.kind} role={outcome.kind === "refused" ? "alert" : "status"}>
            <span className="text">{oneLine(outcome.kind === "runs" ? running(outcome.text) : outcome.text, 400)}</span>
            <div className="row">
              {outcome.kind === "runs" ? (
                <>
                  <Button look="main" autoFocus onClick={() => session.again("after")}>After it ends</Button>
                  <Button onClick={() => session.again("halt")}>Halt it</Button>
                  <Button onClick={() => session.outcome.set(null)}>Cancel</Button>
                </>
              ) : <Button look="quiet" onClick={() => session.outcome.set(null)}>Close</Button>}
            </div>
          </div>
        </AtCard>
      )}
    </>
  );
}

/** Where the other editors are. */
function Others({ scene, editing: { session } }: { scene: Scene; editing: Editing }) {
  const editors = useChannel("editors");
  const [tree, own] = [useValue(session.tree), useValue(session.name)];
  const { cards } = useValue(scene.model);
  return [...editors].flatMap(([name, editor]) => {
    if (name === own || editor.tree !== tree) return [];
    const shown = [editor.node, editor.over].flatMap((id, at) => {
      const card = id === null ? undefined : cards.find((each) => each.id === id);
      return card === undefined || (at === 1 && editor.over === editor.node) ? [] : [{ card, chosen: at === 0 }];
    });
    return shown.map(({ card, chosen }) => (
      <Frame key={`${name} ${chosen}`} scene={scene} index={card.index} name={name} chosen={chosen} />
    ));
  });
}

/** A frame around a card, with the name of who has selected it or points at it. */
function Frame({ scene, index, name, chosen }: { scene: Scene; index: number; name: string; chosen: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = () => {
      const box = scene.onScreen(index);
      const style = element.current?.style;
      if (style === undefined) return;
      style.display = box === null ? "none" : "";
      if (box === null) return;
      style.transform = `translate(${box.x - 3}px, ${box.y - 3}px)`;
      style.width = `${box.width + 6}px`;
      style.height = `${box.height + 6}px`;
    };
    place();
    return scene.moved.subscribe(place);
  }, [scene, index]);
  return (
    <div ref={element} className="tree-other" data-chosen={chosen}>
      <span className="text">{oneLine(name, 30)}</span>
    </div>
  );
}

/** The sentence without what the buttons say. */
function running(text: string): string {
  return text.replace(/\. Say how:.*$/, "").replace(/^it changes/, "This changes");
}

/** Something beside a card, which moves with it. */
function AtCard({ scene, drawn, index, over, children }: {
  scene: Scene; drawn: boolean; index: number; over?: boolean; children: ReactNode;
}) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = () => {
      const box = drawn ? scene.onScreen(index) : null;
      if (element.current === null) return;
      const [x, y] = box === null ? [12, 12] : [box.x, over ? box.y : box.y + box.height + 6];
      element.current.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
    };
    place();
    return scene.moved.subscribe(place);
  }, [scene, drawn, index, over]);
  return <div ref={element} className="tree-beside">{children}</div>;
}

function Rename({ scene, editing, index }: { scene: Scene; editing: Editing; index: number }) {
  const [name, setName] = useState(scene.model.get().cards[index]?.name ?? "");
  return (
    <input
      autoFocus aria-label="Name" className="tree-rename" value={name} maxLength={200}
      onChange={(event) => setName(event.target.value)} onFocus={(event) => event.target.select()}
      onBlur={() => editing.setRenaming(null)}
      onKeyDown={(event) => {
        if (event.key === "Enter") editing.rename(index, name.trim());
        if (event.key === "Escape") editing.setRenaming(null);
      }}
    />
  );
}

/** Asks for what a new node must be given before it is put in. */
function PendingForm({ editing }: { editing: Editing }) {
  const { model, place } = editing.pending!;
  const [texts, setTexts] = useState<Record<string, string>>({});
  const ports = missing(model);
  const ready = missing(model, texts).length === 0;
  return (
    <form
      className="tree-answer" data-kind="form" aria-label={`Put in ${model.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) editing.insert(model, place, texts);
      }}
      onKeyDown={(event) => void (event.key === "Escape" && editing.setPending(null))}
    >
      <strong className="text">{"around" in place ? `${model.id} around this` : model.id}</strong>
      <PortFields ports={ports} texts={texts} onChange={(name, text) => setTexts({ ...texts, [name]: text })} focus={ports[0]?.name ?? ""} />
      <div className="row">
        <Button type="submit" look="main" disabled={!ready}>Put in</Button>
        <Button onClick={() => editing.setPending(null)}>Cancel</Button>
      </div>
    </form>
  );
}
