// SPDX-License-Identifier: Apache-2.0
import { act, cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { fakeConsole, renderWith } from "../testing";
import { LinkBanner, MomentBanner } from "./LinkBanner";

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
});

describe("MomentBanner", () => {
  it("says why a moment cannot be shown until another one is", async () => {
    const { console } = await fakeConsole({ t: 40 });
    renderWith(console, <MomentBanner />);
    expect(screen.queryByRole("alert")).toBeNull();
    act(() => console.connection.message({ problem: { at: 5, text: "this is longer ago" } }));
    expect(screen.getByRole("alert").textContent).toContain("This moment cannot be shown: this is longer ago");
    act(() => console.at.set(30));
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("LinkBanner", () => {
  it("says why a recording cannot be shown", async () => {
    history.replaceState(null, "", "/?record=bad.mcap");
    const { console, server } = await fakeConsole({ record: "bad.mcap" });
    renderWith(console, <LinkBanner />);
    act(() => server.drop("bad.mcap is no MCAP file", true));
    expect(screen.getByRole("alert").textContent).toContain("This recording cannot be shown: bad.mcap is no MCAP file");
    expect(screen.getByRole("link", { name: "Back" })).toBeTruthy();
  });
});
