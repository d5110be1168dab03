// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import type { Proposal } from "../../store";
import { fakeConsole, renderWith } from "../../testing";
import { Proposals } from "./Proposals";

afterEach(cleanup);

const PROPOSAL: Proposal = {
  id: "3f2a91c0", created: "2026-11-23", author: "a model", mission: "fetch_cup", reason: "<b>a cup</b>", trial: "9 of 10 succeeded",
  status: "open", decided: "", outcome: "", digest: "d1", text: "<root/>", cut: false, edit: false,
};

async function shown(...proposals: Partial<Proposal>[]) {
  const { console, server } = await fakeConsole({ t: 20 });
  server.put({ proposals: proposals.map((each) => ({ ...PROPOSAL, ...each })) });
  renderWith(console, <Proposals hindrance="" />);
  const sent = () => server.received.flatMap((each) => ("command" in each ? [[each.command.name, each.command.args]] : []));
  return { server, sent, user: userEvent.setup() };
}

it("shows who proposes what, why and how it did, and approves the text that was shown", async () => {
  const { sent, user } = await shown({});
  expect(await screen.findByText("<b>a cup</b>")).toBeTruthy();
  expect(screen.getByText(/by a model.*9 of 10 succeeded/)).toBeTruthy();
  expect(screen.getByText("<root/>")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Approve and run" }));
  expect(sent()).toEqual([["proposal.approve", { id: "3f2a91c0", digest: "d1" }]]);
});

it("rejects, and says what was refused where it was asked for", async () => {
  const { server, sent, user } = await shown({ edit: true, text: "-<a/>\n+<b/>" });
  server.answers.set("proposal.reject", { ok: false, message: "that proposal waits no more" });
  expect((await screen.findByText("+<b/>")).dataset.change).toBe("new");
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await waitFor(() => expect(screen.getByText(/waits no more/)).toBeTruthy());
  expect(sent()).toEqual([["proposal.reject", { id: "3f2a91c0" }]]);
});

it("lets nobody approve what cannot be read, and lists what was decided", async () => {
  await shown({ cut: true }, { id: "1", mission: "dance", status: "rejected", decided: "T by ann", text: "" });
  expect(await screen.findByText(/behavior proposals show 3f2a91c0/)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Approve and run" }).disabled).toBe(true);
  expect(screen.getByText(/dance, rejected T by ann/)).toBeTruthy();
});
