// SPDX-License-Identifier: Apache-2.0
import { Field } from "../../../design";
import type { PortModel } from "./models";
import { unfit } from "./operations";

/** One field per port, by its model: type, default, description, and what is wrong. */
export function PortFields({ ports, texts, onChange, onDone, focus = false, disabled = false }: {
  ports: readonly PortModel[];
  texts: Readonly<Record<string, string>>;
  onChange: (name: string, text: string) => void;
  /** A field was left, or Enter pressed. */
  onDone?: (name: string) => void;
  focus?: boolean;
  disabled?: boolean;
}) {
  return ports.map((port, at) => {
    const text = texts[port.name] ?? "";
    const arrow = port.direction === "input" ? "" : port.direction === "output" ? " →" : " ↔";
    return (
      <Field
        key={port.name} label={`${port.name}${arrow}  ${port.type}`} help={port.description || undefined}
        problem={text === "" ? undefined : unfit(port, text) || undefined}
      >
        <input
          value={text} placeholder={port.default ?? "has to be given"} disabled={disabled} spellCheck={false}
          autoFocus={focus && at === 0} className="mono"
          onChange={(event) => onChange(port.name, event.target.value)}
          onBlur={() => onDone?.(port.name)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && onDone !== undefined) onDone(port.name);
          }}
        />
      </Field>
    );
  });
}
