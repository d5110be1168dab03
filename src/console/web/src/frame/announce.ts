// SPDX-License-Identifier: Apache-2.0
import { Value } from "../store";

/** The last answer that a person should see. */
export interface Notice {
  text: string;
  level: "info" | "error";
}

export const notice = new Value<Notice | null>(null);

/** Shows a sentence at the lower edge until the next one. */
export function announce(text: string, level: Notice["level"]): void {
  notice.set(text === "" ? null : { text, level });
}

export function useAnnounce(): typeof announce {
  return announce;
}
