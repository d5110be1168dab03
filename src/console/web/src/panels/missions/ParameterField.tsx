// SPDX-License-Identifier: Apache-2.0
import { useId, type InputHTMLAttributes } from "react";
import { Button, Field } from "../../design";
import { useChannel, useConsole, type MissionParameter } from "../../store";
import { isNumber, namesOf } from "./form";

interface Properties {
  parameter: MissionParameter;
  value: string;
  problem: string | undefined;
  set: (value: string) => void;
}

/** One parameter, by what it is: a choice, yes or no, something of the scene, a number, a text. */
export function ParameterField({ parameter, value, problem, set }: Properties) {
  const { choices = [], of = "" } = parameter;
  if (of === "objects" || of === "frames") return <Several {...{ parameter, value, problem, set }} />;
  if (of === "object" || of === "frame") return <OfScene {...{ parameter, value, problem, set }} />;
  if (of === "place") return <Place {...{ parameter, value, problem, set }} />;
  const change = (event: { target: { value: string } }) => set(event.target.value);
  const field = { label: parameter.name, unit: parameter.unit, help: helpOf(parameter), problem };
  if (choices.length > 0) return <Field {...field}>{options(choices, value, change)}</Field>;
  if (parameter.type === "bool")
    return (
      <Field {...field}>
        <input
          type="checkbox" checked={/^(true|1)$/i.test(value)}
          onChange={(event) => set(String(event.target.checked))}
        />
      </Field>
    );
  return (
    <Field {...field}>
      <input
        value={value} onChange={change} autoComplete="off" spellCheck={false}
        inputMode={isNumber(parameter) ? "decimal" : "text"}
        required={parameter.default === null}
      />
    </Field>
  );
}

/** Description and limits in one line. */
export function helpOf(parameter: MissionParameter): string {
  const { minimum = null, maximum = null } = parameter;
  const limits =
    minimum !== null && maximum !== null ? `${minimum} to ${maximum}`
    : minimum !== null ? `at least ${minimum}`
    : maximum !== null ? `at most ${maximum}` : "";
  const about = (parameter.description ?? "").replace(parameter.unit ? `[${parameter.unit}]` : "", "");
  return [about.replace(/\s+/g, " ").trim(), limits].filter((text) => text !== "").join(", ");
}

function options(
  names: readonly string[], value: string, change: (event: { target: { value: string } }) => void,
) {
  const shown = names.includes(value) ? names : [value, ...names];
  return (
    <select value={value} onChange={change}>
      {shown.map((name) => (
        <option key={name} value={name}>
          {name === "" ? "choose …" : names.includes(name) ? name : `${name} (not seen now)`}
        </option>
      ))}
    </select>
  );
}

function useNames(of: MissionParameter["of"]): string[] {
  const objects = useChannel("objects");
  const transforms = useChannel("transforms");
  return [...(of?.startsWith("frame") ? transforms : objects).keys()].sort();
}

function OfScene({ parameter, value, problem, set }: Properties) {
  const names = useNames(parameter.of);
  return (
    <Field label={parameter.name} help={helpOf(parameter)} problem={problem}>
      {options(names, value, (event) => set(event.target.value))}
    </Field>
  );
}

const MILLIMETRES = 1e3;

/** `x;y` on the ground: typed, or set by dragging in 3D or on the map. */
function Place({ parameter, value, problem, set }: Properties) {
  const console = useConsole();
  const map = useChannel("map");
  const objects = useChannel("objects");
  const drag = () => {
    const [x = 0, y = 0] = value.split(";").map(Number).filter(Number.isFinite);
    const frame = map?.frame ?? [...objects.values()][0]?.frame ?? "world";
    console.goal.set({
      label: parameter.name, verb: "Use", frame, pose: [x, y, 0, 0, 0, 0, 1], flat: map !== undefined,
      take: ({ pose }) => set(pose.slice(0, 2).map((each) => String(Math.round(MILLIMETRES * each) / MILLIMETRES)).join(";")),
    });
    console.showPanel(map === undefined ? "scene" : "map");
  };
  return (
    <Field label={parameter.name} unit={parameter.unit} help={helpOf(parameter)} problem={problem}>
      <Dragged
        value={value} onChange={(event) => set(event.target.value)} required={parameter.default === null}
        drag={drag} where={map === undefined ? "Set in 3D" : "Set on the map"}
      />
    </Field>
  );
}

function Dragged({ drag, where, ...input }: { drag: () => void; where: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <span className="place">
      <input autoComplete="off" spellCheck={false} {...input} />
      <Button onClick={drag}>{where}</Button>
    </span>
  );
}

/** An ordered list of objects or frames. */
function Several({ parameter, value, problem, set }: Properties) {
  const id = useId();
  const there = useNames(parameter.of);
  const names = namesOf(value);
  const put = (next: string[]) => set(next.join(";"));
  const swap = (index: number, other: number) =>
    put(names.map((name, at) => (at === index ? names[other]! : at === other ? names[index]! : name)));
  return (
    <fieldset className="field several" aria-describedby={`${id}-help`} aria-invalid={Boolean(problem)}>
      <legend className="field-label text">{parameter.name}</legend>
      <ol>
        {names.map((name, index) => (
          <li key={`${name} ${index}`} className="several-item">
            <span className="text">{name}{there.includes(name) ? "" : " (not seen now)"}</span>
            <Button look="quiet" aria-label={`${name} earlier`} disabled={index === 0} onClick={() => swap(index, index - 1)}>↑</Button>
            <Button look="quiet" aria-label={`${name} later`} disabled={index === names.length - 1} onClick={() => swap(index, index + 1)}>↓</Button>
            <Button look="quiet" aria-label={`without ${name}`} onClick={() => put(names.filter((_, at) => at !== index))}>×</Button>
          </li>
        ))}
      </ol>
      <select
        aria-label={`add to ${parameter.name}`} value=""
        onChange={(event) => put([...names, event.target.value])}
      >
        <option value="">add …</option>
        {there.filter((name) => !names.includes(name)).map((name) => <option key={name}>{name}</option>)}
      </select>
      {problem ? <span className="field-problem text" role="alert">{problem}</span> : null}
      <span id={`${id}-help`} className="field-help text">{helpOf(parameter)}</span>
    </fieldset>
  );
}
