// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { fakeConsole } from "../testing";

const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

test("a lost connection comes back by itself with what was subscribed and which moment was shown", async () => {
  const { console, server, timing } = await fakeConsole({ t: 20 });
  console.subscribe("status", () => {});
  await settle();
  console.at.set(10);
  server.drop("killed");
  expect(console.connection.link.get()).toEqual({ state: "lost", reason: "killed", attempt: 1 });
  server.received.length = 0;
  timing.pass(0.6);
  await settle();
  expect(console.connection.link.get()).toEqual({ state: "open" });
  expect(server.received).toContainEqual({ subscribe: ["status"] });
  expect(server.received).toContainEqual({ at: 10 });
  expect(console.connection.shown.get()).toBe(10);
});

test("the pause between attempts grows, up to five seconds", async () => {
  const { console, server, timing } = await fakeConsole();
  server.drop();
  for (const pause of [0.5, 1, 2, 4, 5, 5]) {
    timing.pass(pause - 0.01);
    expect(console.connection.link.get().state).toBe("lost");
    const { attempt } = console.connection.link.get() as { attempt: number };
    timing.pass(0.02);
    console.connection.closed("", false);
    expect((console.connection.link.get() as { attempt: number }).attempt).toBe(attempt + 1);
  }
});

test("every command is answered: refused, lost and unsent ones too", async () => {
  const { console, server, timing } = await fakeConsole();
  server.answers.set("stop", { ok: false, message: "bob #2 has control: ask for it, or wait" });
  expect(await console.send("stop")).toMatchObject({ ok: false, message: /bob #2 has control/ });
  server.silent = true;
  const late = console.send("mission.pause");
  timing.pass(16);
  expect(await late).toMatchObject({ ok: false, message: "no answer to 'mission.pause' within 15 s" });
  const lost = console.send("mission.pause");
  server.drop();
  expect(await lost).toMatchObject({ ok: false, message: /lost before the answer/ });
  expect(await console.send("mission.pause")).toMatchObject({ message: /not connected/ });
});

test("a refused page does not try again and says why", async () => {
  const { console, server, timing } = await fakeConsole();
  server.drop("wrong token", true);
  timing.pass(60);
  await settle();
  expect(console.connection.link.get()).toEqual({ state: "refused", reason: "wrong token" });
});

test("a channel is subscribed as long as somebody shows it, and what was drawn is acknowledged", async () => {
  const { console, server } = await fakeConsole();
  const first = console.subscribe("status", () => {});
  const second = console.subscribe("status", () => {});
  await settle();
  first();
  await settle();
  second();
  await settle();
  const lists = server.received.flatMap((each) => ("subscribe" in each ? [each.subscribe] : []));
  expect(lists).toEqual([[], ["status"], []]);
  expect(server.received).toContainEqual({ seen: 1 });
});
