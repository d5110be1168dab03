// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "react";
import { Button } from "../../design";
import { Part, Said } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, useConsole, useMay, useValue, type Controller } from "../../store";

/** Who of the pages has control, who asks for it, and how long the answer may take. */
export function ControlPart() {
  const console = useConsole();
  const controller = useChannel("controller");
  const own = useValue(console.connection.welcome)?.number;
  const may = useMay("operate");
  const asking = useAsk();
  const { holder = null, asks = null } = controller ?? {};
  const left = useSecondsLeft(controller);
  const mine = holder !== null && holder.number === own;
  return (
    <Part title="Control">
      <p className="said text">
        {holder === null ? "Nobody has control: who acts first has it." : mine ? "You have control; others watch." : `${holder.name} has control; you watch.`}
        {asks === null ? "" : ` ${asks.number === own ? "You ask" : `${asks.name} asks`} for it${left === null ? "." : `: ${left} s are left for an answer, then it passes on.`}`}
      </p>
      {may ? (
        <div className="row">
          {holder === null ? <Button onClick={() => void asking.ask("control.take")}>Take control</Button> : null}
          {holder !== null && !mine ? (
            <Button disabled={asks?.number === own} onClick={() => void asking.ask("control.ask")}>Ask for control</Button>
          ) : null}
          {mine ? <Button onClick={() => void asking.ask("control.give")}>{asks === null ? "Give it up" : "Give it"}</Button> : null}
          {mine && asks !== null ? <Button onClick={() => void asking.ask("control.refuse")}>Keep it</Button> : null}
        </div>
      ) : null}
      <Said by={asking} />
    </Part>
  );
}

/** [s] until control passes on; null: nobody asks. */
function useSecondsLeft(controller: Controller | undefined): number | null {
  const asker = controller?.asks?.number ?? null;
  const within = controller?.answer_within ?? null;
  const [left, setLeft] = useState<number | null>(null);
  useEffect(() => {
    if (asker === null || within === null) return setLeft(null);
    const until = performance.now() + 1000 * within;
    const show = () => setLeft(Math.max(0, Math.ceil((until - performance.now()) / 1000)));
    show();
    const timer = window.setInterval(show, 500);
    return () => window.clearInterval(timer);
  }, [asker, within]);
  return left;
}
