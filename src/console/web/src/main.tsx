// SPDX-License-Identifier: Apache-2.0
import { createRoot } from "react-dom/client";
import { Page } from "./frame/Page";
import { refusal, socketUrl, takeToken } from "./store/access";
import { Console } from "./store/console";
import { websocket, type Connect } from "./store/transport";
import { keepUrl, readUrl } from "./store/url";

/** `npm run dev`, and the build that the browser tests look at. */
const WITH_FAKES = import.meta.env.DEV || import.meta.env.MODE === "fake";

async function connectTo(parameters: URLSearchParams): Promise<Connect> {
  const fake = parameters.get("fake");
  if (WITH_FAKES && fake !== null) {
    const { fakeByName } = await import("./testing/play");
    return fakeByName(fake, parameters);
  }
  return websocket(socketUrl("/ws"), refusal);
}

async function start(): Promise<void> {
  takeToken();
  const parameters = new URLSearchParams(location.search);
  const record = parameters.get("record");
  const name = parameters.get("name") ?? `browser-${Math.random().toString(36).slice(2, 6)}`;
  const hello = { name, role: "edit" as const, ...(record === null ? {} : { record }) };
  const console = new Console(await connectTo(parameters), hello, readUrl(location.search));
  keepUrl(console);
  createRoot(document.getElementById("page")!).render(<Page console={console} />);
  console.connection.open();
}

void start();
