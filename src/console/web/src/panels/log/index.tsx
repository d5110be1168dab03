// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "react";
import { Empty, StatusIcon } from "../../design";
import { useChannel, useConsole, useSelection, useTime } from "../../store";
import { timeText } from "../timeline/window";
import { entriesOf, KINDS, namer, normal, type Entry, type Kind } from "./entries";
import "./log.css";
import { useFailures } from "./useFailures";

/** Lines that are shown; older ones are found by the filters. */
const SHOWN = 300;
const SHAPES = { info: "idle", warning: "paused", error: "fault" } as const;

/** What happened and why what failed has failed, newest first; a line leads to its node and moment. */
export default function Log() {
  const events = useChannel("events");
  const failures = useFailures();
  const lanes = useChannel("lanes");
  const tree = useChannel("tree");
  const [kinds, setKinds] = useState<ReadonlySet<Kind>>(new Set(KINDS));
  const [words, setWords] = useState("");
  const told = useMemo(() => {
    const isNormal = normal(lanes, tree);
    return kinds.size === KINDS.length ? failures.filter((span) => !isNormal(span)) : failures;
  }, [failures, lanes, tree, kinds]);
  const entries = useMemo(
    () => entriesOf(events, told, namer(lanes, tree), { kinds, words }, SHOWN),
    [events, told, lanes, tree, kinds, words],
  );
  if (events.length === 0 && failures.length === 0)
    return <Empty waitsFor="nothing has happened yet" todo="start a mission: its events and reasons stand here" />;
  return (
    <section className="log" aria-label="Log">
      <Filters kinds={kinds} setKinds={setKinds} words={words} setWords={setWords} />
      {entries.length === 0
        ? <Empty waitsFor="nothing here passes the filter" todo="choose more kinds, or other words" />
        : <Lines entries={entries} />}
    </section>
  );
}

function Filters({ kinds, setKinds, words, setWords }: {
  kinds: ReadonlySet<Kind>; setKinds: (kinds: ReadonlySet<Kind>) => void; words: string; setWords: (words: string) => void;
}) {
  const all = kinds.size === KINDS.length;
  /** The first choice shows one kind alone; none chosen is all again. */
  const toggle = (kind: Kind) => {
    const chosen = new Set(all ? [] : kinds);
    if (!chosen.delete(kind)) chosen.add(kind);
    setKinds(chosen.size === 0 ? new Set(KINDS) : chosen);
  };
  return (
    <div className="log-filters" role="toolbar" aria-label="Filters">
      <input
        type="search" value={words} placeholder="Filter" aria-label="Words in the log"
        onChange={(event) => setWords(event.target.value)}
      />
      {KINDS.map((kind) => (
        <button key={kind} type="button" aria-pressed={!all && kinds.has(kind)} onClick={() => toggle(kind)}>
          {kind}
        </button>
      ))}
    </div>
  );
}

function Lines({ entries }: { entries: readonly Entry[] }) {
  const console = useConsole();
  const [selection] = useSelection();
  const [at, goTo] = useTime();
  const show = ({ uid, t }: Entry) => {
    if (uid !== null) console.selection.set({ ...selection, node: uid });
    goTo(t);
  };
  return (
    <ol className="log-lines" aria-label="Events and reasons, newest first">
      {entries.map((entry, index) => (
        <li key={`${entry.t} ${entry.kind} ${index}`}>
          <button
            type="button" onClick={() => show(entry)} data-later={at !== null && entry.t > at + 1e-6}
            aria-current={entry.uid !== null && entry.uid === selection.node}
          >
            <StatusIcon
              status={entry.kind === "reason" ? "failure" : SHAPES[entry.level]}
              label={entry.kind === "reason" ? "failed" : entry.level}
            />
            <time>{timeText(entry.t, 0.1)}</time>
            <span className="log-kind">{entry.kind}</span>
            <span className="log-text">{entry.text}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}
