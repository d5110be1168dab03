// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from "react";
import { Button, Empty } from "../../design";
import { useChannel, useCommand, useConsole } from "../../store";
import { GoalBar } from "./GoalBar";
import { Stage, type StageOptions, type StageState } from "./stage";
import type { Direction } from "./view";
import "./scene3d.css";

const VIEWS: { from: Direction; title: string; shortcut: string }[] = [
  { from: "home", title: "Home", shortcut: "Shift+H" },
  { from: "above", title: "Above", shortcut: "Shift+A" },
  { from: "front", title: "Front", shortcut: "Shift+F" },
  { from: "side", title: "Side", shortcut: "Shift+S" },
];
const SWITCHES: { name: keyof StageOptions; title: string }[] = [
  { name: "frames", title: "Frames" },
  { name: "labels", title: "Names" },
  { name: "uncertainty", title: "Uncertainty" },
  { name: "clouds", title: "Clouds" },
];

/** Robot, objects, frames and planned ways in 3D. */
export default function Scene3D() {
  const console = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const [fault, setFault] = useState("");
  const [state, setState] = useState<StageState>({ robot: "loading", problem: "", objects: 0, clouds: "" });
  const [options, setOptions] = useState<StageOptions>(
    { frames: false, labels: true, uncertainty: false, clouds: false },
  );
  const [turning, setTurning] = useState(false);

  useEffect(() => {
    let made: Stage | null = null;
    try {
      made = new Stage(host.current!, console, setState);
      setStage(made);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
    return () => made?.dispose();
  }, [console]);
  useEffect(() => stage?.set(options), [stage, options]);
  useEffect(() => {
    if (stage !== null) stage.turning = turning;
  }, [stage, turning]);

  if (fault !== "")
    return <Empty waitsFor="this browser draws no 3D (WebGL)" todo={`the list of objects says the same; ${fault}`} />;
  return (
    <section className="scene" aria-label="3D">
      <div className="scene-canvas" ref={host} data-testid="scene" />
      <Toolbar stage={stage} options={options} setOptions={setOptions} />
      <GoalBar turning={turning} setTurning={setTurning} flat={false} />
      {state.clouds === "" ? null : <p className="scene-clouds text" role="status">{state.clouds}</p>}
      {state.problem === "" ? null : <p className="scene-problem text" role="alert">{state.problem}</p>}
      <Waiting state={state} />
    </section>
  );
}

function Toolbar({ stage, options, setOptions }: {
  stage: Stage | null; options: StageOptions; setOptions: (options: StageOptions) => void;
}) {
  const centre = useCallback(() => void stage?.centreSelected(), [stage]);
  useCommand("scene.centre", "3D: the selected object into the middle", "Shift+O", centre);
  return (
    <div className="scene-tools" role="toolbar" aria-label="3D view">
      {VIEWS.map((view) => <ViewButton key={view.from} stage={stage} {...view} />)}
      <span className="scene-gap" />
      {SWITCHES.map(({ name, title }) => (
        <Button
          key={name} look="quiet" aria-pressed={options[name]}
          onClick={() => setOptions({ ...options, [name]: !options[name] })}
        >
          {title}
        </Button>
      ))}
    </div>
  );
}

function ViewButton({ stage, from, title, shortcut }: {
  stage: Stage | null; from: Direction; title: string; shortcut: string;
}) {
  const look = useCallback(() => stage?.look(from), [stage, from]);
  useCommand(`scene.${from}`, `3D: look from ${title.toLowerCase()}`, shortcut, look);
  return <Button look="quiet" onClick={look} title={`${title} (${shortcut})`}>{title}</Button>;
}

/** Why there is nothing to see. */
function Waiting({ state }: { state: StageState }) {
  const console = useConsole();
  const stack = useChannel("stack");
  const map = useChannel("map");
  if (state.objects > 0 || state.robot === "ready" || state.robot === "failed") return null;
  if (state.robot === "loading") return <div className="scene-over"><Empty waitsFor="loading the robot" /></div>;
  const empty = stack?.empty;
  return (
    <div className="scene-over">
      <Empty
        waitsFor={empty?.text ?? "no robot arm and no objects yet"}
        todo={empty?.remedy ?? "objects come from the scene's detections"}
      >
        {map ? <Button onClick={() => console.showPanel("map")}>Show the map</Button> : null}
      </Empty>
    </div>
  );
}
