// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Button } from "../../design";
import { useConsole, useValue, type Goal, type Pose } from "../../store";

/** A pose as ports and parameters of missions take it. */
export function goalText(goal: Goal): string {
  return [goal.frame, ...goal.pose.map((value) => Number(value.toFixed(4)))].join(";");
}

/** Heading of a pose about z [rad]. */
export function heading([, , , x, y, z, w]: Pose): number {
  return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

/** What is being set by dragging, its numbers, and whether it is used. */
export function GoalBar({ turning, setTurning, flat }: {
  turning: boolean; setTurning: (turning: boolean) => void; flat: boolean;
}) {
  const console = useConsole();
  const goal = useValue(console.goal);
  const [copied, setCopied] = useState("");
  if (goal === null || goal.flat !== flat) return null;
  const [x, y, z] = goal.pose;
  const degrees = (heading(goal.pose) * 180) / Math.PI;
  const use = (how: (goal: Goal) => void) => {
    console.goal.set(null);
    how(goal);
  };
  const copy = () => void navigator.clipboard.writeText(goalText(goal)).then(
    () => setCopied("copied"), () => setCopied(goalText(goal)),
  );
  return (
    <div className="goal-bar" role="group" aria-label={`Pose: ${goal.label}`}>
      <span className="text">{goal.label}</span>
      <span className="mono">
        {x.toFixed(3)}, {y.toFixed(3)}{flat ? "" : `, ${z.toFixed(3)}`} m · {degrees.toFixed(0)}° in{" "}
        {goal.frame}
      </span>
      {flat ? null : (
        <Button aria-pressed={turning} onClick={() => setTurning(!turning)}>
          {turning ? "Move" : "Turn"}
        </Button>
      )}
      <Button onClick={copy} aria-live="polite">{copied === "copied" ? "Copied" : "Copy"}</Button>
      <Button look="main" onClick={() => use(goal.take)}>{goal.verb}</Button>
      {goal.preview === undefined ? null : <Button onClick={() => use(goal.preview!)}>Preview</Button>}
      <Button onClick={() => console.goal.set(null)}>Cancel</Button>
      {copied !== "" && copied !== "copied" ? <code className="text">{copied}</code> : null}
    </div>
  );
}
