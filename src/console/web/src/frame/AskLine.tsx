// SPDX-License-Identifier: Apache-2.0
import { Button, StatusIcon } from "../design";
import { Said } from "../operator/parts";
import { useAsk } from "../operator/useAsk";
import { useChannel, useConsole, useValue } from "../store";

/** Somebody asks for control of this page, who has it: a line, until it is answered. */
export function AskLine() {
  const console = useConsole();
  const { holder = null, asks = null } = useChannel("controller") ?? {};
  const welcome = useValue(console.connection.welcome);
  const asking = useAsk();
  if (asks === null || welcome === null || holder?.number !== welcome.number) return null;
  return (
    <div className="banner" data-kind="asks" role="alert" aria-label="Asks for control">
      <StatusIcon status="approval" label="asks" />
      <span className="banner-text text"><strong>{asks.name}</strong> asks for control</span>
      <Said by={asking} />
      <span className="banner-actions">
        <Button disabled={asking.busy} onClick={() => void asking.ask("control.give")}>Give</Button>
        <Button disabled={asking.busy} onClick={() => void asking.ask("control.refuse")}>Keep</Button>
      </span>
    </div>
  );
}
