// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useState } from "react";
import { useConsole } from "../../store";

/** [s] between two moments that are asked for while it plays. */
const PERIOD = 0.1;

/** Plays on from the moment that is shown, or from `begin` [s], at a speed, to the end. */
export function usePlayback(begin: () => number | null): { playing: boolean; speed: number; toggle: () => void; setSpeed: (speed: number) => void } {
  const console = useConsole();
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  useEffect(() => {
    if (!playing) return undefined;
    let last = performance.now();
    const timer = setInterval(() => {
      const passed = (performance.now() - last) / 1000;
      last += passed * 1000;
      const at = console.at.get();
      const next = (at ?? Infinity) + passed * speed;
      const ends = next >= console.connection.now.get();
      if (at !== null) console.at.set(ends ? null : next);
      if (ends) setPlaying(false);
    }, PERIOD * 1000);
    return () => clearInterval(timer);
  }, [console, playing, speed]);
  const toggle = useCallback(() => {
    if (console.at.get() === null) console.at.set(begin());
    setPlaying((was) => !was && console.at.get() !== null);
  }, [begin, console]);
  return { playing, speed, setSpeed, toggle };
}
