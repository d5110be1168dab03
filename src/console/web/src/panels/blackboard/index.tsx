// SPDX-License-Identifier: Apache-2.0
import { useState, type KeyboardEvent } from "react";
import { Button, Empty } from "../../design";
import { Hindrance, useHindrance } from "../../operator/parts";
import { useChannel, useConsole } from "../../store";
import { boardsOf, type Board, type Row } from "./entries";
import "../../operator/operator.css";
import "./blackboard.css";

/** The values that the tree's nodes hand to each other; plain ones may be written. */
export default function Blackboard() {
  const entries = useChannel("blackboard");
  const tree = useChannel("tree");
  const hindrance = useHindrance("edit");
  const [filter, setFilter] = useState("");
  if (entries.size === 0)
    return tree === undefined
      ? <Empty waitsFor="no tree runs yet" todo="start a mission: its values stand here" />
      : <Empty waitsFor="this tree has written no values yet" />;
  const boards = boardsOf(entries, filter);
  return (
    <div className="operator">
      <Hindrance why={hindrance.endsWith("has control.") ? hindrance : ""} />
      <input
        className="missions-filter" type="search" placeholder={`filter ${entries.size} values`} aria-label="Filter values"
        value={filter} onChange={(event) => setFilter(event.target.value)}
      />
      {boards.map((each) => <BoardTable key={each.board} board={each} writable={hindrance === ""} />)}
      {boards.length === 0 ? <p className="said">no value has '{filter}' in its name or text</p> : null}
    </div>
  );
}

function BoardTable({ board, writable }: { board: Board; writable: boolean }) {
  return (
    <table className="values">
      <caption className="text">{board.board === "" ? "main tree" : board.board}</caption>
      <thead className="unseen"><tr><th>key</th><th>value</th><th>type</th></tr></thead>
      <tbody>
        {board.rows.map((row) => <ValueRow key={row.place} row={row} writable={writable && row.writable} />)}
      </tbody>
    </table>
  );
}

function ValueRow({ row, writable }: { row: Row; writable: boolean }) {
  const console = useConsole();
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const send = async () => {
    const answer = await console.send("blackboard.set", { key: row.place, value: draft ?? "" });
    setProblem(answer.ok ? "" : answer.message);
    if (answer.ok) setDraft(null);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") void send();
    if (event.key === "Escape") setDraft(null);
  };
  return (
    <tr>
      <th scope="row" className="text">{row.key}</th>
      <td>
        {draft === null ? (
          <span className="values-value mono text">{row.text === "" ? "''" : row.text}</span>
        ) : (
          <input
            className="mono" aria-label={`New value of ${row.place}`} autoFocus value={draft}
            aria-invalid={problem !== ""} onChange={(event) => setDraft(event.target.value)} onKeyDown={press}
          />
        )}
        {problem && draft !== null ? <span className="field-problem text" role="alert">{problem}</span> : null}
      </td>
      <td className="values-type">
        {draft !== null ? (
          <><Button look="main" onClick={() => void send()}>Set</Button><Button look="quiet" onClick={() => setDraft(null)}>Cancel</Button></>
        ) : writable ? (
          <Button look="quiet" aria-label={`Change ${row.place}`} onClick={() => { setProblem(""); setDraft(row.text); }}>Change</Button>
        ) : null}
        {draft === null ? <span className="text">{row.type.replace("std::", "")}</span> : null}
      </td>
    </tr>
  );
}
