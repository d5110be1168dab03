// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "react";
import { useChannel, useConsole, type Selection } from "../../store";

/** A piece of a text, and what it names. */
export interface Piece {
  text: string;
  names: "" | "object" | "server";
}

const ESCAPED = /[^\w]/g;

/** A text in pieces, where it names objects or servers that there are; whole words only, the longest first. */
export function piecesOf(text: string, objects: readonly string[], servers: readonly string[]): Piece[] {
  const kinds = new Map([...servers.map((name) => [name, "server"] as const), ...objects.map((name) => [name, "object"] as const)]);
  const names = [...kinds.keys()].filter((name) => name !== "").sort((one, other) => other.length - one.length);
  if (names.length === 0 || text === "") return [{ text, names: "" }];
  const any = names.map((name) => name.replace(ESCAPED, "\\$&")).join("|");
  return text
    .split(new RegExp(`(?<!\\w)(${any})(?!\\w)`))
    .filter((part) => part !== "")
    .map((part) => ({ text: part, names: kinds.get(part) ?? "" }));
}

/** A text whose names of objects and servers lead to them. */
export function Linked({ text }: { text: string }) {
  const console = useConsole();
  const objects = useChannel("objects");
  const health = useChannel("health");
  const pieces = useMemo(() => piecesOf(text, [...objects.keys()], [...health.keys()]), [text, objects, health]);
  const show = (selection: Selection, panel: string) => {
    console.selection.set(selection);
    console.showPanel(panel);
  };
  return (
    <>
      {pieces.map(({ text: part, names }, index) =>
        names === "" ? <span key={index}>{part}</span> : (
          <button
            key={index} type="button" className="link text"
            onClick={() => (names === "object" ? show({ object: part }, "scene") : show({ server: part }, "inspector"))}
          >
            {part}
          </button>
        ),
      )}
    </>
  );
}
