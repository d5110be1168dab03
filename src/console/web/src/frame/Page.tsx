// SPDX-License-Identifier: Apache-2.0
import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";
import "../design";
import { Empty } from "../design";
import { ConsoleProvider, useConsole, useIsRecord, useValue, type Console } from "../store";
import { AskLine } from "./AskLine";
import { FailureLine } from "./FailureLine";
import "./frame.css";
import { applyTheme, keptTheme } from "./kept";
import { LinkBanner, MomentBanner } from "./LinkBanner";
import { Narrow } from "./Narrow";
import { Overlays } from "./Overlays";
import { TopBar } from "./TopBar";
import { WaitLine } from "./WaitLine";

const Docks = lazy(() => import("./Docks"));
const NARROW = "(max-width: 899px)";

/** The whole page. */
export function Page({ console }: { console: Console }) {
  return (
    <ConsoleProvider console={console}>
      <Frame />
    </ConsoleProvider>
  );
}

function Frame() {
  const console = useConsole();
  const at = useValue(console.at);
  const recorded = useIsRecord();
  const narrow = useNarrow();
  useTheme();
  useKeys();
  return (
    <div className="frame" data-live={at === null && !recorded}>
      <TopBar />
      <AskLine />
      <WaitLine />
      <FailureLine />
      <LinkBanner />
      <MomentBanner />
      <main className="panels" aria-label="Panels">
        {narrow ? (
          <Narrow />
        ) : (
          <Suspense fallback={<Empty waitsFor="loading the panels" />}>
            <Docks />
          </Suspense>
        )}
      </main>
      <Overlays />
    </div>
  );
}

function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(NARROW);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(NARROW).matches,
  );
}

function useTheme(): void {
  const { theme } = useConsole();
  useEffect(() => {
    theme.set(keptTheme());
    applyTheme(theme.get());
    const query = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => applyTheme(theme.get());
    query.addEventListener("change", follow);
    const stop = theme.subscribe(follow);
    return () => {
      stop();
      query.removeEventListener("change", follow);
    };
  }, [theme]);
}

function useKeys(): void {
  const console = useConsole();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (console.commands.handle(event, (role) => console.may(role))) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [console]);
}
