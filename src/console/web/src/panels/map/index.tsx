// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from "react";
import { Button, Empty } from "../../design";
import { useChannel, useCommand, useConsole, useMay, type Console, type Goal } from "../../store";
import { GoalBar } from "../scene3d/GoalBar";
import { planarOf, spatial } from "./planar";
import { Sheet } from "./sheet";
import "./map.css";

/** The map that the robot drives on: route, path, people, regions; a click is a place to drive to. */
export default function MapPanel() {
  const console = useConsole();
  const map = useChannel("map");
  const host = useRef<HTMLDivElement>(null);
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const [said, setSaid] = useState("");
  const may = useMay("operate");

  useEffect(() => {
    const made = new Sheet(host.current!, console);
    setSheet(made);
    return () => made.dispose();
  }, [console]);
  useEffect(() => {
    if (sheet === null) return;
    sheet.clicked = (frame, x, y) => {
      setSaid("");
      if (may) console.goal.set(driveGoal(console, frame, x, y, setSaid));
    };
  }, [sheet, console, may]);

  const fit = useCallback(() => sheet?.fit(), [sheet]);
  useCommand("map.fit", "Map: show all of it", "Shift+M", fit);
  return (
    <section className="map" aria-label="Map">
      <div className="map-canvas" ref={host} data-testid="map" />
      <div className="map-tools" role="toolbar" aria-label="Map">
        <Button look="quiet" onClick={fit} title="Show all (Shift+M)">Whole map</Button>
      </div>
      <GoalBar flat turning={false} setTurning={() => {}} />
      {said === "" ? null : <p className="map-said text" role="status">{said}</p>}
      {map === undefined || map.text !== "" ? <Waiting text={map?.text ?? ""} /> : null}
    </section>
  );
}

/** [m] to the centimetre: names and logs have to be read. */
function rounded(value: number): number {
  return Math.round(100 * value) / 100;
}

/** A goal that, when it is used, becomes a mission to drive there; or the preview of one. */
export function driveGoal(
  console: Console, frame: string, x: number, y: number, say: (text: string) => void,
): Goal {
  const ask = (verb: string, goal: Goal) => {
    const [gx, gy, yaw] = planarOf(goal.pose);
    const navigate = { x: rounded(gx), y: rounded(gy), yaw, frame: goal.frame };
    void console.send(verb, { steps: [{ navigate }] }).then((answer) => say(answer.ok ? "" : answer.message));
  };
  return {
    label: "Drive here", verb: "Drive", frame, flat: true, pose: spatial([x, y, 0]),
    take: (goal) => ask("mission.start", goal),
    preview: (goal) => {
      console.showPanel("preview");
      ask("preview.start", goal);
    },
  };
}

function Waiting({ text }: { text: string }) {
  const stack = useChannel("stack");
  const todo = stack?.empty?.remedy ?? "this stack may have none: robots that drive publish /map";
  return (
    <div className="map-over">
      <Empty waitsFor={text === "" ? (stack?.empty?.text ?? "no map was published yet") : text} todo={text === "" ? todo : undefined} />
    </div>
  );
}
