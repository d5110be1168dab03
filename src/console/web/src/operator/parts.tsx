// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from "react";
import { Button, StatusIcon } from "../design";
import { useChannel, useConsole, useMay, useTime, useValue } from "../store";
import type { Ask } from "./useAsk";
import "./operator.css";

/** What was answered, where it was asked for. */
export function Said({ by }: { by: Ask }) {
  if (by.busy) return <p className="said" role="status">waits for an answer …</p>;
  if (by.answer === null || by.answer.message === "") return null;
  return (
    <p className="said text" data-ok={by.answer.ok} role={by.answer.ok ? "status" : "alert"}>
      {by.answer.ok ? null : <StatusIcon status="failure" label="refused" />} {by.answer.message}
    </p>
  );
}

/** Why nothing can be done here just now; empty: it can. */
export function useHindrance(role: "operate" | "edit" = "operate"): string {
  const console = useConsole();
  const welcome = useValue(console.connection.welcome);
  const controller = useChannel("controller");
  const may = useMay(role);
  const [at] = useTime();
  if (at !== null) return "This is the past: go live (L) to act.";
  if (!may) return "This page may only watch: open it by the address that 'behavior console' prints.";
  const holder = controller?.holder ?? null;
  if (holder !== null && holder.number !== welcome?.number) return `${holder.name} has control.`;
  return "";
}

/** Says why nothing can be done here, if so, and what to do about it. */
export function Hindrance({ why }: { why: string }) {
  const console = useConsole();
  if (why === "") return null;
  return (
    <p className="hindrance text" role="status">
      {why}
      {why.endsWith("has control.") ? (
        <Button onClick={() => void console.send("control.ask")}>Ask for control</Button>
      ) : null}
    </p>
  );
}

/** A part of a panel with its heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A tree node by its path: its name leads to it. */
export function NodeLink({ path }: { path: string }) {
  const console = useConsole();
  const tree = useChannel("tree");
  const node = tree?.nodes.find((each) => each[5] === path);
  if (node === undefined) return <span className="text" title={path}>{path.split("/").at(-1) ?? path}</span>;
  const name = node[3] || node[2];
  const show = () => {
    console.selection.set({ node: node[0] });
    console.showPanel("tree");
  };
  return <button type="button" className="link text" title={path} onClick={show}>{name}</button>;
}
