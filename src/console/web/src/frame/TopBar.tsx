// SPDX-License-Identifier: Apache-2.0
import { useCallback } from "react";
import { Button, StatusIcon, type Shape } from "../design";
import {
  LAYOUTS, useChannel, useConsole, useIsRecord, useMay, useTime, useValue, type Controller, type Health,
  type Layout, type Mission, type MissionState,
} from "../store";
import { useAnnounce } from "./announce";

const LAYOUT_TITLES: Record<Layout, string> = {
  operate: "Operate", author: "Author", diagnose: "Diagnose", replay: "Replay",
};
const MISSION_SHAPES: Record<MissionState, Shape> = {
  waiting: "paused", initializing: "running", running: "running", paused: "paused",
  finished: "success", failed: "failure", canceled: "skipped",
};

/** What the robot does, who has control, which moment is shown, and the way to stop it. */
export function TopBar() {
  const stack = useChannel("stack");
  const mission = useChannel("mission");
  const robot = stack?.namespace || stack?.world || "no robot";
  return (
    <header className="bar">
      <h1 className="bar-robot text" title="robot">{robot}</h1>
      {mission === undefined ? <Idle /> : <MissionState mission={mission} />}
      <span className="bar-space" />
      <LayoutTabs />
      <Mode />
      <HealthDot />
      <ControlState />
      <Clock />
      <Stop />
    </header>
  );
}

function Idle() {
  const empty = useChannel("stack")?.empty;
  const said = empty ? `${empty.text}: ${empty.remedy}` : "no mission yet: start one";
  return <span className="bar-idle text">{said}</span>;
}

function MissionState({ mission }: { mission: Mission }) {
  const step = mission.detail || mission.active_path.split("/").at(-1) || "";
  return (
    <span className="bar-mission">
      <StatusIcon status={MISSION_SHAPES[mission.state] ?? "idle"} label={mission.state} />
      <span className="bar-name text">{mission.name}</span>
      {step ? <span className="bar-step text">▸ {step}</span> : null}
      <span className="bar-elapsed">{clockOf(mission.elapsed)}</span>
      {mission.progress === null ? null : (
        <>
          <progress aria-label="progress of the mission" max={1} value={mission.progress} />
          <span className="bar-percent">{Math.round(mission.progress * 100)} %</span>
        </>
      )}
    </span>
  );
}

function LayoutTabs() {
  const console = useConsole();
  const layout = useValue(console.layout);
  return (
    <nav className="bar-layouts" aria-label="Layouts">
      {LAYOUTS.map((each, index) => (
        <button
          key={each} type="button" aria-pressed={each === layout} title={`key ${index + 1}`}
          onClick={() => console.layout.set(each)}
        >
          {LAYOUT_TITLES[each]}
        </button>
      ))}
    </nav>
  );
}

/** What an operator chooses; the other levels follow from what is enabled. */
const CHOSEN: ReadonlySet<string> = new Set(["manual", "autonomous"]);

function Mode() {
  const console = useConsole();
  const mode = useChannel("mode");
  const may = useMay("operate");
  const announce = useAnnounce();
  if (mode === undefined) return null;
  const choose = async (level: string) => {
    const answer = await console.send("mode.set", { level });
    if (!answer.ok) announce(answer.message, "error");
  };
  return (
    <label className="bar-mode" title={`in effect: ${mode.effective}`}>
      <span className="unseen">Who moves the robot</span>
      <select value={mode.selected} disabled={!may} onChange={(event) => void choose(event.target.value)}>
        {[...new Set([mode.selected, "manual", "autonomous"])].map((level) => (
          <option key={level} disabled={!CHOSEN.has(level)}>{level}</option>
        ))}
      </select>
    </label>
  );
}

const WORST: Health["level"][] = ["error", "stale", "warning", "ok"];
const HEALTH_SHAPES: Record<Health["level"], Shape> = {
  ok: "success", warning: "warning", error: "fault", stale: "skipped",
};

function HealthDot() {
  const console = useConsole();
  const health = useChannel("health");
  if (health.size === 0) return null;
  const level = WORST.find((each) => [...health.values()].some((one) => one.level === each)) ?? "ok";
  const bad = [...health].filter(([, one]) => one.level !== "ok");
  const said = bad.length === 0 ? "all well" : bad.map(([name, one]) => `${name}: ${one.message}`).join("\n");
  return (
    <Button look="quiet" className="bar-health" title={said} onClick={() => console.showPanel("health")}>
      <StatusIcon status={HEALTH_SHAPES[level]} label={`health ${level}`} />
      <span className="bar-word">{bad.length === 0 ? "health" : `${bad.length} not well`}</span>
    </Button>
  );
}

function ControlState() {
  const console = useConsole();
  const controller = useChannel("controller");
  const welcome = useValue(console.connection.welcome);
  const announce = useAnnounce();
  const ask = useCallback(
    async (name: string) => {
      const answer = await console.send(name);
      announce(answer.message, answer.ok ? "info" : "error");
    },
    [console, announce],
  );
  if (welcome === null) return null;
  if (welcome.role === "view") return <span className="bar-control">you watch</span>;
  return <ControlButtons controller={controller} own={welcome.number} ask={ask} />;
}

function ControlButtons({ controller, own, ask }: {
  controller: Controller | undefined; own: number; ask: (name: string) => void;
}) {
  const { holder = null, asks = null } = controller ?? {};
  if (holder === null)
    return <Button look="quiet" onClick={() => ask("control.take")}>Take control</Button>;
  if (holder.number !== own)
    return (
      <Button look="quiet" onClick={() => ask("control.ask")} disabled={asks?.number === own}>
        <span className="bar-holder text">{holder.name}</span> has control: {asks?.number === own ? "asked" : "ask"}
      </Button>
    );
  return (
    <Button look="quiet" title="Let somebody else have it" onClick={() => ask("control.give")}>
      control: you
    </Button>
  );
}

function Clock() {
  const console = useConsole();
  const now = useValue(console.connection.now);
  const [at, goTo] = useTime();
  const recorded = useIsRecord();
  if (recorded) return <span className="bar-clock button" data-live="false" title="A run that is over.">RECORD <time>{clockOf(at ?? now, 1)}</time></span>;
  if (at === null)
    return (
      <span className="bar-clock" data-live="true" title="This is now.">
        <span aria-hidden="true">●</span> LIVE <time>{clockOf(now, 1)}</time>
      </span>
    );
  return (
    <Button className="bar-clock" data-live="false" title="Back to now: L" onClick={() => goTo(null)}>
      ◂ <time>{clockOf(at, 1)}</time> · go live
    </Button>
  );
}

/** The button; a page that only looks at a recording has nothing to stop. */
function Stop() {
  const recorded = useIsRecord();
  const may = useMay("operate");
  return recorded && !may ? null : <StopButton />;
}

function StopButton() {
  const console = useConsole();
  const announce = useAnnounce();
  const stop = async () => {
    const answer = await console.send("stop");
    announce(answer.message || "stopped", answer.ok ? "info" : "error");
  };
  return (
    <Button
      look="stop" className="bar-stop" onClick={() => void stop()}
      title="Stops by software (Shift Esc). This is no safety function: use the emergency stop in danger."
    >
      ■ STOP
    </Button>
  );
}

/** Hours, minutes and seconds, cut, not rounded; of an epoch only the time of day. */
export function clockOf(seconds: number, digits = 0): string {
  const unit = 10 ** digits;
  const within = Math.floor((seconds % 86_400) * unit + 1e-6) / unit;
  const rest = (within % 60).toFixed(digits).padStart(digits > 0 ? 3 + digits : 2, "0");
  const minutes = String(Math.floor(within / 60) % 60).padStart(2, "0");
  const hours = Math.floor(within / 3600);
  return hours > 0 ? `${String(hours).padStart(2, "0")}:${minutes}:${rest}` : `${minutes}:${rest}`;
}
