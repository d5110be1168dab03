// SPDX-License-Identifier: Apache-2.0
import { Button, Empty, shapeOf, StatusIcon, type Shape } from "../../design";
import { Part } from "../../operator/parts";
import {
  useChannel, useConsole, type ConsoleEvent, type Mission, type MissionState, type Order, type Tree,
} from "../../store";
import { duration } from "../tree/text";

export const SHAPES: Record<MissionState, Shape> = {
  waiting: "idle", initializing: "running", running: "running", paused: "paused",
  finished: "success", failed: "failure", canceled: "skipped",
};

/** A mission that runs, waits or has ended: what it was given, by whom, its steps, and what became of it. */
export function MissionPart({ id }: { id: string }) {
  const running = useChannel("mission");
  const queue = useChannel("queue");
  const events = useChannel("events");
  const orders = useChannel("orders");
  const known = [...(running ? [running] : []), ...(queue ?? [])];
  const mission = known.find((each) => each.action_id === id) ?? known.find((each) => each.name === id);
  const action = mission?.action_id ?? id;
  const journal = events.filter((event) => event.mission?.id === action);
  const name = mission?.name ?? journal.at(-1)?.mission?.name;
  if (name === undefined)
    return <Empty waitsFor={`the mission '${id}' has not run while the console looked`} todo="start it in the panel Missions" />;
  const state = mission?.state ?? (journal.at(-1)?.mission?.state as MissionState | undefined);
  return (
    <div className="operator inspector">
      <h2 className="text">{name}</h2>
      <p className="row">
        {state === undefined ? null : <StatusIcon status={SHAPES[state]} label={state} />}
        <span className="text">{state}{mission && mission.elapsed > 0 ? `, ${duration(mission.elapsed)}` : ""}</span>
      </p>
      {mission?.text ? <p className="said text">{mission.text}</p> : null}
      <Given name={name} order={orders.get(action)} runs={action === running?.action_id} />
      {action === running?.action_id ? <Steps mission={action} /> : null}
      <Journal events={journal} />
      <p className="said text mono">{action}</p>
    </div>
  );
}

/** Its parameters: as they were given here, else as its blackboard has them now, else the defaults. */
function Given({ name, order, runs }: { name: string; order: Order | undefined; runs: boolean }) {
  const offered = useChannel("missions")?.find((each) => each.name === name);
  const board = useChannel("blackboard");
  const rows = (offered?.parameters ?? []).map(({ name: key, unit, default: otherwise }) => {
    const now = runs ? board.get(key)?.[1] : undefined;
    const given = order?.parameters[key];
    const text = given ?? now ?? otherwise ?? "";
    return { key, text: unit && text !== "" ? `${text} ${unit}` : text, how: given !== undefined ? "" : now !== undefined ? "now" : "default" };
  });
  const undeclared = Object.entries(order?.parameters ?? {}).filter(([key]) => !rows.some((row) => row.key === key));
  return (
    <>
      <p className="said text">
        {order === undefined ? "asked for by another client than this console" : `asked for by ${order.who}`}
      </p>
      {rows.length + undeclared.length === 0 ? null : (
        <Part title="Parameters">
          <dl className="facts">
            {rows.map(({ key, text, how }) => (
              <div key={key} className="fact">
                <dt className="text">{key}</dt>
                <dd className="text"><span className="mono">{text || "–"}</span>{how ? <span className="row-quiet"> {how}</span> : null}</dd>
              </div>
            ))}
            {undeclared.map(([key, text]) => (
              <div key={key} className="fact"><dt className="text">{key}</dt><dd className="text mono">{text}</dd></div>
            ))}
          </dl>
        </Part>
      )}
    </>
  );
}

/** The children of the tree's root: where it is. */
function Steps({ mission }: { mission: string }) {
  const console = useConsole();
  const tree = useChannel("tree");
  const statuses = useChannel("status");
  if (tree === undefined || tree.action_id !== mission) return null;
  const steps = stepsOf(tree);
  const show = (node: number) => {
    console.selection.set({ node });
    console.showPanel("tree");
  };
  return (
    <Part title="Steps">
      <ol>
        {steps.map(([uid, , type, name, kind]) => (
          <li key={uid}>
            <button type="button" className="link text" onClick={() => show(uid)}>
              <StatusIcon status={shapeOf(statuses.get(String(uid))?.[0] ?? 0, kind === "Condition")} /> {name || type}
            </button>
          </li>
        ))}
      </ol>
    </Part>
  );
}

const MOST_STEPS = 30;

/** What the root does one after the other; a root with one child hands that on. */
export function stepsOf(tree: Tree): Tree["nodes"] {
  let parent = tree.nodes[0]?.[0];
  for (;;) {
    const children = tree.nodes.filter((node) => node[1] === parent);
    const only = children.length === 1 ? children[0] : undefined;
    if (only === undefined || !tree.nodes.some((node) => node[1] === only[0])) return children.slice(0, MOST_STEPS);
    parent = only[0];
  }
}

/** What became of it, with moments to go to. */
function Journal({ events }: { events: readonly ConsoleEvent[] }) {
  const console = useConsole();
  if (events.length === 0) return null;
  return (
    <Part title="What became of it">
      <ol>
        {events.map((event, index) => (
          <li key={index} className="text">
            <Button look="quiet" className="moment" onClick={() => console.at.set(event.t)}>{event.t.toFixed(1)} s</Button>{" "}
            {event.text}
          </li>
        ))}
      </ol>
    </Part>
  );
}

/** A mission by its name, which leads to all that is known of it. */
export function MissionLink({ mission }: { mission: Mission }) {
  const console = useConsole();
  const show = () => {
    console.selection.set({ mission: mission.action_id });
    console.showPanel("inspector");
  };
  return <button type="button" className="link text" aria-label={`About ${mission.name}`} onClick={show}>{mission.name}</button>;
}
