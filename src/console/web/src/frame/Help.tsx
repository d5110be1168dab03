// SPDX-License-Identifier: Apache-2.0
import { Keys, StatusIcon, type Shape } from "../design";
import { useConsole, useValue } from "../store";
import { Dialog } from "./Dialog";

const SHAPES: [Shape, string][] = [
  ["running", "runs"], ["success", "succeeded"], ["failure", "failed"],
  ["unmet", "a condition is false, which is normal"], ["skipped", "skipped"],
  ["paused", "paused"], ["breakpoint", "breakpoint"], ["approval", "waits for your approval"],
  ["warning", "a warning"], ["fault", "an error, or a server is gone"], ["idle", "has not run"],
];

/** All keys, and what the shapes mean. */
export default function Help({ close }: { close: () => void }) {
  const commands = useValue(useConsole().commands.all).filter((each) => each.key !== undefined);
  return (
    <Dialog title="All keys" close={close}>
      <dl className="help-keys" tabIndex={0}>
        {commands.map((each) => (
          <div key={each.id}><dt><Keys of={each.key!} /></dt><dd>{each.title}</dd></div>
        ))}
      </dl>
      <h3>Shapes</h3>
      <ul className="help-shapes">
        {SHAPES.map(([shape, meaning]) => (
          <li key={shape}><StatusIcon status={shape} /> {meaning}</li>
        ))}
      </ul>
      <p className="help-note">
        STOP halts the robot by software. It is no safety function: in danger use the emergency stop.
      </p>
    </Dialog>
  );
}
