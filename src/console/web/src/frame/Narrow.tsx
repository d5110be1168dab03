// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "react";
import { PANELS } from "../panels/registry";
import { useConsole, useValue } from "../store";
import { useOffered } from "./modules";
import { PanelHost } from "./PanelHost";
import { panelsOf, present, PRESETS } from "./layouts";

const TITLES = new Map(PANELS.map((panel) => [panel.id, panel.title]));

/** One panel at a time with tabs, for screens below 900 px. */
export function Narrow() {
  const console = useConsole();
  const layout = useValue(console.layout);
  const offered = useOffered();
  const titles = new Map([...TITLES, ...offered.map((each) => [each.panel, each.title] as const)]);
  const ids = [...panelsOf(present(PRESETS[layout], new Set(TITLES.keys()))), ...offered.map((each) => each.panel)];
  const [chosen, choose] = useState(ids[0] ?? "");
  const shown = ids.includes(chosen) || titles.has(chosen) ? chosen : (ids[0] ?? "");
  useEffect(() => {
    console.showPanel = choose;
  }, [console]);
  const step = (event: React.KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const next = ids[(ids.indexOf(shown) + by + ids.length) % ids.length];
    if (next !== undefined) choose(next);
    const tabs = event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]");
    tabs[ids.indexOf(next ?? "")]?.focus();
  };
  return (
    <div className="narrow">
      <div className="narrow-tabs" role="tablist" aria-label="Panels" onKeyDown={step}>
        {ids.map((id) => (
          <button
            key={id} type="button" role="tab" id={`tab-${id}`} aria-controls="narrow-panel"
            aria-selected={id === shown} tabIndex={id === shown ? 0 : -1} onClick={() => choose(id)}
          >
            {titles.get(id)}
          </button>
        ))}
      </div>
      <div className="narrow-panel" id="narrow-panel" role="tabpanel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        <PanelHost key={shown} id={shown} />
      </div>
    </div>
  );
}
