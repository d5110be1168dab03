// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Button, Empty, Keys } from "../../design";
import { useCommand, useConsole, useIsRecord, useTime, useValue } from "../../store";
import { TimelineData } from "./data";
import type { Hit } from "./hit";
import { Surface } from "./surface";
import { SpanTable } from "./SpanTable";
import "./timeline.css";
import { usePlayback } from "./usePlayback";
import { timeText } from "./window";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

interface Hover {
  hit: Hit;
  x: number;
  y: number;
}

/** When what ran, and the way to any moment: of a run that goes on as of one that is recorded. */
export default function Timeline() {
  const [surface, data, canvas, hover, revision] = useSurface();
  const [table, setTable] = useState(false);
  const empty = revision >= 0 && data.rows.length === 0;
  return (
    <section className="timeline" aria-label="Timeline">
      <Toolbar surface={surface} data={data} table={table} setTable={setTable} />
      <div className="timeline-body">
        <Moment surface={surface} data={data}>
          <canvas ref={canvas} className="timeline-canvas" aria-hidden="true" />
        </Moment>
        {empty ? <div className="timeline-empty"><Empty waitsFor="nothing has run yet" todo="start a mission: what runs appears here" /></div> : null}
        {hover === null || table ? null : <Tip {...hover} />}
        {table && surface !== null ? <SpanTable data={data} surface={surface} revision={revision} /> : null}
      </div>
    </section>
  );
}

function useSurface() {
  const console = useConsole();
  const [data] = useState(() => new TimelineData(console));
  const [surface, setSurface] = useState<Surface | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [revision, setRevision] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const next = () => setRevision((before) => before + 1);
    let rows = -1;
    const made = new Surface(
      canvas.current!, console, data, (hit, x, y) => setHover(hit === null ? null : { hit, x, y }), next,
    );
    setSurface(made);
    const changed = () => {
      const recorded = console.connection.welcome.get()?.view === "record";
      if (recorded && rows <= 0 && data.rows.length > 0) made.holdAll();
      made.redraw();
      if (rows !== data.rows.length) next();
      rows = data.rows.length;
    };
    data.start(changed);
    changed(); // all may be there already, because other panels show it
    if (console.at.get() !== null) made.window.follows = false;
    return () => {
      data.stop();
      made.close();
    };
  }, [console, data]);
  return [surface, data, canvas, hover, revision] as const;
}

function Toolbar({ surface, data, table, setTable }: {
  surface: Surface | null; data: TimelineData; table: boolean; setTable: (on: boolean) => void;
}) {
  const console = useConsole();
  const [at, goTo] = useTime();
  const recorded = useIsRecord();
  const begin = useCallback(() => (recorded ? data.extent[0] : null), [data, recorded]);
  const { playing, speed, toggle, setSpeed } = usePlayback(begin);
  const step = useCallback((direction: 1 | -1) => {
    const t = data.change(console.at.get() ?? console.connection.now.get(), direction);
    if (t !== null) surface?.goTo(t);
  }, [console, data, surface]);
  const back = useCallback(() => step(-1), [step]);
  const on = useCallback(() => step(1), [step]);
  useCommand("timeline.previous", "Previous change", "[", back);
  useCommand("timeline.next", "Next change", "]", on);
  const jump = useCallback((direction: 1 | -1) => {
    const failed = data.failure(console.at.get() ?? console.connection.now.get(), direction);
    if (failed === null) return;
    if (failed.node !== null) console.selection.set({ ...console.selection.get(), node: failed.node });
    surface?.goTo(failed.t);
  }, [console, data, surface]);
  const failedBefore = useCallback(() => jump(-1), [jump]);
  const failedNext = useCallback(() => jump(1), [jump]);
  useCommand("timeline.failed.previous", "Previous failure", "Shift+N", failedBefore);
  useCommand("timeline.failed.next", "Next failure", "N", failedNext);
  useCommand("timeline.play", "Play on, or stop playing", recorded ? "Space" : undefined, toggle);
  useFollowLive(surface);
  return (
    <div className="timeline-tools" role="toolbar" aria-label="Time">
      <Button look="quiet" aria-label="Previous change" title="Previous change: [" onClick={back}>◂</Button>
      <Button
        look="quiet" disabled={at === null && !recorded} aria-pressed={playing} onClick={toggle}
        title={at !== null ? "Play on from this moment" : recorded ? "Play from the beginning" : "This is the latest: choose a moment to play from"}
      >
        {playing ? "Pause" : "Play"}
      </Button>
      <Button look="quiet" aria-label="Next change" title="Next change: ]" onClick={on}>▸</Button>
      <Button look="quiet" aria-label="Previous failure" title="Previous failure: Shift N" onClick={failedBefore}>◂×</Button>
      <Button look="quiet" aria-label="Next failure" title="Next failure: N" onClick={failedNext}>×▸</Button>
      <label className="timeline-speed">
        <span className="unseen">Speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((each) => <option key={each} value={each}>{each}×</option>)}
        </select>
      </label>
      <span className="timeline-space" />
      <Button look="quiet" aria-label="Zoom out" title="Zoom out: -" onClick={() => surface?.zoomAtMoment(2)}>−</Button>
      <Button look="quiet" aria-label="Zoom in" title="Zoom in: +" onClick={() => surface?.zoomAtMoment(0.5)}>+</Button>
      <Button look="quiet" title="All that is known: double click" onClick={() => surface?.fit()}>All</Button>
      <Button look="quiet" aria-pressed={table} onClick={() => setTable(!table)}>Table</Button>
      <Button look="quiet" aria-pressed={at === null} onClick={() => goTo(null)}>{recorded ? "End" : "Live"} <Keys of="L" /></Button>
    </div>
  );
}

/** Live again by whatever key or button: the window follows again. */
function useFollowLive(surface: Surface | null): void {
  const [at] = useTime();
  const was = useRef(at);
  useEffect(() => {
    if (at === null && was.current !== null) surface?.follow();
    was.current = at;
  }, [at, surface]);
}

/** The canvas as a slider of time, for keyboards and screen readers. */
function Moment({ surface, data, children }: {
  surface: Surface | null; data: TimelineData; children: React.ReactNode;
}) {
  const console = useConsole();
  const [at, goTo] = useTime();
  const shown = useValue(console.connection.now);
  const t = at ?? shown;
  const press = (event: KeyboardEvent) => {
    if (surface === null || event.ctrlKey || event.metaKey) return;
    const length = surface.window.length * (event.shiftKey ? 0.1 : 0.01);
    const moves: Record<string, () => void> = {
      ArrowLeft: () => surface.goTo((console.at.get() ?? shown) - length),
      ArrowRight: () => surface.goTo((console.at.get() ?? shown) + length),
      Home: () => surface.goTo(data.extent[0]), End: () => goTo(null),
      "+": () => surface.zoomAtMoment(0.5), "=": () => surface.zoomAtMoment(0.5), "-": () => surface.zoomAtMoment(2),
      ArrowDown: () => surface.focusRow(1), ArrowUp: () => surface.focusRow(-1), Enter: () => choose(surface, data, console),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  const [begin, end] = data.extent;
  return (
    <div
      className="timeline-moment" role="slider" tabIndex={0} aria-label="Moment" aria-orientation="horizontal"
      aria-valuemin={Math.round(begin)} aria-valuemax={Math.round(Math.max(end, begin + 1))} aria-valuenow={Math.round(t)}
      aria-valuetext={at === null ? "live" : timeText(at, 0.1)} onKeyDown={press}
    >
      {children}
    </div>
  );
}

function choose(surface: Surface, data: TimelineData, console: ReturnType<typeof useConsole>): void {
  const row = data.rows[surface.focusedRow];
  if (row?.kind === "lane") console.selection.set({ ...console.selection.get(), node: row.lane.uid });
}

function Tip({ hit, x, y }: Hover) {
  const side = x > 420 ? { right: `calc(100% - ${x - 12}px)` } : { left: x + 14 };
  return (
    <div className="timeline-tip" style={{ ...side, top: Math.max(y - 10, 0) }} role="tooltip">
      <strong className="text">{hit.title}</strong>
      {hit.lines.map((line, index) => <span key={index} className="text">{line}</span>)}
    </div>
  );
}
