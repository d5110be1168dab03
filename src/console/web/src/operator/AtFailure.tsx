// SPDX-License-Identifier: Apache-2.0
import { Said } from "./parts";
import { useAsk } from "./useAsk";
import { useChannel } from "../store";

/** Whether a failure waits for the operator, who mends it and goes on, or is one at once. */
export function AtFailure({ hindrance }: { hindrance: string }) {
  const control = useChannel("run_control");
  const asking = useAsk();
  if (control === undefined) return null;
  const change = (on: boolean) => void asking.ask(on ? "run.go" : "run.release");
  return (
    <>
      <label
        className="switch"
        title="A failure that the tree does not handle stands still until you retry, skip or give up. Off: it ends the mission; breakpoints are forgotten."
      >
        <input
          type="checkbox" role="switch" checked={control.controlled} disabled={hindrance !== "" || asking.busy}
          onChange={(event) => change(event.target.checked)}
        />
        wait for me at a failure
      </label>
      {asking.answer?.ok === false ? <Said by={asking} /> : null}
    </>
  );
}
