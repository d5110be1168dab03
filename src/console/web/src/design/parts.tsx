// SPDX-License-Identifier: Apache-2.0
import { useId, type ButtonHTMLAttributes, type ReactElement, type ReactNode, cloneElement } from "react";

type ButtonProperties = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: "main" | "quiet" | "stop";
};

export function Button({ look, className, ...rest }: ButtonProperties) {
  return (
    <button type="button" {...rest} className={`button ${className ?? ""}`} data-look={look} />
  );
}

interface FieldProperties {
  label: string;
  unit?: string | undefined;
  help?: string | undefined;
  /** Why the value cannot be taken. */
  problem?: string | undefined;
  /** An input, select or textarea. */
  children: ReactElement<Record<string, unknown>>;
}

/** An input with its label, unit, help and what is wrong with it. */
export function Field({ label, unit, help, problem, children }: FieldProperties) {
  const id = useId();
  const said = [help ? `${id}-help` : "", problem ? `${id}-problem` : ""].join(" ").trim();
  return (
    <div className="field">
      <label className="field-label text" htmlFor={id}>{label}</label>
      <div className="field-row">
        {cloneElement(children, {
          id,
          ...(said ? { "aria-describedby": said } : {}),
          ...(problem ? { "aria-invalid": true } : {}),
        })}
        {unit ? <span className="field-unit">{unit}</span> : null}
      </div>
      {problem ? <span id={`${id}-problem`} className="field-problem text" role="alert">{problem}</span> : null}
      {help ? <span id={`${id}-help`} className="field-help text">{help}</span> : null}
    </div>
  );
}

/** Why there is nothing here, and what to do about it. */
export function Empty({ waitsFor, todo, children }: {
  waitsFor: string; todo?: string | undefined; children?: ReactNode;
}) {
  return (
    <div className="empty" role="status">
      <strong className="text">{waitsFor}</strong>
      {todo ? <span className="text">{todo}</span> : null}
      {children}
    </div>
  );
}

const NAMES: Record<string, string> = { Escape: "Esc", Control: "Ctrl", " ": "Space" };

/** A key combination, as `Command.key` writes it. */
export function Keys({ of }: { of: string }) {
  const parts = of === "+" ? ["+"] : of.split("+");
  return (
    <span className="keys">
      {parts.map((part) => <kbd key={part}>{NAMES[part] ?? part}</kbd>)}
    </span>
  );
}
