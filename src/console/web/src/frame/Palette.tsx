// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState, type KeyboardEvent } from "react";
import { Keys } from "../design";
import { useConsole, useValue, type Answer, type OfferedMission } from "../store";
import { Dialog } from "./Dialog";
import { announce } from "./announce";
import { ranked } from "./search";

interface Choice {
  id: string;
  title: string;
  key?: string;
  run(): void;
}

/** Reaches everything by its name: commands, panels, nodes of the tree, objects, missions. */
export default function Palette({ close }: { close: () => void }) {
  const [query, setQuery] = useState("");
  const [index, setIndex] = useState(0);
  const all = useChoices();
  const shown = useMemo(() => ranked(query, all, (each) => each.title).slice(0, 50), [query, all]);
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    close();
    choice.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const next = (index + by + shown.length) % Math.max(1, shown.length);
      setIndex(next);
      document.getElementById(`choice-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") run(shown[index]);
  };
  return (
    <Dialog title="All commands" close={close}>
      <input
        className="palette-input" autoFocus value={query} role="combobox" aria-label="Command"
        aria-expanded="true" aria-controls="choices" placeholder="what to do, or where to go"
        aria-activedescendant={shown.length > 0 ? `choice-${index}` : undefined}
        onChange={(event) => { setQuery(event.target.value); setIndex(0); }} onKeyDown={press}
      />
      <ul className="palette-list" id="choices" role="listbox" aria-label="Commands">
        {shown.map((choice, at) => (
          <li
            key={choice.id} id={`choice-${at}`} role="option" aria-selected={at === index}
            onClick={() => run(choice)} onMouseMove={() => setIndex(at)}
          >
            <span className="text">{choice.title}</span>
            {choice.key === undefined ? null : <Keys of={choice.key} />}
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p className="palette-none">nothing is called so</p> : null}
    </Dialog>
  );
}

function useChoices(): Choice[] {
  const console = useConsole();
  const commands = useValue(console.commands.all);
  return useMemo(() => {
    const { channels, selection } = console;
    const nodes = (channels.current("tree")?.nodes ?? []).map(([uid, , type, name]): Choice => ({
      id: `node.${uid}`, title: `Node: ${name || type}`,
      run: () => { selection.set({ node: uid }); console.showPanel("tree"); },
    }));
    const objects = [...channels.current("objects").keys()].map((name): Choice => ({
      id: `object.${name}`, title: `Object: ${name}`,
      run: () => { selection.set({ object: name }); console.showPanel("scene"); },
    }));
    const start = (name: string) => () =>
      void console.send("mission.start", { name }).then((answer: Answer) =>
        announce(answer.message, answer.ok ? "info" : "error"));
    const missions = (channels.current("missions") ?? [])
      .filter((each) => console.may("operate") && startsAsItIs(each))
      .map((each): Choice => ({
        id: `mission.${each.name}`, title: `Start mission: ${each.name}`, run: start(each.name),
      }));
    return [
      ...commands.filter((each) => each.id !== "palette" && console.may(each.role)),
      ...missions, ...nodes, ...objects,
    ];
  }, [commands, console]);
}

/** Whether a mission may be started without a form. */
function startsAsItIs(mission: OfferedMission): boolean {
  return !mission.why_not && (mission.parameters ?? []).every((each) => each.default !== null);
}
