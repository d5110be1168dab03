// SPDX-License-Identifier: Apache-2.0
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import Records from ".";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function serve(body: unknown, status = 200): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(text, { status })));
}

it("links each recording to this page on that run, whatever its name", async () => {
  serve([{ id: "kept/a&at=1.mcap", size: 5_400_000, modified: 1_795_435_367 }]);
  render(<Records />);
  const link = await screen.findByText("kept/a&at=1.mcap");
  expect(link.closest("a")!.getAttribute("href")).toBe("?record=kept%2Fa%26at%3D1.mcap&layout=replay");
  expect(screen.getByText(/5\.4 MB/)).toBeTruthy();
});

it("says what to do when there are none, and why they cannot be listed", async () => {
  serve([]);
  render(<Records />);
  expect(await screen.findByText("there are no recordings yet")).toBeTruthy();
  cleanup();
  serve("a token is needed", 403);
  render(<Records />);
  expect(await screen.findByText("a token is needed")).toBeTruthy();
});
