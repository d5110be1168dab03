// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "react";
import { Button, StatusIcon } from "../design";
import { Mend } from "../operator/Mend";
import { useChannel, useConsole, useMay, useSelection, type Cause, type Mission } from "../store";

/** What failed, why and what to do: one line, with ways to it and out of it. */
export function FailureLine() {
  const mission = useChannel("mission");
  const cause = mission?.cause ?? null;
  const key = cause === null ? "" : `${mission?.action_id} ${cause.node} ${cause.sentence}`;
  const [closed, close] = useState("");
  useEffect(() => close(""), [mission?.action_id]);
  if (cause === null || mission === undefined || closed === key) return null;
  return <Line mission={mission} cause={cause} close={() => close(key)} />;
}

function Line({ mission, cause, close }: { mission: Mission; cause: Cause; close: () => void }) {
  const console = useConsole();
  const [, select] = useSelection();
  const tree = useChannel("tree");
  const reasons = useChannel("reasons");
  const waits = useChannel("run_control")?.failed.includes(cause.node) ?? false;
  const mayRun = useMay("operate");
  const node = tree?.nodes.find((each) => each[5] === cause.node);
  const moment = node === undefined ? mission.t : (reasons.get(String(node[0]))?.t ?? mission.t);
  const show = () => {
    if (node === undefined) return;
    select({ node: node[0] });
    console.showPanel("tree");
  };
  const again = () => {
    select({ mission: mission.name });
    console.showPanel("missions");
  };
  return (
    <div className="banner" data-kind="failure" role="alert">
      <StatusIcon status="failure" label="failed" />
      <span className="banner-text text" tabIndex={0}>
        {cause.sentence} {cause.remedy ? <strong>{cause.remedy}</strong> : null}
        {cause.evidence ? <span className="banner-evidence"> ({cause.evidence})</span> : null}
      </span>
      <span className="banner-actions">
        {node === undefined ? null : <Button onClick={show}>Show node</Button>}
        <Button onClick={() => console.at.set(moment)}>Show moment</Button>
        <Button onClick={() => console.showPanel("explain")}>Why?</Button>
        <Mend uid={node?.[0] ?? null} texts={[cause.sentence, cause.remedy]} />
        {mission.ended && !waits && mayRun ? <Button onClick={again}>Start again</Button> : null}
        <Button look="quiet" aria-label="Close this line" onClick={close}>×</Button>
      </span>
    </div>
  );
}
