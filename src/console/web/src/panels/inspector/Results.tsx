// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "react";
import { StatusIcon, shapeOf } from "../../design";
import { Part } from "../../operator/parts";
import { useChannel, useTime } from "../../store";
import { duration } from "../tree/text";

const SHOWN = 20;
const HEIGHT = 28;
const BAR = 9;

/** How a leaf ended the last times, and how long that took; a click goes to the moment. */
export function Results({ uid }: { uid: number }) {
  const spans = useChannel("spans");
  const [, goTo] = useTime();
  const ended = useMemo(
    () => spans.filter((span) => span[0] === uid && span[2] !== null).slice(-SHOWN), [spans, uid],
  );
  if (ended.length === 0) return null;
  const times = ended.map(([, begun, end]) => (end ?? begun) - begun);
  const longest = Math.max(...times, 0.001);
  return (
    <Part title="Last results">
      <svg
        className="results" viewBox={`0 0 ${SHOWN * BAR} ${HEIGHT}`} role="img"
        aria-label={`durations of the last ${ended.length}, the longest ${duration(longest)}`}
      >
        {ended.map(([, begun, , status], at) => {
          const height = Math.max(2, (times[at]! / longest) * (HEIGHT - 2));
          return (
            <rect
              key={`${begun}-${at}`} x={at * BAR} width={BAR - 2} y={HEIGHT - height} height={height}
              data-status={shapeOf(status)}
            />
          );
        })}
      </svg>
      <ul>
        {ended.slice(-5).reverse().map(([, begun, , status], at) => (
          <li key={`${begun}-${at}`}>
            <button type="button" className="link" onClick={() => goTo(begun)}>
              <StatusIcon status={shapeOf(status)} /> {`${begun.toFixed(1)} s, took ${duration(times[times.length - 1 - at]!)}`}
            </button>
          </li>
        ))}
      </ul>
    </Part>
  );
}
