// SPDX-License-Identifier: Apache-2.0
// A page without a server, to build panels with: `?fake=stack_blocks&t=33` in `npm run dev` shows
// that moment; without `t` it plays.
import type { Connect } from "../store/transport";
import { noStack } from "./empty";
import { FakeServer, type Script } from "./fake";
import { hostile } from "./hostile";
import { largeTree } from "./large_tree";
import { operatorWaits } from "./operator";
import { stackBlocks } from "./stack_blocks";
import { warehouse } from "./warehouse";

const SCRIPTS: Record<string, Script> = {
  stack_blocks: stackBlocks, empty: noStack, hostile, large: largeTree, warehouse, operator: operatorWaits,
};
const PERIOD = 0.1;

/** A fake that plays by itself, or stands still at the parameter `t` [s]. */
export function fakeByName(name: string, parameters: URLSearchParams): Connect {
  const script = SCRIPTS[name];
  if (script === undefined)
    throw new Error(`there is no fake '${name}': choose from ${Object.keys(SCRIPTS).join(", ")}`);
  const t = parameters.get("t");
  const server = new FakeServer(script, Number(t ?? 0));
  Object.assign(window, { fakeServer: server });
  if (t === null) window.setInterval(() => server.advance(PERIOD), PERIOD * 1000);
  return server.connect;
}
