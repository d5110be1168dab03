// SPDX-License-Identifier: Apache-2.0
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { PANELS } from "../panels/registry";
import { useCommand, useConsole, useValue, LAYOUTS, type Console } from "../store";
import { announce, notice } from "./announce";
import { applyTheme, forgetLayout } from "./kept";
import { useOffered } from "./modules";

const loadPalette = () => import("./Palette");
const Palette = lazy(loadPalette);
const Help = lazy(() => import("./Help"));

/** The command palette, the list of keys, the last answer; and the frame's own commands. */
export function Overlays() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const close = useCallback(() => setOpen(null), []);
  useEffect(() => void loadPalette(), []); // What is typed right after Ctrl K finds it there.
  useCommand("palette", "All commands", "Ctrl+K", useCallback(() => setOpen("palette"), []));
  useCommand("help", "All keys", "?", useCallback(() => setOpen("help"), []));
  return (
    <>
      <FrameCommands />
      <Suspense fallback={null}>
        {open === "palette" ? <Palette close={close} /> : null}
        {open === "help" ? <Help close={close} /> : null}
      </Suspense>
      <LastNotice />
    </>
  );
}

function LastNotice() {
  const shown = useValue(notice);
  return (
    <div className="notice" role="status" data-level={shown?.level} hidden={shown === null}>
      <span className="text">{shown?.text}</span>
      <button type="button" aria-label="Close" onClick={() => notice.set(null)}>×</button>
    </div>
  );
}

async function carryOut(console: Console, name: string): Promise<void> {
  const answer = await console.send(name);
  announce(answer.message || (answer.ok ? "done" : "refused"), answer.ok ? "info" : "error");
}

function FrameCommands() {
  const console = useConsole();
  const offered = useOffered();
  const toggle = () => {
    const paused = console.channels.current("mission")?.state === "paused";
    void carryOut(console, paused ? "mission.resume" : "mission.pause");
  };
  useCommand("live", "Show what happens now", "L", useCallback(() => console.at.set(null), [console]));
  useCommand("follow", "Follow the running node", "F",
    useCallback(() => console.follow.set(!console.follow.get()), [console]));
  useCommand("pause", "Pause or resume the mission", "Space", useCallback(toggle, [console]), "operate");
  useCommand("step", "One step", ".", useCallback(() => void carryOut(console, "run.step"), [console]), "operate");
  useCommand("stop", "Stop by software", "Shift+Escape", useCallback(() => void carryOut(console, "stop"), [console]));
  useCommand("theme", "Light or dark", undefined, useCallback(() => {
    console.theme.set(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    applyTheme(console.theme.get());
  }, [console]));
  useCommand("layout.reset", "Dock this layout's panels as they were at first", undefined, useCallback(() => {
    forgetLayout(console.layout.get());
    location.reload();
  }, [console]));
  return (
    <>
      {LAYOUTS.map((layout, index) => (
        <Registered
          key={layout} id={`layout.${layout}`} title={`Layout: ${layout}`} keys={String(index + 1)}
          run={() => console.layout.set(layout)}
        />
      ))}
      {PANELS.map((panel) => (
        <Registered
          key={panel.id} id={`panel.${panel.id}`} title={`Panel: ${panel.title}`}
          run={() => console.showPanel(panel.id)}
        />
      ))}
      {offered.map(({ panel, title }) => (
        <Registered key={panel} id={panel} title={`Panel: ${title}`} run={() => console.showPanel(panel)} />
      ))}
    </>
  );
}

function Registered({ id, title, keys, run }: {
  id: string; title: string; keys?: string; run: () => void;
}) {
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the same command as long as the id is.
  useCommand(id, title, keys, useCallback(run, [id]));
  return null;
}
