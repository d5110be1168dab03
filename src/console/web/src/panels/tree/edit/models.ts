// SPDX-License-Identifier: Apache-2.0
// What kinds of nodes there are, from `/api/models`: for the palette and for settings.
import { useEffect, useState } from "react";
import { apiJson } from "../../../store";
import { kindOf, type Kind } from "../model";

export interface PortModel {
  name: string;
  direction: "input" | "output" | "inout";
  type: string;
  /** Undefined: a text has to be given. */
  default?: string;
  description: string;
  /** Words that it may be; none: anything. */
  choices: readonly string[];
}

export interface NodeModel {
  id: string;
  kind: Kind;
  /** Who offers it. */
  package: string;
  description: string;
  ports: PortModel[];
  /** How many children it takes. */
  children: [number, number];
}

type Raw = Record<string, unknown>;

const CHILDREN: Record<Kind, [number, number]> = {
  control: [1, Infinity], decorator: [1, 1], action: [0, 0], condition: [0, 0], subtree: [0, 0],
};

/** Models as the server sends them; what is no model is left out. */
export function readModels(answer: unknown): NodeModel[] {
  const rows: unknown[] = Array.isArray(answer) ? answer : [];
  return rows
    .flatMap((each) => (isRaw(each) ? model(each) : []))
    .sort((a, b) => a.package.localeCompare(b.package) || a.id.localeCompare(b.id));
}

function model(raw: Raw): NodeModel[] {
  const id = text(raw.id);
  if (id === "") return [];
  const kind = kindOf(text(raw.kind));
  const ports: unknown[] = Array.isArray(raw.ports) ? raw.ports : [];
  const [least, most] = CHILDREN[kind];
  return [{
    id, kind, package: text(raw.package) || "behavior_tree", description: text(raw.description),
    ports: ports.flatMap((each) => (isRaw(each) ? port(each) : [])),
    children: [
      typeof raw.min_children === "number" ? raw.min_children : least,
      typeof raw.max_children === "number" ? raw.max_children : raw.max_children === null ? Infinity : most,
    ],
  }];
}

function port(raw: Raw): PortModel[] {
  const name = text(raw.name);
  if (name === "") return [];
  const direction = text(raw.direction);
  const given = raw.default === undefined || raw.default === null ? undefined : String(raw.default);
  const known = given ?? (raw.required === false || direction === "output" ? "" : undefined);
  return [{
    name, type: text(raw.type), description: text(raw.description),
    choices: Array.isArray(raw.choices) ? raw.choices.map(String) : [],
    direction: direction === "output" || direction === "inout" ? direction : "input",
    ...(known === undefined ? {} : { default: known }),
  }];
}

function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export interface Models {
  all: readonly NodeModel[];
  byId: ReadonlyMap<string, NodeModel>;
  /** Why there are none. */
  problem: string;
}

const NONE: Models = { all: [], byId: new Map(), problem: "" };
let asked: Promise<Models> | null = null;

/** The kinds of nodes: asked for once per page; after a failure the next panel asks again. */
export function nodeModels(): Promise<Models> {
  asked ??= apiJson<unknown>("/api/models").then(
    (answer) => {
      const all = readModels(answer);
      return { all, byId: new Map(all.map((each) => [each.id, each])), problem: "" };
    },
    (error: unknown) => {
      asked = null;
      return { ...NONE, problem: error instanceof Error ? error.message : String(error) };
    },
  );
  return asked;
}

/** The kinds of nodes that there are; none until the server has answered. */
export function useModels(): Models {
  const [models, setModels] = useState(NONE);
  useEffect(() => {
    let wanted = true;
    void nodeModels().then((found) => void (wanted && setModels(found)));
    return () => void (wanted = false);
  }, []);
  return models;
}
