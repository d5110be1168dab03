// SPDX-License-Identifier: Apache-2.0
import { useMemo, type ReactNode } from "react";
import { Button, Empty, StatusIcon } from "../../design";
import { Mend, useMend } from "../../operator/Mend";
import { Hindrance, Part, Said, useHindrance } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, useConsole, useMay, type Tree } from "../../store";
import { shown } from "../blackboard/entries";
import { ancestors, failureOf, givenTo, type Failure, type Link } from "./chain";
import { editSession } from "../tree/edit/session";
import "./explain.css";
import { Linked } from "./Linked";

/** Why something failed, by what one sees it, what to do, and what led to it. */
export default function Explain() {
  const stack = useChannel("stack");
  const mission = useChannel("mission");
  const tree = useChannel("tree");
  const reasons = useChannel("reasons");
  const events = useChannel("events");
  const waiting = useChannel("run_control")?.failed;
  const failure = useMemo(
    () => failureOf(mission, tree, reasons, events, waiting), [mission, tree, reasons, events, waiting],
  );
  if (failure === null) {
    const why = stack?.empty ?? null;
    if (why !== null) return <Empty waitsFor={why.text} todo={why.remedy} />;
    return <Empty waitsFor="nothing has failed" todo="a failure is explained here: why, by what one sees it, what to do" />;
  }
  return (
    <div className="operator">
      <FailureCard failure={failure} />
      {tree === undefined || failure.uid === null ? null : <Chain tree={tree} uid={failure.uid} t={failure.t} mission={mission?.name ?? tree.tree_id} />}
      <Earlier />
    </div>
  );
}

function FailureCard({ failure }: { failure: Failure }) {
  const console = useConsole();
  const control = useChannel("run_control");
  const mission = useChannel("mission");
  const hindrance = useHindrance();
  const asking = useAsk();
  const mayEdit = useMay("edit");
  const waits = control?.failed.includes(failure.path) ?? false;
  const showNode = () => {
    if (failure.uid !== null) console.selection.set({ node: failure.uid });
    console.showPanel("tree");
  };
  const edit = () => {
    if (mission !== undefined) editSession(console).begin(mission.name);
    showNode();
    console.showPanel("inspector");
  };
  return (
    <section className="card explain-card" data-kind="failed" aria-label="The failure">
      <p className="explain-sentence text"><StatusIcon status="failure" label="failed" /> <Linked text={failure.sentence} /></p>
      <dl className="facts">
        {failure.evidence ? <><dt>seen by</dt><dd className="text"><Linked text={failure.evidence} /></dd></> : null}
        {failure.remedy ? <><dt>what to do</dt><dd className="text"><strong>{failure.remedy}</strong></dd></> : null}
        {failure.path ? <><dt>where</dt><dd className="text">{failure.path}</dd></> : null}
      </dl>
      <div className="row">
        {failure.uid === null ? null : <Button onClick={showNode}>Show node</Button>}
        <Button onClick={() => console.at.set(failure.t)}>Show moment</Button>
        {failure.uid !== null && mayEdit && mission !== undefined ? <Button onClick={edit}>Edit node</Button> : null}
        <Mend uid={failure.uid} texts={[failure.sentence, failure.remedy]} />
        {waits ? (
          <>
            <Button look="main" disabled={hindrance !== ""} onClick={() => void asking.ask("run.retry", { node: failure.path })}>Retry</Button>
            <Button disabled={hindrance !== ""} onClick={() => void asking.ask("run.skip", { node: failure.path })}>Skip</Button>
            <Button disabled={hindrance !== ""} onClick={() => void asking.ask("run.give up", { node: failure.path })}>Give up</Button>
          </>
        ) : mission?.ended ? (
          <Button onClick={() => console.showPanel("missions")}>Start again</Button>
        ) : null}
      </div>
      {waits ? <Hindrance why={hindrance} /> : null}
      <Said by={asking} />
    </section>
  );
}

/** What led to it: each step a link to its node, each time one to its moment. */
function Chain({ tree, uid, t, mission }: { tree: Tree; uid: number; t: number; mission: string }) {
  const statuses = useChannel("status");
  const board = useChannel("blackboard");
  const may = useMay("edit");
  const mend = useMend();
  const links = ancestors(tree, uid, statuses);
  const given = useMemo(() => givenTo(tree, uid, board, statuses, t), [tree, uid, board, statuses, t]);
  return (
    <Part title="What led to it">
      <ol className="chain">
        <li className="text">mission {mission}</li>
        {links.map((link) => <li key={link.uid}><NodeStep link={link} /></li>)}
        {given.map(({ port, text, key, later, writers, source }) => (
          <li key={port} className="chain-port">
            <span className="text">{port} = <code>{shown(text)}</code>{later ? " by now" : ""}{key ? ` from ${key}` : ""}</span>
            {writers.map((each) => <NodeStep key={each.uid} link={each} before=", set by " />)}
            {source === null || writers.length > 0 || !may ? null : (
              <> <button type="button" className="link" aria-label={`Change ${port}`} onClick={() => mend(source)}>change</button></>
            )}
          </li>
        ))}
      </ol>
    </Part>
  );
}

function NodeStep({ link, before = "" }: { link: Link; before?: string }): ReactNode {
  const console = useConsole();
  const { uid, t } = link;
  const show = () => {
    if (uid !== null) console.selection.set({ node: uid });
    console.showPanel("tree");
  };
  return (
    <>
      {before}
      <button type="button" className="link text" onClick={show}>{link.text}</button>
      {t === null ? null : (
        <> at <button type="button" className="link" onClick={() => console.at.set(t)}>{t.toFixed(1)} s</button></>
      )}
    </>
  );
}

const EARLIER = 20;

/** Failures before; each leads to its moment. */
function Earlier() {
  const console = useConsole();
  const events = useChannel("events");
  const faults = events.filter((event) => event.kind === "fault").slice(-EARLIER).reverse();
  if (faults.length < 2) return null;
  return (
    <Part title="Failures so far">
      <ol className="chain-earlier">
        {faults.map((event, index) => (
          <li key={faults.length - index}>
            <button type="button" className="link" onClick={() => console.at.set(event.t)}>{event.t.toFixed(1)} s</button>
            <span className="text"> {event.text}</span>
          </li>
        ))}
      </ol>
    </Part>
  );
}
