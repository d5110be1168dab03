// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Empty, StatusIcon, type Shape } from "../../design";
import { useChannel, useSelection, type SceneObject } from "../../store";
import { lookOf } from "../scene3d/looks";
import { ObjectDetails } from "./ObjectDetails";
import "./objects.css";

const SHAPES: Record<SceneObject["state"], Shape> = {
  tracked: "success", stale: "skipped", frozen: "paused", attached: "running", lost: "failure",
  "": "idle",
};

/** The scene's objects with their states, and what is known of the selected one. */
export default function Objects() {
  const objects = useChannel("objects");
  const [selection, select] = useSelection();
  const [wanted, setWanted] = useState("");
  if (objects.size === 0)
    return <Empty waitsFor="the scene has no objects yet" todo="they come from its detections: behavior scene" />;
  const names = [...objects.keys()].filter((name) => matches(name, objects.get(name)!, wanted));
  return (
    <div className="objects">
      <input
        type="search" placeholder="Find an object" aria-label="Find an object" value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <ul aria-label="Objects of the scene">
        {names.sort().map((name) => (
          <li key={name}>
            <Row
              name={name} object={objects.get(name)!} chosen={name === selection.object}
              choose={() => select(name === selection.object ? {} : { object: name })}
            />
          </li>
        ))}
      </ul>
      {selection.object === undefined ? null : <ObjectDetails name={selection.object} />}
    </div>
  );
}

function Row({ name, object, chosen, choose }: {
  name: string; object: SceneObject; chosen: boolean; choose: () => void;
}) {
  const { word } = lookOf(object);
  return (
    <button type="button" aria-pressed={chosen} onClick={choose} title={`${name}: ${word || object.class}`.slice(0, 300)}>
      <StatusIcon status={SHAPES[object.state]} label={object.state || "unknown"} />
      <span className="object-name text">{name}</span>
      <span className="object-word text">{word === "" ? object.class : word}</span>
    </button>
  );
}

function matches(name: string, object: SceneObject, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return `${name} ${object.class} ${object.state}`.toLowerCase().includes(text);
}
