// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "react";
import { StatusIcon } from "../../design";
import { useConsole, useValue, type Value } from "../../store";
import type { Scene } from "./scene";
import { duration, oneLine } from "./text";

const MOST = 6;
/** [ms] Who reads cannot follow what changes faster. */
const REST = 200;

/** What runs now, the latest first; a click selects it. */
export function RunningNow({ scene }: { scene: Scene }) {
  const console = useConsole();
  const running = useSlowly(scene.running);
  const model = useValue(scene.model);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const show = () => {
      const times = list.current?.querySelectorAll("time") ?? [];
      running.slice(0, MOST).forEach((index, at) => {
        const time = times[at];
        if (time) time.textContent = duration(scene.now() - scene.states.since[index]!);
      });
    };
    show();
    const timer = window.setInterval(show, REST);
    return () => window.clearInterval(timer);
  }, [scene, running]);
  return (
    <ul ref={list} className="tree-running" aria-label="Running now">
      {running.length === 0 ? <li className="tree-quiet">nothing runs</li> : null}
      {running.slice(0, MOST).map((index) => {
        const card = model.cards[index];
        return card === undefined ? null : (
          <li key={card.uid}>
            <button type="button" onClick={() => console.selection.set({ node: card.uid })}>
              <StatusIcon status="running" />
              <span className="text">{oneLine(card.name, 40)}</span>
              <time aria-hidden="true" />
            </button>
          </li>
        );
      })}
      {running.length > MOST ? <li className="tree-quiet">{`and ${running.length - MOST} more`}</li> : null}
    </ul>
  );
}

/** A value at once after a rest, and then not more often than people can read. */
function useSlowly<T>(value: Value<T>): T {
  const [shown, show] = useState(value.get);
  useEffect(() => {
    let timer = 0;
    const take = () => {
      timer = 0;
      show(() => value.get());
    };
    let taken = -Infinity;
    const changed = () => {
      if (timer !== 0) return;
      const rest = taken + REST - performance.now();
      taken = performance.now() + Math.max(0, rest);
      if (rest <= 0) take();
      else timer = window.setTimeout(take, rest);
    };
    changed();
    const stop = value.subscribe(changed);
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [value]);
  return shown;
}
