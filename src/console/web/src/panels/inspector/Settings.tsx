// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Button } from "../../design";
import { Part } from "../../operator/parts";
import { useChannel, useConsole, useMay, useTime, useValue } from "../../store";
import type { NodeModel, PortModel } from "../tree/edit/models";
import { changes, unfit } from "../tree/edit/operations";
import { PortFields } from "../tree/edit/PortFields";
import { editSession } from "../tree/edit/session";
import type { Card } from "../tree/model";
import { oneLine } from "../tree/text";

/** Ports of a node: what they say, what that is now, and while it is edited the fields to change it. */
export function Settings({ card, model }: { card: Card; model: NodeModel | undefined }) {
  const session = editSession(useConsole());
  const document = useValue(session.document);
  const wanted = useValue(session.wanted);
  const may = useMay("edit");
  const [at] = useTime();
  const texts = Object.fromEntries(card.ports);
  const ports = model?.ports ?? card.ports.map(([name]): PortModel => ({
    name, direction: "input", type: "", default: "", description: "", choices: [],
  }));
  if (document !== null && card.id !== undefined && may && at === null)
    return <Editable key={`${card.uid} ${wanted} ${JSON.stringify(texts)}`} card={card} ports={ports} texts={texts} wanted={wanted} />;
  if (ports.length === 0 && card.conditions.length === 0) return null;
  return (
    <Part title="Ports">
      <dl className="facts">
        {ports.map((port) => (
          <div key={port.name} className="fact">
            <dt className="text" title={port.description}>{port.name}</dt>
            <dd className="text"><Text text={texts[port.name] ?? port.default ?? ""} card={card} /></dd>
          </div>
        ))}
        {card.conditions.map(([name, text]) => (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd className="text mono">{oneLine(text, 500)}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}

/** A port's text; of one that is connected the value that its entry has now. */
function Text({ text, card }: { text: string; card: Card }) {
  const blackboard = useChannel("blackboard");
  const entry = /^\{(.+)\}$/.exec(text)?.[1];
  if (entry === undefined) return <span className="mono">{oneLine(text, 500) || "–"}</span>;
  const board = card.path.includes("/") ? card.path.slice(0, card.path.lastIndexOf("/")) : "";
  const name = entry === "=" ? "" : entry.replace(/^@/, "");
  const value = blackboard.get(board === "" || entry.startsWith("@") ? name : `${board}/${name}`)
    ?? blackboard.get(`/${name}`) ?? blackboard.get(name);
  return (
    <>
      <span className="mono">{oneLine(text, 100)}</span>
      {value === undefined ? null : <span className="mono value">{` = ${oneLine(value[1], 300)}`}</span>}
    </>
  );
}

/** Conditions that any node may have. */
const CONDITIONS = ["skipIf", "failureIf", "successIf", "while", "onSuccess", "onFailure", "onHalted", "post"];

function Editable({ card, ports, texts, wanted }: {
  card: Card; ports: readonly PortModel[]; texts: Record<string, string>; wanted: string;
}) {
  const session = editSession(useConsole());
  const [now, setNow] = useState(texts);
  const conditions = Object.fromEntries(card.conditions.map(([name, text]) => [`_${name}`, text]));
  const [scripts, setScripts] = useState<Record<string, string>>(conditions);
  const [name, setName] = useState(card.name);
  const changed = { ...changes(texts, now), ...changes(conditions, scripts) };
  const bad = ports.some((port) => port.name in changed && unfit(port, now[port.name] ?? "") !== "");
  const count = Object.keys(changed).length;
  const scriptPorts = CONDITIONS.map((each): PortModel => ({
    name: `_${each}`, direction: "input", type: "script", default: "", description: "", choices: [],
  }));
  const used = scriptPorts.filter((port) => (scripts[port.name] ?? "") !== "");
  const unused = scriptPorts.filter((port) => (scripts[port.name] ?? "") === "");
  const submit = () => {
    session.wanted.set("");
    if (count > 0 && !bad) void session.edit({ op: "set", node: card.id, attributes: changed }, card.id);
    if (name !== "" && name !== card.name) void session.edit({ op: "rename", node: card.id, name }, card.id);
  };
  return (
    <Part title="Settings">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <PortFields
          ports={[{ name: "name", direction: "input", type: "", default: card.type, description: "", choices: [] }]}
          texts={{ name }} onChange={(_, text) => setName(text)}
        />
        <PortFields
          ports={ports} texts={now} focus={wanted}
          onChange={(port, text) => setNow({ ...now, [port]: text })}
        />
        <PortFields ports={used} texts={scripts} onChange={(port, text) => setScripts({ ...scripts, [port]: text })} />
        <details>
          <summary>Conditions and scripts</summary>
          <PortFields ports={unused} texts={scripts} onChange={(port, text) => setScripts({ ...scripts, [port]: text })} />
        </details>
        <div className="row">
          <Button type="submit" look="main" disabled={bad || (count === 0 && name === card.name)}>Set</Button>
          <Button
            disabled={count === 0 && name === card.name}
            onClick={() => {
              setNow(texts);
              setScripts(conditions);
              setName(card.name);
            }}
          >
            Back
          </Button>
        </div>
      </form>
      <Whole card={card} />
    </Part>
  );
}

/** What is done with a node as a whole. */
function Whole({ card }: { card: Card }) {
  const session = editSession(useConsole());
  const [name, setName] = useState<string | null>(null);
  const edit = (op: string, more: Record<string, string> = {}) =>
    void session.edit({ op, node: card.id, ...more }, card.id);
  return (
    <>
      <div className="row">
        <Button title="a copy behind it  Ctrl D" onClick={() => edit("duplicate")}>Duplicate</Button>
        <Button title="Del" onClick={() => edit("remove")}>Delete</Button>
        {card.kind === "subtree"
          ? <Button title="the nodes of its tree stand here instead" onClick={() => edit("inline")}>Inline</Button>
          : <Button title="it becomes a tree of its own, used here" onClick={() => setName(card.name)}>Extract …</Button>}
      </div>
      {name === null ? null : (
        <form
          className="row" aria-label="Extract into a tree"
          onSubmit={(event) => {
            event.preventDefault();
            edit("extract", { name });
            setName(null);
          }}
        >
          <input
            autoFocus aria-label="ID of the new tree" value={name} maxLength={200}
            onChange={(event) => setName(event.target.value)} onFocus={(event) => event.target.select()}
          />
          <Button type="submit" look="main" disabled={name.trim() === ""}>Extract</Button>
          <Button onClick={() => setName(null)}>Cancel</Button>
        </form>
      )}
    </>
  );
}
