// SPDX-License-Identifier: Apache-2.0
import type { StatusCode } from "../store/types";

/** What a shape stands for; `unmet` is a condition that is false, which is normal. */
export type Shape =
  | "running" | "success" | "failure" | "unmet" | "skipped" | "paused" | "breakpoint" | "approval"
  | "warning" | "fault" | "idle";

const SHAPES: Record<Shape, React.ReactNode> = {
  running: <path d="M3 2v10M6 3l6 4-6 4z" fill="currentColor" stroke="currentColor" strokeWidth="2" />,
  success: <path d="M2 7.5l3.5 3.5L12 3.5" fill="none" stroke="currentColor" strokeWidth="2.4" />,
  failure: <path d="M3 3l8 8M11 3l-8 8" fill="none" stroke="currentColor" strokeWidth="2.6" />,
  unmet: (
    <path
      d="M4.4 1.8 7 4.4l2.6-2.6 2.6 2.6L9.6 7l2.6 2.6-2.6 2.6L7 9.6l-2.6 2.6-2.6-2.6L4.4 7 1.8 4.4z"
      fill="none" stroke="currentColor" strokeWidth="1.2"
    />
  ),
  skipped: (
    <rect x="2" y="2" width="10" height="10" rx="2" fill="none" stroke="currentColor" strokeWidth="1.4" strokeDasharray="3 2" />
  ),
  paused: <path d="M4.5 2v10M9.5 2v10" stroke="currentColor" strokeWidth="2.6" />,
  breakpoint: <circle cx="7" cy="7" r="4.5" fill="currentColor" />,
  approval: (
    <path d="M4 12V6.5M6.3 7V2.6M8.6 7V2.2M10.9 7.5V4M3 8l-1-1M4 12h7c1-2 .9-4-.1-5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
  ),
  warning: (
    <path d="M7 1.8 12.6 12H1.4zM7 5.5v3.2M7 10v.8" fill="none" stroke="currentColor" strokeWidth="1.3" strokeLinejoin="round" />
  ),
  fault: <path d="M7 1.5 13 12.5H1z" fill="currentColor" stroke="currentColor" strokeLinejoin="round" />,
  idle: (
    <rect x="2.5" y="2.5" width="9" height="9" rx="2" fill="none" stroke="currentColor" strokeWidth="1" />
  ),
};

/** A node's shape; a condition's failure is no alarm. */
export function shapeOf(status: StatusCode, condition = false): Shape {
  if (status === 3) return condition ? "unmet" : "failure";
  return (["idle", "running", "success", "failure", "skipped"] as const)[status];
}

/** A status by its shape first and its colour second; `label` is what is read aloud. */
export function StatusIcon({ status, label }: { status: Shape; label?: string }) {
  const text = label ?? status;
  return (
    <svg className="status-icon" viewBox="0 0 14 14" data-status={status} role="img" aria-label={text}>
      {SHAPES[status]}
    </svg>
  );
}
