// SPDX-License-Identifier: Apache-2.0
// What the server's channels hold. Stamps and durations are seconds of the executor's clock,
// lengths metres, quaternions in the order x, y, z, w.

/** What somebody may do; each role may do what those before it may. */
export type Role = "view" | "operate" | "edit";

/** Statuses of tree nodes, as TreeRecord numbers them. */
export const IDLE = 0;
export const RUNNING = 1;
export const SUCCESS = 2;
export const FAILURE = 3;
export const SKIPPED = 4;
export type StatusCode = 0 | 1 | 2 | 3 | 4;

export type Xyz = [number, number, number];
export type Quaternion = [number, number, number, number];

/** What is up, and why nothing is shown where nothing is. */
export interface Stack {
  namespace: string;
  world?: string;
  /** What answers. */
  up: Record<string, boolean>;
  /** Why there is nothing to show and what to do; null when there is something. */
  empty: { text: string; remedy: string } | null;
}

/** Action, Condition, Control, Decorator or SubTree. */
export type NodeKind = "Action" | "Condition" | "Control" | "Decorator" | "SubTree";

/** A node: `[uid, parent's uid, type ID, name, kind, path]`, parents before children. */
export type TreeNode = [number, number | null, string, string, NodeKind, string];

export interface Tree {
  life: string;
  action_id: string;
  tree_id: string;
  revision: number;
  xml: string;
  nodes: TreeNode[];
  /** When it was ticked last, and why not any more. */
  ended?: { t: number; note: string } | null;
}

/** `[status, since when, times ended, status it ended with last]`. */
export type NodeStatus = [StatusCode, number, number, StatusCode];

export interface Reason {
  t: number;
  text: string;
  remedy?: string;
}

/** A leaf at work: `[uid, begun, ended or null, status]`. */
export type Span = [
  uid: number, begun: number, ended: number | null, status: StatusCode,
  /** Key of its lane in the channel `lanes`; without it the uid is the lane. */
  lane?: number,
  /** Why it failed. */
  reason?: string,
];

/** Of which leaf a lane is, whatever tree is shown: `[tree's ID, path, type, name, kind]`. */
export type LaneName = [string, string, string, string, string];

export type Level = "info" | "warning" | "error";

export interface ConsoleEvent {
  t: number;
  kind: "mission" | "fault" | "edit" | "command" | "mode" | "log";
  text: string;
  uid: number | null;
  /** Path of the node, where its uid is not known. */
  node?: string;
  level: Level;
  /** Of an event of a mission: which, and what has become of it. */
  mission?: { id: string; name: string; state: string };
  /** Of an event of the mode: the one in effect since then. */
  mode?: string;
}

/** `[type, value as text, whether it may be written]`; the key is `subtree path/key`. */
export type BlackboardEntry = [string, string, boolean];

/** Why a mission failed, in the executor's words. */
export interface Cause {
  class: string;
  /** Path of the node. */
  node: string;
  sentence: string;
  evidence: string;
  remedy: string;
}

export type MissionState =
  | "waiting" | "initializing" | "running" | "paused" | "finished" | "failed" | "canceled";

/** A mission as its latest feedback has it. */
export interface Mission {
  t: number;
  action_id: string;
  name: string;
  state: MissionState;
  code: number;
  text: string;
  cause: Cause | null;
  /** 0 to 1; null where nobody knows. */
  progress: number | null;
  /** [s] */
  elapsed: number;
  active_path: string;
  skill: string;
  phase: string;
  detail: string;
  /** [m] */
  distance_remaining: number | null;
  autonomy: Autonomy;
  ended: boolean;
}

/** A mission as somebody asked for it in the console; the key is its identifier. */
export interface Order {
  who: string;
  /** As text. */
  parameters: Record<string, string>;
}

/** Who moves the robot. */
export type Autonomy = "halted" | "manual" | "teleoperation" | "autonomous";

export interface Mode {
  selected: Autonomy;
  effective: Autonomy;
  deadman_enabled: boolean;
  deadman_alive: boolean;
  since: number;
}

export interface MissionParameter {
  name: string;
  /** `int`, `unsigned int`, `double`, `bool`; any other type is given as text. */
  type: string;
  unit?: string;
  description?: string;
  /** As text; null: it must be given. */
  default: string | null;
  minimum?: number | null;
  maximum?: number | null;
  /** All that it may be; empty: anything. */
  choices?: string[];
  /** What of the scene it names; several have semicolons between them. A place is `x;y` [m]. */
  of?: "" | "object" | "objects" | "frame" | "frames" | "place";
}

export interface OfferedMission {
  name: string;
  description: string;
  /** null: nobody knows them here, and they are given as they are written. */
  parameters: MissionParameter[] | null;
  /** Why it cannot run in this world; empty: it may. */
  why_not?: string;
}

export interface RunControl {
  /** Whether an operator controls the run at all. */
  controlled: boolean;
  /** Whether it goes on by itself. */
  automatic: boolean;
  concurrent: boolean;
  /** Whether something waits for the operator, and no leaf runs. */
  stands: boolean;
  /** Paths of nodes. */
  held: string[];
  failed: string[];
  breakpoints: string[];
  /** Commands that the next run begins with. */
  prepared: string[];
}

export interface Health {
  level: "ok" | "warning" | "error" | "stale";
  message: string;
  since: number;
  values: Record<string, string>;
}

/** Position [m] and orientation: x y z qx qy qz qw. */
export type Pose = [number, number, number, number, number, number, number];

export interface SceneObject {
  frame: string;
  class: string;
  state: "tracked" | "stale" | "frozen" | "attached" | "lost" | "";
  pose: Pose;
  velocity: Xyz;
  /** Standard deviations x y z [m], roll pitch yaw [rad]; all 0: unknown. */
  deviation: number[];
  shape: "none" | "box" | "sphere" | "cylinder" | "cone" | "prism";
  /** As `shape_msgs/SolidPrimitive` has it [m]. */
  size: number[];
  color: number[];
  confidence: number;
  /** When it was seen last [s]. */
  seen: number | null;
  /** The robot's link that holds it. */
  link: string;
  /** "detected", or how it is derived from others: "approach", "hybrid". */
  kind: string;
  sources: string[];
  text: string;
  t: number;
}

/** `[parent, position, orientation]`. */
export type Transform = [string, Xyz, Quaternion];

/** As `visualization_msgs/Marker` has it. */
export interface Marker {
  frame: string;
  type: number;
  pose: Pose;
  scale: Xyz;
  /** r, g, b, a from 0 to 1. */
  color: number[];
  points: Xyz[];
  text: string;
}

/** A point cloud, thinned out. */
export interface Cloud {
  frame: string;
  t: number;
  /** Of points that it has. */
  count: number;
  /** x, y, z [m] in `frame`, as 32 bit floats. */
  points: Uint8Array;
  /** r, g, b of each point from 0 to 255; empty: it has no colours. */
  colors: Uint8Array;
  /** Why there are none; empty: there are. */
  text: string;
}

/** An occupancy grid. */
export interface GridMap {
  frame: string;
  /** Edge of a cell [m]. */
  resolution: number;
  width: number;
  height: number;
  /** Of the first cell's corner. */
  origin: Pose;
  /** One byte a cell, row by row, zlib-compressed: 0 free to 100 occupied, 255 unknown. */
  cells: Uint8Array;
  /** Why there are no cells; empty: there are. */
  text: string;
}

/** A line on the ground to drive along. */
export interface Way {
  frame: string;
  points: Xyz[];
}

export interface Localization {
  frame: string;
  pose: Pose;
  /** As that of an object. */
  deviation: number[];
  verdict: "unknown" | "good" | "bad" | "";
}

export interface Regions {
  frame: string;
  regions: { id: string; type: string; polygon: Xyz[]; speed_limit: number }[];
}

export interface People {
  frame: string;
  poses: Pose[];
}

/** A page of this server. */
export interface Client {
  number: number;
  name: string;
}

export interface Controller {
  holder: Client | null;
  asks: Client | null;
  /** [s] that the holder has for an answer. */
  answer_within: number | null;
}

/** Where an object is at one moment of a preview. */
export interface PreviewedObject {
  class: string;
  sight: "tracked" | "stale" | "frozen" | "held" | "lost";
  /** Computed from other objects, not seen. */
  derived: boolean;
  position: Xyz;
  orientation_xyzw: Quaternion;
}

/** A mission that is run, or was run, in a copy of the world. */
export interface Preview {
  state: "running" | "done" | "failed" | "canceled";
  mission: string;
  parameters: Record<string, string>;
  /** What was said last while it ran, or why there is no result. */
  text: string;
  /** Whether the mission would succeed. */
  success: boolean;
  reason: string;
  /** [s] of the mission, simulated. */
  duration: number;
  /** Of the tool [m]. */
  path: Xyz[];
  /** Joints at the end. */
  ghost: Record<string, number>;
  touched: { name: string; time_s: number; links: string[] }[];
  clearance: { distance_m: number; time_s: number; link: string; name: string } | null;
  notes: string[];
  begin: Record<string, PreviewedObject>;
  end: Record<string, PreviewedObject>;
  /** What of its trees has been edited since, as far as an approval has found it: sentences. */
  tree_changes: string[];
  /** x and y [m] on the map where the robot stood; null: it does not drive by one. */
  stood: [number, number] | null;
}

/** A mission, or a change of one, that a robot or a language model proposes. */
export interface Proposal {
  id: string;
  created: string;
  /** Program that proposed it. */
  author: string;
  mission: string;
  reason: string;
  /** How it did in simulation; empty: it was not simulated. */
  trial: string;
  status: "open" | "approved" | "rejected";
  /** When and by whom. */
  decided: string;
  outcome: string;
  /** Of its whole text, which is what is approved. */
  digest: string;
  /** The tree, or for a change the lines of a diff. */
  text: string;
  /** Whether the text goes on. */
  cut: boolean;
  edit: boolean;
}

/** Somebody who edits a tree, with the nodes that he has selected and is pointed at. */
export interface Editor {
  tree: string;
  node: string | null;
  over: string | null;
}

/** A panel of another package: an ES module that exports `mount(element, console)`. */
export interface Module {
  id: string;
  title: string;
  url: string;
}

/** Channels of which only the latest state counts. */
export interface ValueChannels {
  stack: Stack;
  tree: Tree;
  mission: Mission;
  missions: OfferedMission[];
  queue: Mission[];
  run_control: RunControl;
  mode: Mode;
  joints: Record<string, number>;
  preview: Preview;
  proposals: Proposal[];
  controller: Controller;
  modules: Module[];
  map: GridMap;
  route: Way;
  path: Way;
  localization: Localization;
  regions: Regions;
  people: People;
}

/** Channels of which single keys change. */
export interface MapChannels {
  status: NodeStatus;
  reasons: Reason;
  lanes: LaneName;
  blackboard: BlackboardEntry;
  health: Health;
  objects: SceneObject;
  transforms: Transform;
  markers: Marker;
  clouds: Cloud;
  editors: Editor;
  document: unknown;
  orders: Order;
}

/** Channels that only grow. */
export interface LogChannels {
  spans: Span;
  events: ConsoleEvent;
}

export type Channel = keyof ValueChannels | keyof MapChannels | keyof LogChannels;

/** What `useChannel` gives for a channel. */
export type ChannelState<C extends Channel> = C extends keyof ValueChannels
  ? ValueChannels[C] | undefined
  : C extends keyof MapChannels
    ? ReadonlyMap<string, MapChannels[C]>
    : C extends keyof LogChannels
      ? readonly LogChannels[C][]
      : never;

/** What a page is told first. */
export interface Welcome {
  protocol: number;
  /** Of this page. */
  number: number;
  name: string;
  role: Role;
  view: "live" | "record";
  /** [s] Moments that can be shown; null: only what happens now, as far as is known. */
  history?: [number, number] | null;
  now: number;
  channels: Record<string, string>;
  commands: string[];
}

export interface Answer {
  id: number;
  ok: boolean;
  message: string;
  value?: unknown;
}

export interface Problem {
  text: string;
  /** The moment that cannot be shown. */
  at?: number | null;
}

export interface Frame {
  frame: number;
  now: number;
  at: number | null;
  set?: Record<string, unknown>;
  add?: Record<string, unknown[]>;
  patch?: Record<string, Record<string, unknown>>;
}

export type ServerMessage =
  | { welcome: Welcome }
  | Frame
  | { answer: Answer }
  | { problem: Problem };

export type ClientMessage =
  | { hello: { name: string; role: Role; view: "live" | "record"; record?: string } }
  | { subscribe: string[] }
  | { at: number | null }
  | { command: { id: number; name: string; args: Record<string, unknown> } }
  | { seen: number };
