// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from "react";
import { useConsole, type Answer } from "../store";

/** A command of a panel: what was answered last, and whether an answer is still to come. */
export interface Ask {
  ask(name: string, args?: Record<string, unknown>): Promise<Answer>;
  busy: boolean;
  answer: Answer | null;
  forget(): void;
}

/** Sends commands whose answers are shown where they were asked for. */
export function useAsk(): Ask {
  const console = useConsole();
  const [waiting, setWaiting] = useState(0);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const ask = useCallback(
    async (name: string, args: Record<string, unknown> = {}) => {
      setWaiting((count) => count + 1);
      const found = await console.send(name, args);
      setWaiting((count) => count - 1);
      setAnswer(found);
      return found;
    },
    [console],
  );
  const forget = useCallback(() => setAnswer(null), []);
  return { ask, busy: waiting > 0, answer, forget };
}
