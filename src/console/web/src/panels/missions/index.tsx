// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Button, Empty, StatusIcon } from "../../design";
import { Hindrance, Part, Said, useHindrance } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import {
  useChannel, useConsole, useSelection, type OfferedMission,
} from "../../store";
import { MissionLink, SHAPES } from "../inspector/MissionPart";
import { MissionForm } from "./MissionForm";
import { Proposals } from "./Proposals";
import { Queue } from "./Queue";
import "./missions.css";

const MANY = 8;

/** What runs, what waits, and what may be started. */
export default function Missions() {
  const stack = useChannel("stack");
  const offered = useChannel("missions");
  const hindrance = useHindrance();
  if (offered === undefined || offered.length === 0) {
    const why = stack?.empty ?? null;
    if (why !== null && !stack?.up.executor) return <Empty waitsFor={why.text} todo={why.remedy} />;
    return <Empty waitsFor="waits for the executor's list of missions" todo="behavior mission list shows the same" />;
  }
  return (
    <div className="operator">
      <Hindrance why={hindrance} />
      <Current hindrance={hindrance} />
      <Queue hindrance={hindrance} />
      <Proposals hindrance={hindrance} />
      <Offered offered={offered} hindrance={hindrance} />
    </div>
  );
}

function Current({ hindrance }: { hindrance: string }) {
  const mission = useChannel("mission");
  const asking = useAsk();
  const { ask } = asking;
  const id = mission?.action_id ?? "";
  const paused = mission?.state === "paused";
  const active = mission !== undefined && !mission.ended;
  const toggle = () => void ask(paused ? "mission.resume" : "mission.pause", { action_id: id });
  if (mission === undefined) return null;
  return (
    <Part title={active ? "Running" : "Ended last"}>
      <div className="card">
        <div className="row">
          <StatusIcon status={SHAPES[mission.state]} label={mission.state} />
          <strong className="text"><MissionLink mission={mission} /></strong>
          <span className="row-quiet">{mission.state}, {mission.elapsed.toFixed(0)} s</span>
        </div>
        {mission.detail && active ? <p className="said text">{mission.detail}</p> : null}
        {mission.text && !active ? <p className="said text">{mission.text}</p> : null}
        {active ? (
          <div className="row">
            <Button disabled={hindrance !== ""} onClick={toggle}>{paused ? "Resume" : "Pause"}</Button>
            <Button disabled={hindrance !== ""} onClick={() => void ask("mission.cancel", { action_id: id })}>Cancel</Button>
          </div>
        ) : null}
        <Said by={asking} />
      </div>
    </Part>
  );
}

function Offered({ offered, hindrance }: { offered: OfferedMission[]; hindrance: string }) {
  const console = useConsole();
  const [selection] = useSelection();
  const [open, setOpen] = useState(selection.mission ?? "");
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase();
  const shown = offered.filter((each) => `${each.name} ${each.description}`.toLowerCase().includes(wanted));
  const here = shown.filter((each) => !each.why_not);
  const elsewhere = shown.filter((each) => each.why_not);
  const toggle = (name: string) => setOpen(open === name ? "" : name);
  const row = (each: OfferedMission) => (
    <li key={each.name}>
      <button
        type="button" className="mission-name" aria-expanded={open === each.name}
        onClick={() => toggle(each.name)}
      >
        <span className="text">{each.name}</span>
        <span className="row-quiet text">{each.why_not || each.description}</span>
      </button>
      {open === each.name ? <MissionForm key={each.name} mission={each} hindrance={hindrance} /> : null}
    </li>
  );
  return (
    <Part title="Start a mission">
      {offered.length > MANY ? (
        <input
          className="missions-filter" type="search" placeholder="filter" aria-label="Filter missions"
          value={filter} onChange={(event) => setFilter(event.target.value)}
        />
      ) : null}
      <ul>{here.map(row)}</ul>
      {shown.length === 0 ? <p className="said">no mission has '{filter}' in its name or description</p> : null}
      {elsewhere.length > 0 ? (
        <details className="missions-elsewhere">
          <summary>{elsewhere.length} for other worlds</summary>
          <ul>{elsewhere.map(row)}</ul>
        </details>
      ) : null}
      <p className="row-quiet">
        Another panel, <button type="button" className="link" onClick={() => console.showPanel("run")}>Run</button>,
        holds a run, steps it and sets breakpoints.
      </p>
    </Part>
  );
}
