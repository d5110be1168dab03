// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Empty, Field, StatusIcon } from "../../design";
import { Part } from "../../operator/parts";
import { useChannel, useConsole, type Health as Row, type Stack } from "../../store";
import { LEVEL_SHAPES } from "../inspector/ServerPart";
import { Preflight } from "../missions/Preflight";
import "../../operator/operator.css";
import "./health.css";

const LEVELS: Row["level"][] = ["error", "stale", "warning", "ok"];
const PARTS: Record<string, string> = {
  executor: "runs missions", scene: "knows objects", robot: "tells its joints", map: "there is a map",
};

/** What is up, how its parts are, and whether a mission has all that it needs. */
export default function Health() {
  const stack = useChannel("stack");
  const health = useChannel("health");
  if (stack === undefined) return <Empty waitsFor="waits for the console's server" todo="behavior console says where it is" />;
  return (
    <div className="operator">
      <StackPart stack={stack} />
      <Part title={`Servers and managers (${health.size})`}>
        {health.size === 0 ? (
          <p className="said">nobody has reported yet: diagnostics come with the first seconds of a stack</p>
        ) : (
          <ul>{sorted(health).map(([name, row]) => <HealthRow key={name} name={name} row={row} />)}</ul>
        )}
      </Part>
      <CouldStart />
    </div>
  );
}

/** The worst first, those alike by name. */
function sorted(health: ReadonlyMap<string, Row>): [string, Row][] {
  return [...health].sort(
    ([one, a], [other, b]) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || one.localeCompare(other),
  );
}

function StackPart({ stack }: { stack: Stack }) {
  return (
    <Part title={`Stack ${stack.world ?? ""} ${stack.namespace === "/" ? "" : stack.namespace}`.trim()}>
      {stack.empty === null ? null : (
        <p className="hindrance text">{stack.empty.text}: {stack.empty.remedy}</p>
      )}
      <ul className="health-up">
        {Object.entries(stack.up).map(([name, up]) => (
          <li key={name} className="row">
            <StatusIcon status={up ? "success" : "idle"} label={up ? "up" : "not there"} />
            <span className="text">{name}</span>
            <span className="row-quiet">{up ? (PARTS[name] ?? "") : "not there"}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** A part in a line, which leads to all that it says of itself. */
function HealthRow({ name, row }: { name: string; row: Row }) {
  const console = useConsole();
  const show = () => {
    console.selection.set({ server: name });
    console.showPanel("inspector");
  };
  return (
    <li className="health-row">
      <StatusIcon status={LEVEL_SHAPES[row.level]} label={row.level} />
      <button type="button" className="link health-name text" onClick={show}>{name}</button>
      <span className="health-said text">{row.message}</span>
    </li>
  );
}

/** Could this mission start now? */
function CouldStart() {
  const missions = useChannel("missions") ?? [];
  const [name, setName] = useState("");
  if (missions.length === 0) return null;
  const chosen = name || (missions.find((each) => !each.why_not) ?? missions[0]!).name;
  return (
    <Part title="Could it start?">
      <Field label="mission">
        <select value={chosen} onChange={(event) => setName(event.target.value)}>
          {missions.map((each) => <option key={each.name}>{each.name}</option>)}
        </select>
      </Field>
      <Preflight key={chosen} name={chosen} values={{}} complete={false} />
    </Part>
  );
}
