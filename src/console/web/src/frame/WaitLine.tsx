// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "react";
import { Button, Keys, StatusIcon } from "../design";
import { Mend } from "../operator/Mend";
import { NodeLink, useHindrance } from "../operator/parts";
import { useAsk } from "../operator/useAsk";
import { reasonIn, uidOf } from "../panels/explain/chain";
import { useChannel, useConsole, useTime, type RunControl } from "../store";

/** What waits for the operator, with what he may do: it stands over all panels until it is done. */
export function WaitLine() {
  const control = useChannel("run_control");
  const [at] = useTime();
  const count = (control?.failed.length ?? 0) + (control?.held.length ?? 0);
  useTitle(count > 0 && at === null);
  if (control === undefined || count === 0 || at !== null) return null;
  return control.failed.length > 0 ? <Failed control={control} /> : <Held control={control} />;
}

/** The window's title says so too, for who looks at another one. */
function useTitle(waits: boolean): void {
  useEffect(() => {
    const before = document.title;
    if (waits) document.title = `(!) waits for you · ${before}`;
    return () => {
      document.title = before;
    };
  }, [waits]);
}

function Failed({ control }: { control: RunControl }) {
  const console = useConsole();
  const path = control.failed[0]!;
  const tree = useChannel("tree");
  const reasons = useChannel("reasons");
  const uid = uidOf(tree, path);
  const found = tree === undefined || uid === null ? null : reasonIn(tree, uid, reasons);
  const { ask, busy, answer } = useAsk();
  const off = useHindrance() !== "" || busy;
  return (
    <div className="banner" data-kind="waits" role="alert" aria-label="Waits for you">
      <StatusIcon status="failure" label="failed" />
      <span className="banner-text text">
        <strong><NodeLink path={path} /> has failed and waits for you</strong>
        {found === null ? null : <>: {found.uid === uid ? "" : `${found.name}: `}{found.reason.text} <strong>{found.reason.remedy}</strong></>}
        {answer === null || answer.ok ? null : <span className="banner-evidence"> {answer.message}</span>}
      </span>
      <span className="banner-actions">
        <Button look="main" disabled={off} onClick={() => void ask("run.retry", { node: path })}>Retry</Button>
        <Button disabled={off} onClick={() => void ask("run.skip", { node: path })} title="go on as if it had succeeded">Skip</Button>
        <Button disabled={off} onClick={() => void ask("run.give up", { node: path })} title="let it be a failure, which its parent has">Give up</Button>
        {found === null ? null : <Mend uid={found.uid} texts={[found.reason.text, found.reason.remedy ?? ""]} />}
        <Button onClick={() => console.showPanel("explain")}>Why?</Button>
        <More count={control.failed.length + control.held.length - 1} />
      </span>
    </div>
  );
}

function Held({ control }: { control: RunControl }) {
  const path = control.held[0]!;
  const { ask, busy, answer } = useAsk();
  const off = useHindrance() !== "" || busy;
  const stopped = control.breakpoints.includes(path);
  return (
    <div className="banner" data-kind="waits" role="status" aria-label="Waits for you">
      <StatusIcon status={stopped ? "breakpoint" : "approval"} label={stopped ? "breakpoint" : "waits to begin"} />
      <span className="banner-text text">
        <strong><NodeLink path={path} /> waits for you{stopped ? " at its breakpoint" : ""}</strong>
        {answer === null || answer.ok ? null : <span className="banner-evidence"> {answer.message}</span>}
      </span>
      <span className="banner-actions">
        <Button look="main" disabled={off} onClick={() => void ask("run.step")}>Step <Keys of="." /></Button>
        {control.automatic ? null : <Button disabled={off} onClick={() => void ask("run.go")}>Go on by itself</Button>}
        <More count={control.held.length - 1} />
      </span>
    </div>
  );
}

function More({ count }: { count: number }) {
  const console = useConsole();
  return (
    <Button look="quiet" onClick={() => console.showPanel("run")}>{count > 0 ? `${count} more` : "Run …"}</Button>
  );
}
