// SPDX-License-Identifier: Apache-2.0
import {
  DockviewReact, type DockviewApi, type DockviewReadyEvent, type IDockviewPanelHeaderProps,
  type IDockviewPanelProps,
} from "dockview-react";
import "dockview-react/dist/styles/dockview.css";
import { useCallback, useEffect, useRef, type MouseEvent } from "react";
import { PANELS } from "../panels/registry";
import { useCommand, useConsole, useValue, type Console, type Layout } from "../store";
import "./docks.css";
import { offeredIn } from "./modules";
import { PanelHost } from "./PanelHost";
import { present, PRESETS } from "./layouts";
import { keepLayout, keptLayout } from "./kept";

const TITLES = new Map(PANELS.map((panel) => [panel.id, panel.title]));
const THEME = { name: "console", className: "console-docks" };
const COMPONENTS = {
  panel: (properties: IDockviewPanelProps) => <PanelHost id={properties.api.id} />,
};

/** A tab; its cross is for the mouse, the keyboard has the palette's "Close this panel". */
function Tab({ api }: IDockviewPanelHeaderProps) {
  const close = (event: MouseEvent) => {
    event.stopPropagation();
    api.close();
  };
  return (
    <div className="dock-tab">
      <span>{TITLES.get(api.id) ?? api.title}</span>
      <span className="dock-close" aria-hidden="true" onPointerDown={(e) => e.stopPropagation()} onClick={close}>×</span>
    </div>
  );
}

/** The panels, docked as the layout has them; what is moved is kept. */
export default function Docks() {
  const console = useConsole();
  const layout = useValue(console.layout);
  const api = useRef<DockviewApi | null>(null);
  const shown = useRef<Layout>(layout);

  const ready = useCallback(
    (event: DockviewReadyEvent) => {
      api.current = event.api;
      event.api.onDidAddGroup(({ element }) => mend(element));
      arrange(event.api, console.layout.get());
      event.api.onDidLayoutChange(() => keepLayout(shown.current, event.api.toJSON()));
      console.showPanel = (id) => showPanel(event.api, id, titleOf(console, id));
    },
    [console],
  );
  useCommand("panel.close", "Close this panel", undefined,
    useCallback(() => api.current?.activePanel?.api.close(), []));
  useEffect(() => {
    if (api.current === null || shown.current === layout) return;
    shown.current = layout;
    arrange(api.current, layout);
  }, [layout]);
  return <DockviewReact components={COMPONENTS} defaultTabComponent={Tab} onReady={ready} theme={THEME} />;
}

/** Panels bring landmarks of their own, and the keyboard scrolls those that have nothing to press. */
function mend(group: HTMLElement): void {
  group.setAttribute("role", "group");
  group.querySelector(".dv-content-container")?.setAttribute("tabindex", "0");
}

/** Docks as kept, else as the preset has it. */
export function arrange(api: DockviewApi, layout: Layout): void {
  const kept = keptLayout(layout);
  if (kept !== null) {
    try {
      api.fromJSON(kept);
      return;
    } catch {
      // Kept by another version: the preset is right.
    }
  }
  api.clear();
  dockPreset(api, layout);
}

function dockPreset(api: DockviewApi, layout: Layout): void {
  const preset = present(PRESETS[layout], new Set(TITLES.keys()));
  const firsts: string[] = [];
  const add = (group: string[], where: object | undefined) => {
    group.forEach((id, index) => {
      const position = index === 0 ? where : { referencePanel: group[0]!, direction: "within" };
      api.addPanel({
        id, component: "panel", title: TITLES.get(id) ?? id, inactive: index > 0,
        ...(position === undefined ? {} : { position: position as never }),
      });
    });
  };
  preset.columns.forEach(({ groups }, column) => {
    const before = firsts.at(-1);
    add(groups[0]!, column === 0 ? undefined : { referencePanel: before!, direction: "right" });
    firsts.push(groups[0]![0]!);
  });
  preset.below.groups.forEach((group, index) => {
    const before = preset.below.groups[index - 1]?.[0];
    const first = firsts.length === 0 ? undefined : { direction: "below" };
    add(group, index === 0 ? first : { referencePanel: before!, direction: "right" });
  });
  for (const { groups } of preset.columns)
    groups.slice(1).forEach((group, index) =>
      add(group, { referencePanel: groups[index]![0]!, direction: "below" }),
    );
  preset.columns.forEach(({ width }, column) =>
    api.getPanel(firsts[column]!)?.group.api.setSize({ width: Math.round(api.width * width) }),
  );
  const below = preset.below.groups[0]?.[0];
  if (below !== undefined && firsts.length > 0)
    api.getPanel(below)?.group.api.setSize({ height: Math.round(api.height * preset.below.height) });
}

function titleOf(console: Console, id: string): string {
  const offered = offeredIn(console.channels.current("modules"));
  return TITLES.get(id) ?? offered.find((each) => each.panel === id)?.title ?? id;
}

function showPanel(api: DockviewApi, id: string, title: string): void {
  const open = api.getPanel(id);
  if (open !== undefined) open.api.setActive();
  else api.addPanel({ id, component: "panel", title });
}
