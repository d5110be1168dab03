// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "react";
import { useConsole, type Change, type Span } from "../../store";

/** Failures that are kept. */
const MOST = 5_000;

/** Spans that failed and said why, oldest first. */
export function useFailures(): readonly Span[] {
  const console = useConsole();
  const kept = useRef<readonly Span[]>([]);
  const [failures, setFailures] = useState<readonly Span[]>([]);
  useEffect(() => {
    const take = (change: Change) => {
      const spans = console.channels.current("spans");
      const fresh = (change.all ? spans : spans.slice(spans.length - change.added)).filter((span) => span[5]);
      if (!change.all && fresh.length === 0) return;
      kept.current = [...(change.all ? [] : kept.current), ...fresh].slice(-MOST);
      setFailures(kept.current);
    };
    take({ all: true, keys: [], added: 0 });
    return console.subscribe("spans", take);
  }, [console]);
  return failures;
}
