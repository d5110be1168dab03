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

/** Models as the server sends them: a list, or a map by ID; what is no model is left out. */
export function readModels(answer: unknown): NodeModel[] {
  const content = isRaw(answer) && "models" in answer ? answer.models : answer;
  const entries: [string, unknown][] = Array.isArray(content)
    ? content.map((each: unknown) => ["", each])
    : isRaw(content) ? Object.entries(content) : [];
  return entries
    .flatMap(([id, each]) => (isRaw(each) ? model(id, each) : []))
    .sort((a, b) => a.package.localeCompare(b.package) || a.id.localeCompare(b.id));
}

function model(key: string, raw: Raw): NodeModel[] {
  const id = text(raw.id ?? raw.ID ?? raw.registration_id ?? key);
  if (id === "") return [];
  const kind = kindOf(text(raw.kind ?? raw.type));
  const ports: [string, unknown][] = Array.isArray(raw.ports)
    ? raw.ports.map((each: unknown) => ["", each])
    : Object.entries(isRaw(raw.ports) ? raw.ports : {});
  const [least, most] = CHILDREN[kind];
  return [{
    id, kind, package: text(raw.package) || "behavior_tree", description: text(raw.description),
    ports: ports.flatMap(([name, each]) => (isRaw(each) ? port(name, each) : [])),
    children: [
      typeof raw.min_children === "number" ? raw.min_children : least,
      typeof raw.max_children === "number" ? raw.max_children : most,
    ],
  }];
}

function port(key: string, raw: Raw): PortModel[] {
  const name = text(raw.name ?? key);
  if (name === "") return [];
  const direction = text(raw.direction).toLowerCase();
  const given = raw.default === undefined || raw.default === null ? undefined : String(raw.default);
  const known = given ?? (raw.required === false || direction === "output" ? "" : undefined);
  return [{
    name, type: text(raw.type), description: text(raw.description),
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
