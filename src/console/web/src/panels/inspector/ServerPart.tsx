// SPDX-License-Identifier: Apache-2.0
import { Button, Empty, shapeOf, StatusIcon, type Shape } from "../../design";
import { Part } from "../../operator/parts";
import {
  useChannel, useConsole, useValue, type Health, type Span, type Tree,
} from "../../store";
import { useModels, type NodeModel } from "../tree/edit/models";
import { duration } from "../tree/text";

export const LEVEL_SHAPES: Record<Health["level"], Shape> = {
  ok: "success", warning: "paused", error: "fault", stale: "skipped",
};
const WORDS: Record<Health["level"], string> = {
  ok: "is well", warning: "warns", error: "has a fault", stale: "says nothing any more",
};

/** A server or manager: how it is and since when, its figures, and what leaves of the tree asked of it. */
export function ServerPart({ name }: { name: string }) {
  const row = useChannel("health").get(name);
  const { connection } = useConsole();
  const now = useValue(connection.now);
  const shown = useValue(connection.shown);
  if (row === undefined)
    return <Empty waitsFor={`'${name}' has not reported`} todo="the panel Health lists who has" />;
  const values = Object.entries(row.values);
  return (
    <div className="operator inspector">
      <h2 className="text">{name}</h2>
      <p className="row">
        <StatusIcon status={LEVEL_SHAPES[row.level]} label={row.level} />
        <span className="text">{`${WORDS[row.level]} since ${duration(Math.max(0, (shown ?? now) - row.since))}`}</span>
      </p>
      <p className="text">{row.message}</p>
      {values.length === 0 ? null : (
        <Part title="Figures">
          <dl className="facts">
            {values.map(([key, value]) => (
              <div key={key} className="fact"><dt className="text">{key}</dt><dd className="text mono">{value}</dd></div>
            ))}
          </dl>
        </Part>
      )}
      <Goals name={name} />
    </div>
  );
}

const SHOWN = 10;

/** What leaves asked of it last and how long each took. */
function Goals({ name }: { name: string }) {
  const console = useConsole();
  const tree = useChannel("tree");
  const spans = useChannel("spans");
  const { byId } = useModels();
  if (tree === undefined) return null;
  const goals = goalsOf(name, tree, spans, byId);
  if (goals.length === 0) return null;
  const took = goals.flatMap(({ span: [, begun, ended] }) => (ended === null ? [] : [ended - begun])).sort((a, b) => a - b);
  const median = took[Math.floor(took.length / 2)];
  return (
    <Part title="Asked for by the tree">
      {median === undefined ? null : <p className="said">{`${took.length} ended, a median of ${duration(median)} each`}</p>}
      <ol>
        {goals.slice(-SHOWN).reverse().map(({ span: [uid, begun, ended, status], leaf }, index) => (
          <li key={index}>
            <StatusIcon status={shapeOf(status)} />{" "}
            <button type="button" className="link text" onClick={() => console.selection.set({ node: uid })}>{leaf}</button>
            {" at "}
            <Button look="quiet" className="moment" onClick={() => console.at.set(begun)}>{begun.toFixed(1)} s</Button>
            {ended === null ? " runs" : `, ${duration(ended - begun)}`}
          </li>
        ))}
      </ol>
    </Part>
  );
}

/** Spans of the leaves that a server serves: those whose model comes from its package, or bears its name. */
export function goalsOf(
  server: string, tree: Tree, spans: readonly Span[], models: ReadonlyMap<string, NodeModel>,
): { span: Span; leaf: string }[] {
  const own = words(server);
  const leaves = new Map(
    tree.nodes
      .filter(([, , type]) => own.has(type.toLowerCase()) || own.has(shortPackage(models.get(type)?.package ?? "")))
      .map(([uid, , type, name]) => [uid, name || type]),
  );
  return spans.flatMap((span) => {
    const leaf = leaves.get(span[0]);
    return leaf === undefined ? [] : [{ span, leaf }];
  });
}

/** "panda/skills: pick" has the words panda, skills and pick. */
function words(server: string): Set<string> {
  return new Set(server.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== ""));
}

/** "behavior_skills" is asked of as "skills". */
function shortPackage(name: string): string {
  return name.toLowerCase().replace(/^behavior_/, "");
}
