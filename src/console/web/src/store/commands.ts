// SPDX-License-Identifier: Apache-2.0
import type { Role } from "./types";
import { Value } from "./value";

/** Something that a person may do, by the palette or a key. */
export interface Command {
  id: string;
  title: string;
  /** As `keyOf` writes it: "Ctrl+K", "Shift+Escape", ".", "?". */
  key?: string;
  /** What it takes to do it; without it the palette does not offer it. */
  role: Role;
  run(): void;
}

/** All that can be done now, in the order of registration. */
export class Commands {
  readonly all = new Value<readonly Command[]>([]);

  /** Adds a command until the function returned is called; a later one of the same id hides it. */
  add(command: Command): () => void {
    this.all.set([...this.all.get().filter((each) => each.id !== command.id), command]);
    return () => this.all.set(this.all.get().filter((each) => each !== command));
  }

  /** Runs what stands on the event's key; whether there was something. */
  handle(event: KeyboardEvent, may: (role: Role) => boolean): boolean {
    const key = keyOf(event);
    if (isTyping(event.target) && !key.startsWith("Ctrl+") && key !== "Shift+Escape") return false;
    if (key === "Space" && isPressed(event.target)) return false;
    const command = this.all.get().findLast((each) => each.key === key && may(each.role));
    command?.run();
    return command !== undefined;
  }
}

/** The event's key with its modifiers; Shift only where the key itself does not show it. */
export function keyOf(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const name = event.key === " " ? "Space" : event.key;
  const letter = name.length === 1 && name.toLowerCase() !== name.toUpperCase();
  const shift = event.shiftKey && (letter || name.length > 1) ? "Shift+" : "";
  return control + shift + (letter ? name.toUpperCase() : name);
}

/** What Space presses by itself: it must not do something else, too. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, a, summary, [role=button], [role=tab]") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
