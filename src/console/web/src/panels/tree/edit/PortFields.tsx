// SPDX-License-Identifier: Apache-2.0
import { useId, useMemo } from "react";
import { Field } from "../../../design";
import { useChannel } from "../../../store";
import type { PortModel } from "./models";
import { suggestions, unfit, type World } from "./operations";

/** One field per port, by its model: type, unit, default, what may be chosen, and what is wrong. */
export function PortFields({ ports, texts, onChange, focus = "" }: {
  ports: readonly PortModel[];
  texts: Readonly<Record<string, string>>;
  onChange: (name: string, text: string) => void;
  /** The port whose field has the focus when it is shown. */
  focus?: string;
}) {
  const world = useWorld();
  const id = useId();
  return ports.map((port) => {
    const text = texts[port.name] ?? "";
    const arrow = port.direction === "input" ? "" : port.direction === "output" ? " →" : " ↔";
    const list = suggestions(port, texts, world);
    return (
      <div key={port.name}>
        <Field
          label={`${port.name}${arrow}  ${shortType(port.type)}`} help={port.description || undefined}
          unit={/\[([^\]\s]{1,12})\]/.exec(port.description)?.[1]}
          problem={text === "" ? undefined : unfit(port, text) || undefined}
        >
          <input
            value={text} placeholder={port.default ?? "has to be given"} spellCheck={false}
            autoFocus={focus === port.name} className="mono" autoComplete="off"
            list={list.length > 0 ? `${id}-${port.name}` : undefined}
            onChange={(event) => onChange(port.name, event.target.value)}
          />
        </Field>
        {list.length === 0 ? null : (
          <datalist id={`${id}-${port.name}`}>
            {list.map(({ text: choice, label }) => <option key={choice} value={choice}>{label}</option>)}
          </datalist>
        )}
      </div>
    );
  });
}

/** A type without the modules that it is in. */
function shortType(type: string): string {
  return type.replace(/[\w]+(::|\.)(?=[\w<])/g, "");
}

function useWorld(): World {
  const scene = useChannel("objects");
  const blackboard = useChannel("blackboard");
  return useMemo(() => ({
    objects: Object.fromEntries([...scene].map(([name, { shape, size }]) => [name, height(shape, size)])),
    entries: [...new Set([...blackboard.keys()].map((key) => key.split("/").at(-1) ?? key))].slice(0, 200),
  }), [scene, blackboard]);
}

/** Height [m] of a shape that stands upright; 0: unknown. */
function height(shape: string, size: readonly number[]): number {
  if (shape === "box") return size[2] ?? 0;
  if (shape === "sphere") return 2 * (size[0] ?? 0);
  return shape === "cylinder" ? size[0] ?? 0 : 0;
}
