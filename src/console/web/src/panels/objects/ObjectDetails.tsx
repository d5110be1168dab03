// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Button, Empty } from "../../design";
import {
  useChannel, useConsole, useMay, type Answer, type Pose, type SceneObject,
} from "../../store";
import { lookOf } from "../scene3d/looks";

const DEGREES = 180 / Math.PI;

/** What is known of one object, and what can be done with it: for the inspector and the list. */
export function ObjectDetails({ name }: { name: string }) {
  const object = useChannel("objects").get(name);
  if (object === undefined)
    return <Empty waitsFor={`the scene has no object '${name}' now`} todo="it comes back when it is seen again" />;
  return (
    <section className="object-details" aria-label={`Object ${name}`}>
      <h3 className="text">{name}</h3>
      {object.text === "" ? null : <p className="text">{object.text}</p>}
      <dl>
        {rows(object).map(([term, value]) => (
          <div key={term}><dt>{term}</dt><dd className="text">{value}</dd></div>
        ))}
      </dl>
      <Acts name={name} object={object} />
    </section>
  );
}

/** Terms and values with units; what is not known is left out. */
export function rows(object: SceneObject): [string, string][] {
  const [x, y, z] = object.pose;
  const { word } = lookOf(object);
  const sigma = object.deviation.slice(0, 3);
  const all: [string, string][] = [
    ["state", word === "" ? object.state : word],
    ["class", object.class],
    ["position", `${[x, y, z].map((value) => value.toFixed(3)).join(", ")} m in ${object.frame}`],
    ["turn", `${rollPitchYaw(object.pose).map((angle) => (angle * DEGREES).toFixed(0)).join(", ")}° about x, y, z`],
    ["uncertain by", sigma.some((value) => value > 0)
      ? `${sigma.map((value) => (value * 1000).toFixed(1)).join(", ")} mm` : ""],
    ["size", sizeText(object)],
    ["seen", object.seen === null ? "" : `${Math.max(0, object.t - object.seen).toFixed(1)} s ago`],
    ["confidence", object.seen === null ? "" : `${(object.confidence * 100).toFixed(0)} %`],
    ["from", object.sources.join(", ")],
  ];
  return all.filter(([, value]) => value !== "");
}

/** Angles about x, y and z [rad], as REP-103 orders them. */
export function rollPitchYaw([, , , x, y, z, w]: Pose): [number, number, number] {
  const pitch = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(pitch),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ];
}

function sizeText({ shape, size }: SceneObject): string {
  const text = size.map((value) => (value * 1000).toFixed(0));
  if (shape === "box") return `${text.join(" × ")} mm`;
  if (shape === "sphere") return `radius ${text[0]} mm`;
  return shape === "none" || size.length < 2 ? "" : `${shape}, height ${text[0]}, radius ${text[1]} mm`;
}

function Acts({ name, object }: { name: string; object: SceneObject }) {
  const console = useConsole();
  const may = useMay("operate");
  const [said, setSaid] = useState<Answer | null>(null);
  const frozen = object.state === "frozen";
  const freeze = async () => {
    setSaid(await console.send("scene.freeze", { names: [name], freeze: !frozen }));
  };
  return (
    <div className="object-acts">
      <Button onClick={() => console.showPanel("scene")}>Show in 3D</Button>
      <Button
        disabled={!may} onClick={() => void freeze()}
        title={may ? "" : "to act, open the page by the address that 'behavior console' prints"}
      >
        {frozen ? "Let it follow again" : "Freeze here"}
      </Button>
      {said === null || said.ok ? null : <p className="object-problem text" role="alert">{said.message}</p>}
    </div>
  );
}
