// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useState } from "react";
import { Button, Empty } from "../../design";
import { apiJson } from "../../store";
import "./records.css";

/** A recording that the server offers. */
interface RecordRow {
  id: string;
  /** [bytes] */
  size: number;
  /** [s] since 1970. */
  modified: number;
}

type Listed = { rows: readonly RecordRow[] } | { problem: string } | null;

/** Recordings of the machine that the console runs on, each a link to the same page on that run. */
export default function Records() {
  const [listed, look] = useRecords();
  const shown = new URLSearchParams(location.search).get("record");
  if (listed === null) return <Empty waitsFor="looking for recordings" />;
  if ("problem" in listed)
    return <Empty waitsFor="recordings cannot be listed" todo={listed.problem}><Button onClick={look}>Look again</Button></Empty>;
  return (
    <section className="records" aria-label="Recordings">
      <div className="records-tools">
        {shown === null ? null : <a className="button" href={linkTo(null)}>Back to the running stack</a>}
        <Button look="quiet" onClick={look}>Look again</Button>
      </div>
      {listed.rows.length === 0
        ? <Empty waitsFor="there are no recordings yet" todo="record a run: behavior up record:=true, or behavior record" />
        : <Rows rows={listed.rows} shown={shown} />}
    </section>
  );
}

function Rows({ rows, shown }: { rows: readonly RecordRow[]; shown: string | null }) {
  return (
    <ul>
      {rows.map(({ id, size, modified }) => (
        <li key={id}>
          <a href={linkTo(id)} aria-current={id === shown ? "page" : undefined}>
            <span className="text">{id}</span>
            <small>{new Date(modified * 1000).toLocaleString()}, {(size / 1e6).toFixed(1)} MB</small>
          </a>
        </li>
      ))}
    </ul>
  );
}

function useRecords(): [Listed, () => void] {
  const [listed, setListed] = useState<Listed>(null);
  const look = useCallback(() => {
    apiJson<RecordRow[]>("/api/records").then(
      (rows) => setListed({ rows }), (error: Error) => setListed({ problem: error.message }),
    );
  }, []);
  useEffect(look, [look]);
  return [listed, look];
}

/** This page on a recording, or live: another run, so that selection and moment are left behind. */
function linkTo(record: string | null): string {
  return record === null ? "?layout=operate" : `?${new URLSearchParams({ record, layout: "replay" }).toString()}`;
}
