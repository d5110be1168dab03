// SPDX-License-Identifier: Apache-2.0
import type { SerializedDockview } from "dockview-react";
import { PANELS } from "../panels/registry";
import type { Layout, Theme } from "../store";

/** Docks of another set of panels are not taken up again: new panels would be missing. */
const VERSION = PANELS.map((panel) => panel.id).join(",");

/** Keeps where panels are docked, in this browser. */
export function keepLayout(layout: Layout, docks: SerializedDockview): void {
  localStorage.setItem(`console.layout.${layout}`, JSON.stringify({ version: VERSION, docks }));
}

/** Where panels were docked; null: as the layout begins. */
export function keptLayout(layout: Layout): SerializedDockview | null {
  try {
    const text = localStorage.getItem(`console.layout.${layout}`);
    const kept = JSON.parse(text ?? "null") as { version: string; docks: SerializedDockview } | null;
    return kept?.version === VERSION ? kept.docks : null;
  } catch {
    return null;
  }
}

export function forgetLayout(layout: Layout): void {
  localStorage.removeItem(`console.layout.${layout}`);
}

export function keptTheme(): Theme {
  const theme = localStorage.getItem("console.theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** Shows a theme and keeps it. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem("console.theme", theme);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = theme === "system" ? (dark ? "dark" : "light") : theme;
}
