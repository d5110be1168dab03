// SPDX-License-Identifier: Apache-2.0
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import Health from ".";
import { fakeConsole, noStack, renderWith } from "../../testing";

afterEach(cleanup);

it("has the worst first", async () => {
  const { console } = await fakeConsole({ t: 32 });
  const { container } = renderWith(console, <Health />);
  await screen.findByText("camera");
  expect(container.querySelector(".health-name")?.textContent).toBe("camera");
});

it("says what is missing for a mission", async () => {
  const { console, server } = await fakeConsole({ t: 53 });
  server.answers.set("mission.preflight", { ok: false, message: "action /pick is not there" });
  renderWith(console, <Health />);
  const user = userEvent.setup();
  await user.selectOptions(await screen.findByLabelText("mission"), "pick_and_place");
  await user.click(screen.getByRole("button", { name: "Check what it needs" }));
  expect(await screen.findByText("action /pick is not there")).toBeTruthy();
  expect(screen.getByRole("img", { name: "could not start" })).toBeTruthy();
  await waitFor(() => expect(server.received).toContainEqual(
    expect.objectContaining({ command: expect.objectContaining({ args: { name: "pick_and_place", parameters: {} } }) }),
  ));
});

it("says why the page is empty", async () => {
  const { console } = await fakeConsole({ script: noStack });
  renderWith(console, <Health />);
  expect(await screen.findByText(/behavior up/)).toBeTruthy();
});
