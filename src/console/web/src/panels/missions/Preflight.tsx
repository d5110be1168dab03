// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "react";
import { Button, StatusIcon } from "../../design";
import { useAsk } from "../../operator/useAsk";
import { useChannel } from "../../store";

interface Properties {
  name: string;
  values: Record<string, string>;
  /** Whether all is given that must be: then it is asked at once. */
  complete: boolean;
}

/**
 * Could the mission start now? The executor looks at what its trees need. While another mission runs it is
 * not asked, as its ticks would wait meanwhile.
 */
export function Preflight({ name, values, complete }: Properties) {
  const mission = useChannel("mission");
  const idle = mission === undefined || mission.ended;
  const { ask, busy, answer } = useAsk();
  const check = () => void ask("mission.preflight", { name, parameters: values });
  useEffect(() => {
    if (idle && complete) check();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- it is not asked at each key that is pressed.
  }, [name, idle]);
  if (!idle) return null;
  if (busy) return <p className="said" role="status">looks whether it could start …</p>;
  if (answer === null) return <Button onClick={check}>Check what it needs</Button>;
  return (
    <div className="preflight" data-ok={answer.ok} role="group" aria-label="Could it start?">
      <p className="row">
        <StatusIcon status={answer.ok ? "success" : "failure"} label={answer.ok ? "could start" : "could not start"} />
        <span className="text preflight-said">{answer.ok ? `It could start: ${answer.message}.` : answer.message}</span>
        <Button look="quiet" onClick={check}>Check again</Button>
      </p>
      {answer.ok ? <There what={thereOf(answer.value)} /> : null}
    </div>
  );
}

function There({ what }: { what: readonly string[] }) {
  if (what.length === 0) return null;
  return (
    <details>
      <summary>{what.length} {what.length === 1 ? "thing that it needs is" : "things that it needs are"} up</summary>
      <ul>{what.map((each) => <li key={each} className="text">{each}</li>)}</ul>
    </details>
  );
}

function thereOf(value: unknown): string[] {
  const there = (value as { there?: unknown } | null | undefined)?.there;
  return Array.isArray(there) ? there.map(String) : [];
}
