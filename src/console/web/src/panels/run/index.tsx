// SPDX-License-Identifier: Apache-2.0
import { useCallback } from "react";
import { Button, Empty, Keys, StatusIcon } from "../../design";
import { AtFailure } from "../../operator/AtFailure";
import { Hindrance, NodeLink, Part, Said, useHindrance } from "../../operator/parts";
import { useAsk, type Ask } from "../../operator/useAsk";
import { useChannel, useCommand, useSelection, type RunControl } from "../../store";
import { ControlPart } from "./ControlPart";
import { ModePart } from "./ModePart";
import "./run.css";

/** An operator's hand on the run: what waits for him, steps, breakpoints, and who moves the robot. */
export default function Run() {
  const stack = useChannel("stack");
  const control = useChannel("run_control");
  const hindrance = useHindrance();
  const asking = useAsk();
  if (control === undefined) {
    const why = stack?.empty ?? null;
    if (why !== null && !stack?.up.executor) return <Empty waitsFor={why.text} todo={why.remedy} />;
    return <Empty waitsFor="waits for the executor to say who controls the run" />;
  }
  return (
    <div className="operator">
      <Hindrance why={hindrance} />
      <Waits control={control} asking={asking} hindrance={hindrance} />
      <Pace control={control} asking={asking} hindrance={hindrance} />
      <Said by={asking} />
      <Selected control={control} asking={asking} hindrance={hindrance} />
      <Breakpoints control={control} asking={asking} hindrance={hindrance} />
      <ModePart hindrance={hindrance} />
      <ControlPart />
    </div>
  );
}

interface Properties {
  control: RunControl;
  asking: Ask;
  hindrance: string;
}

/** What waits for the operator: what failed first, then what would begin. */
function Waits({ control, asking, hindrance }: Properties) {
  const off = hindrance !== "" || asking.busy;
  const { ask } = asking;
  if (control.failed.length === 0 && control.held.length === 0) return null;
  return (
    <Part title="Waits for you">
      <ul>
        {control.failed.map((path) => (
          <li key={path} className="card row" data-kind="failed">
            <StatusIcon status="failure" label="failed" />
            <span className="text"><NodeLink path={path} /> has failed</span>
            <Button look="main" disabled={off} onClick={() => void ask("run.retry", { node: path })}>Retry</Button>
            <Button disabled={off} onClick={() => void ask("run.skip", { node: path })} title="go on as if it had succeeded">Skip</Button>
            <Button disabled={off} onClick={() => void ask("run.give up", { node: path })} title="let it be a failure, which its parent has">Give up</Button>
          </li>
        ))}
        {control.held.map((path) => (
          <li key={path} className="card row" data-kind="waits">
            <StatusIcon status="approval" label="waits to begin" />
            <span className="text"><NodeLink path={path} /> waits to begin</span>
            <Button disabled={off} onClick={() => void ask("run.step", { node: path })}>Begin</Button>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** How the run goes: by itself or leaf by leaf, at once or one by one. */
function Pace({ control, asking, hindrance }: Properties) {
  const off = hindrance !== "" || asking.busy;
  const { ask } = asking;
  const text = !control.controlled
    ? "Left alone: it goes by itself, and a failure is handled by the tree."
    : control.automatic
      ? "Goes by itself, and waits at breakpoints and failures."
      : "Goes leaf by leaf: nothing begins before a step.";
  return (
    <Part title="Pace">
      <p className="said">{text}</p>
      <div className="row">
        <Button disabled={off || control.held.length === 0} onClick={() => void ask("run.step")}>Step <Keys of="." /></Button>
        <Switch label="by itself" on={control.automatic} off={off} set={(on) => ask(on ? "run.go" : "run.stop")} />
        <Switch
          label="concurrent" on={control.concurrent} off={off}
          set={(on) => ask(on ? "run.concurrent on" : "run.concurrent off")}
        />
      </div>
      <div className="row">
        <AtFailure hindrance={hindrance} />
        <Button disabled={off || control.failed.length === 0} onClick={() => void ask("run.reset")} title="forget all failures, and stop">
          Forget failures
        </Button>
      </div>
      {control.prepared.length === 0 ? null : (
        <p className="said text">The next run begins with: {control.prepared.join(", ")}.</p>
      )}
    </Part>
  );
}

function Switch({ label, on, off, set }: {
  label: string; on: boolean; off: boolean; set: (on: boolean) => void;
}) {
  return (
    <label className="switch">
      <input type="checkbox" role="switch" checked={on} disabled={off} onChange={(event) => set(event.target.checked)} />
      {label}
    </label>
  );
}

/** What can be done at the node that is selected. */
function Selected({ control, asking, hindrance }: Properties) {
  const [selection] = useSelection();
  const tree = useChannel("tree");
  const off = hindrance !== "" || asking.busy;
  const { ask } = asking;
  const path = tree?.nodes.find((node) => node[0] === selection.node)?.[5];
  const marked = path !== undefined && control.breakpoints.includes(path);
  const toggle = useCallback(() => {
    if (path !== undefined) void ask(marked ? "run.clear" : "run.break", { node: path });
  }, [ask, path, marked]);
  useCommand("run.breakpoint", "Breakpoint at the selected node", "B", toggle, "operate");
  return (
    <Part title="Selected node">
      {path === undefined ? (
        <p className="said">Select a node in the tree to begin there, to stop there, or to mark it.</p>
      ) : (
        <>
          <p className="row"><NodeLink path={path} /></p>
          <div className="row">
            <Button disabled={off} onClick={() => void ask("run.from", { node: path })} title="the next run begins here">Run from here</Button>
            <Button disabled={off} onClick={() => void ask("run.to", { node: path })} title="go on, and stop before it, once">Run to here</Button>
            <Button disabled={off} onClick={() => void ask("run.after", { node: path })} title="stop when it has ended, once">Stop after it</Button>
            <Button disabled={off} aria-pressed={marked} onClick={toggle}>Breakpoint <Keys of="B" /></Button>
          </div>
        </>
      )}
    </Part>
  );
}

function Breakpoints({ control, asking, hindrance }: Properties) {
  const off = hindrance !== "" || asking.busy;
  if (control.breakpoints.length === 0) return null;
  return (
    <Part title={`Breakpoints (${control.breakpoints.length})`}>
      <ul>
        {control.breakpoints.map((path) => (
          <li key={path} className="row">
            <StatusIcon status="breakpoint" label="breakpoint" />
            <NodeLink path={path} />
            <Button look="quiet" disabled={off} aria-label={`Remove the breakpoint at ${path}`} onClick={() => void asking.ask("run.clear", { node: path })}>×</Button>
          </li>
        ))}
      </ul>
      <Button disabled={off} onClick={() => void asking.ask("run.save")} title="beside the tree's file">Keep them</Button>
    </Part>
  );
}
