// SPDX-License-Identifier: Apache-2.0
import { StatusIcon, shapeOf } from "../../design";
import { useChannel, useConsole, useTime, type StatusCode } from "../../store";
import type { TimelineData } from "./data";
import { statusWord } from "./hit";
import type { Row } from "./rows";
import type { Surface } from "./surface";
import { durationText, timeText } from "./window";

/** Rows of the table; for more one looks closer. */
const MOST = 200;

interface Entry {
  row: Row & { kind: "lane" };
  begin: number;
  end: number;
  status: StatusCode;
  reason: string;
}

/** What is in view, as a table: the timeline for screen readers, and to read exact times. */
export function SpanTable({ data, surface }: { data: TimelineData; surface: Surface; revision: number }) {
  const console = useConsole();
  useChannel("spans");
  const [at] = useTime();
  const now = console.connection.now.get();
  const entries = entriesOf(data.rows, surface.window.from, surface.window.to);
  const show = ({ row, begin }: Entry) => {
    console.selection.set({ ...console.selection.get(), node: row.lane.uid });
    surface.goTo(begin);
  };
  return (
    <div className="timeline-table" tabIndex={0} role="region" aria-label="What is in view">
      <table>
        <caption className="unseen">What ran in the stretch of time that is in view, latest first</caption>
        <thead>
          <tr><th scope="col">From</th><th scope="col">Node</th><th scope="col">Result</th><th scope="col">Took</th><th scope="col">Reason</th></tr>
        </thead>
        <tbody>
          {entries.slice(0, MOST).map((entry) => (
            <tr key={`${entry.row.lane.id} ${entry.begin}`} aria-current={at !== null && entry.begin <= at && at <= entry.end}>
              <td><button type="button" onClick={() => show(entry)}>{timeText(entry.begin, 0.001)}</button></td>
              <td className="text" title={entry.row.path}>{entry.row.title}</td>
              <td>
                <StatusIcon status={shapeOf(entry.status, entry.row.condition)} label="" /> {statusWord(entry.status, entry.row.condition)}
              </td>
              <td>{durationText(Math.max(Math.min(entry.end, now) - entry.begin, 0))}</td>
              <td className="text">{entry.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {entries.length > MOST ? <p>and {entries.length - MOST} more: zoom in to see them</p> : null}
    </div>
  );
}

function entriesOf(rows: readonly Row[], from: number, to: number): Entry[] {
  const entries: Entry[] = [];
  for (const row of rows) {
    if (row.kind !== "lane") continue;
    const { lane } = row;
    for (let index = lane.firstEndingAfter(from); index < lane.length && lane.begins[index]! <= to; index += 1)
      entries.push({
        row, begin: lane.begins[index]!, end: lane.ends[index]!, status: lane.status(index),
        reason: lane.reasons.get(index) ?? "",
      });
  }
  return entries.sort((a, b) => b.begin - a.begin);
}
