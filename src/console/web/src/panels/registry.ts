// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from "react";

/** A panel of the page; its code is loaded when it is first shown. */
export interface Panel {
  id: string;
  title: string;
  load(): Promise<{ default: ComponentType }>;
}

/** One line each. Where a panel stands in a layout: `frame/layouts.ts`. */
export const PANELS: readonly Panel[] = [
  { id: "missions", title: "Missions", load: () => import("./missions") },
  { id: "run", title: "Run", load: () => import("./run") },
  { id: "explain", title: "Explain", load: () => import("./explain") },
  { id: "blackboard", title: "Blackboard", load: () => import("./blackboard") },
  { id: "health", title: "Health", load: () => import("./health") },
  { id: "preview", title: "Preview", load: () => import("./preview") },
  { id: "timeline", title: "Timeline", load: () => import("./timeline") },
  { id: "scene", title: "3D", load: () => import("./scene3d") },
  { id: "map", title: "Map", load: () => import("./map") },
  { id: "objects", title: "Objects", load: () => import("./objects") },
  { id: "palette", title: "Palette", load: () => import("./palette") },
  { id: "inspector", title: "Inspector", load: () => import("./inspector") },
  { id: "tree", title: "Tree", load: () => import("./tree") },
  { id: "records", title: "Recordings", load: () => import("./records") },
  { id: "log", title: "Log", load: () => import("./log") },
];
