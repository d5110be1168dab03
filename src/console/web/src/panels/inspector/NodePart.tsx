// SPDX-License-Identifier: Apache-2.0
import { useCallback, useMemo } from "react";
import { Button, Empty, Keys, shapeOf, StatusIcon } from "../../design";
import { Hindrance, Part, Said, useHindrance } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, useCommand, useConsole, useTime, useValue, type NodeStatus } from "../../store";
import { documentModel } from "../tree/edit/document";
import { useModels } from "../tree/edit/models";
import { editSession } from "../tree/edit/session";
import { treeModel, type Card } from "../tree/model";
import { duration, oneLine } from "../tree/text";
import { Results } from "./Results";
import { Settings } from "./Settings";

/** A node of the tree: what it does, why, with what, and what can be done about it. */
export function NodePart({ uid }: { uid: number }) {
  const card = useCard(uid);
  const models = useModels();
  const [at] = useTime();
  const status = useChannel("status").get(String(uid));
  const reason = useChannel("reasons").get(String(uid));
  if (card === undefined)
    return <Empty waitsFor="the node that is selected is not in this tree" todo="select another one" />;
  const model = models.byId.get(card.type);
  return (
    <div className="operator inspector">
      <h2 className="text">{oneLine(card.name, 300)}</h2>
      <p className="said text">{card.type === card.name ? card.kind : `${oneLine(card.type)}, ${card.kind}`}</p>
      {status === undefined ? null : <State card={card} status={status} />}
      {reason === undefined ? null : (
        <div className="card" data-kind="failed">
          <p className="text">{oneLine(reason.text, 2000)}</p>
          {reason.remedy ? <p className="text"><strong>{oneLine(reason.remedy, 1000)}</strong></p> : null}
        </div>
      )}
      {card.uid >= 0 && at === null ? <Acts card={card} /> : null}
      <Settings card={card} model={model} />
      <Results uid={uid} />
      <Part title="About this kind of node">
        <p className="text">{model?.description || "nobody has described it"}</p>
        {model === undefined ? null : <p className="said text">{`from ${model.package}`}</p>}
      </Part>
      <p className="said text mono">{oneLine(card.path, 400)}</p>
    </div>
  );
}

/** The card of a uid: of the tree that is edited, else of the one that runs. */
function useCard(uid: number): Card | undefined {
  const session = editSession(useConsole());
  const document = useValue(session.document);
  const edited = useValue(session.tree);
  const tree = useChannel("tree");
  const mission = useChannel("mission");
  const { byId } = useModels();
  const runs = mission?.name === edited && mission?.action_id === tree?.action_id;
  const model = useMemo(() => {
    const live = tree === undefined ? null : treeModel(tree);
    return document === null ? live : documentModel(document, byId, runs ? live : null);
  }, [tree, document, byId, runs]);
  return model?.cards[model.byUid.get(uid) ?? -1];
}

function State({ card, status }: { card: Card; status: NodeStatus }) {
  const { connection } = useConsole();
  const now = useValue(connection.now);
  const shown = useValue(connection.shown);
  const [code, since, count] = status;
  const shape = shapeOf(code, card.kind === "condition");
  return (
    <p className="row">
      <StatusIcon status={shape} />
      <span className="text">
        {`${WORDS[shape] ?? shape} since ${duration((shown ?? now) - since)}`}
        {count > 0 ? `, ended ${count === 1 ? "once" : `${count} times`}` : ""}
      </span>
    </p>
  );
}

const WORDS: Record<string, string> = {
  running: "runs", success: "succeeded", failure: "failed", unmet: "does not hold", skipped: "skipped",
  idle: "idle",
};

/** What an operator may do at this node. */
function Acts({ card }: { card: Card }) {
  const control = useChannel("run_control");
  const hindrance = useHindrance();
  const asking = useAsk();
  const off = hindrance !== "" || asking.busy;
  const node = { node: card.path };
  const broken = control?.breakpoints.includes(card.path) ?? false;
  const failed = control?.failed.includes(card.path) ?? false;
  const { ask } = asking;
  const toggle = useCallback(
    () => void ask(broken ? "run.clear" : "run.break", { node: card.path }), [ask, broken, card.path],
  );
  useCommand("run.breakpoint", "Breakpoint at the selected node", "B", toggle, "operate");
  return (
    <Part title="Run">
      <Hindrance why={hindrance} />
      <div className="row">
        <Button disabled={off} aria-pressed={broken} onClick={toggle}>
          {broken ? "No breakpoint" : "Breakpoint"} <Keys of="B" />
        </Button>
        <Button disabled={off} title="the next run begins here" onClick={() => void asking.ask("run.from", node)}>
          Run from here
        </Button>
        {failed ? (
          <>
            <Button look="main" disabled={off} onClick={() => void asking.ask("run.retry", node)}>Retry</Button>
            <Button disabled={off} title="go on as if it had succeeded" onClick={() => void asking.ask("run.skip", node)}>Skip</Button>
          </>
        ) : null}
      </div>
      <Said by={asking} />
    </Part>
  );
}
