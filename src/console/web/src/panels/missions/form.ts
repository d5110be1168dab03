// SPDX-License-Identifier: Apache-2.0
import type { MissionParameter } from "../../store";

/** What a form's fields hold, by the parameter's name. */
export type Values = Record<string, string>;
/** Why values cannot be taken, by the parameter's name. */
export type Problems = Record<string, string>;

const INTEGERS = ["int", "unsigned int", "int64_t"];
const NUMBERS = [...INTEGERS, "double", "float"];

/** What the fields hold at first. */
export function defaults(parameters: readonly MissionParameter[]): Values {
  return Object.fromEntries(parameters.map((each) => [each.name, each.default ?? ""]));
}

export function isNumber(parameter: MissionParameter): boolean {
  return NUMBERS.includes(parameter.type);
}

/** Why a parameter does not take a text; empty: it does. The executor has the last word. */
export function problemOf(parameter: MissionParameter, text: string): string {
  if (text.trim() === "") {
    const needed = parameter.default === null || (isNumber(parameter) && parameter.default !== "");
    return needed ? "it must be given" : "";
  }
  const { choices = [] } = parameter;
  if (choices.length > 0 && !choices.includes(text)) return `choose of ${choices.join(", ")}`;
  if (parameter.type === "bool" && !/^(true|false|0|1)$/i.test(text.trim())) return "true or false";
  return isNumber(parameter) ? numberProblem(parameter, text.trim()) : "";
}

function numberProblem(parameter: MissionParameter, text: string): string {
  const whole = INTEGERS.includes(parameter.type);
  if (whole && !/^[+-]?\d+$/.test(text)) return "a whole number";
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value)) return "a number, with a point: 0.25";
  const least = parameter.minimum ?? (parameter.type === "unsigned int" ? 0 : null);
  const most = parameter.maximum ?? null;
  const unit = parameter.unit ? ` ${parameter.unit}` : "";
  if (least !== null && !(value >= least)) return `at least ${least}${unit}`;
  if (most !== null && !(value <= most)) return `at most ${most}${unit}`;
  return "";
}

/** All problems of a form. */
export function problemsOf(parameters: readonly MissionParameter[], values: Values): Problems {
  const found = parameters.map((each) => [each.name, problemOf(each, values[each.name] ?? "")]);
  return Object.fromEntries(found.filter(([, problem]) => problem !== ""));
}

/** What is sent: the values that are not the defaults. */
export function toSend(parameters: readonly MissionParameter[], values: Values): Values {
  const changed = parameters.filter(
    (each) => (values[each.name] ?? "") !== (each.default ?? "") || each.default === null,
  );
  return Object.fromEntries(changed.map((each) => [each.name, values[each.name] ?? ""]));
}

/** What is at the fields of an answer that refuses; problems of other parameters stay in its text. */
export function refusedFields(value: unknown): Problems {
  const problems = (value as { problems?: unknown } | null | undefined)?.problems;
  if (typeof problems !== "object" || problems === null) return {};
  return Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, String(text)]));
}

/** Lines `KEY = VALUE` of a mission whose parameters nobody knows; rejects with a sentence. */
export function freeValues(text: string): Values {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`'${line.trim()}' is not of the form KEY = VALUE`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** Names of a list with semicolons between them. */
export function namesOf(text: string): string[] {
  return text.split(";").map((name) => name.trim()).filter((name) => name !== "");
}
