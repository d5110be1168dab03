// SPDX-License-Identifier: Apache-2.0
import type { ConsoleEvent, Health, Mission, OfferedMission, SceneObject, Xyz } from "../store/types";
import { FAILURE, SUCCESS } from "../store/types";
import { ScriptedRun, type Scripted } from "./run";
import { PREVIEW } from "./preview";
import { block, CLOUDS, joints, PLANNED, TABLE, TRANSFORMS } from "./scene";

/** [s] at which the third block's first placing fails. */
export const FAILS_AT = 31;
/** [s] at which the mission ends. */
export const ENDS_AT = 52;
const BEGIN = 2;

const BLOCKS = ["red", "green", "blue", "yellow"] as const;
const COLORS = {
  red: [0.8, 0.2, 0.2, 1], green: [0.2, 0.6, 0.3, 1], blue: [0.2, 0.4, 0.8, 1],
  yellow: [0.9, 0.8, 0.2, 1],
};
const WHY = "the target would leave 'blue_block' 26 mm inside 'green_block'";
const REMEDY = "Raise z by 0.03 or use target_surface.";

function carry(color: string, begin: number, fails: boolean): Scripted {
  const object = `${color}_block`;
  const first = begin + 5;
  const last = fails ? begin + 11 : begin + 10;
  return {
    type: "PickAndPlace", name: `stack ${color}`, kind: "SubTree",
    children: [
      {
        type: "Fallback", name: `${color} done or do`, kind: "Control",
        children: [
          {
            type: "ObjectAt", name: `${color} in place?`, kind: "Condition",
            ran: [[begin, begin + 0.1, FAILURE]], ports: { object, target: "{target}" },
          },
          {
            type: "RetryUntilSuccessful", name: `try ${color} 3 times`, kind: "Decorator",
            ports: { num_attempts: "3" },
            children: [
              {
                type: "Sequence", name: `carry ${color}`, kind: "Control",
                children: [
                  {
                    type: "Script", name: `target of ${color}`, kind: "Action",
                    ran: [[begin + 0.1, begin + 0.2, SUCCESS]], ports: { code: "target := stack_top" },
                  },
                  {
                    type: "Pick", name: `Pick ${color}`, kind: "Action",
                    ran: [[begin + 0.2, first, SUCCESS]], ports: { object, force: "20.0" },
                  },
                  {
                    type: "Place", name: `Place ${color}`, kind: "Action",
                    ran: fails
                      ? [[first, first + 2, FAILURE], [first + 3, last, SUCCESS]]
                      : [[first, last, SUCCESS]],
                    ports: { target: "{target}", surface: "table" },
                    ...(fails ? { reason: { t: first + 2, text: WHY, remedy: REMEDY } } : {}),
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
}

const RUN = new ScriptedRun("stack_blocks", {
  type: "Sequence", name: "stack_blocks", kind: "Control",
  children: [
    { type: "ArmReady", name: "arm ready?", kind: "Condition", ran: [[BEGIN, BEGIN + 0.1, SUCCESS]] },
    {
      type: "Home", name: "go home first", kind: "Action", ran: [[BEGIN + 0.1, 4, SUCCESS]],
      ports: { speed: "0.5" },
    },
    carry("red", 4, false), carry("green", 14, false), carry("blue", 24, true),
    carry("yellow", 36, false),
    { type: "Home", name: "go home", kind: "Action", ran: [[47, ENDS_AT, SUCCESS]], ports: { speed: "0.5" } },
  ],
});

/** What channels hold `t` seconds after the run's begin. */
export function stackBlocks(t: number): Record<string, unknown> {
  return {
    stack: { namespace: "/panda", world: "blocks", up: { executor: true, scene: true, robot: true, map: false }, empty: null },
    tree: {
      life: "1", action_id: "m1", tree_id: RUN.id, revision: 1, xml: RUN.xml, nodes: RUN.nodes,
      ended: t < ENDS_AT ? null : { t: ENDS_AT, note: "the mission ended" },
    },
    status: RUN.status(t), reasons: RUN.reasons(t), spans: RUN.spans(t), events: events(t),
    blackboard: {
      target: ["Pose", `0.5, 0.0, ${(0.025 + 0.05 * placed(t)).toFixed(3)}`, false],
      attempts: ["int", t > FAILS_AT ? "1" : "0", true],
      held: ["string", held(t) ?? "", true],
    },
    mission: mission(t), missions: OFFERED, queue: [],
    run_control: {
      controlled: false, automatic: true, concurrent: false, stands: false, held: [],
      failed: t > FAILS_AT && t < FAILS_AT + 1 ? [RUN.path("Place blue")] : [], breakpoints: [],
      prepared: [],
    },
    mode: {
      selected: "autonomous", effective: "autonomous", deadman_enabled: false, deadman_alive: false,
      since: 1.2,
    },
    health: health(t), objects: objects(t), joints: joints(t), transforms: TRANSFORMS, clouds: CLOUDS,
    markers: t < ENDS_AT ? PLANNED : {}, preview: t < BEGIN ? PREVIEW : null,
    controller: { holder: { number: 1, name: "you #1" }, asks: null, answer_within: null },
    editors: {}, modules: [],
  };
}

function mission(t: number): Mission {
  const failed = t >= FAILS_AT && t < FAILS_AT + 5;
  const running = BLOCKS.find((_, index) => t < 14 + 10 * index + (index > 1 ? 2 : 0)) ?? "yellow";
  const active = RUN.spans(t).findLast((span) => span[2] === null)?.[0];
  const node = RUN.nodes.find((each) => each[0] === active);
  return {
    t, action_id: "m1", name: "stack_blocks", state: t < ENDS_AT ? "running" : "finished", code: 0,
    text: "", elapsed: Math.max(0, Math.min(t, ENDS_AT) - BEGIN), active_path: node?.[5] ?? "",
    progress: Math.max(0, Math.min(1, (t - BEGIN) / (ENDS_AT - BEGIN))), skill: node?.[2] ?? "",
    phase: "approach", detail: `stack ${running}`, distance_remaining: null,
    autonomy: "autonomous", ended: t >= ENDS_AT,
    cause: failed
      ? {
          class: "reported", node: RUN.path("Place blue"), sentence: `Place failed: ${WHY}.`,
          remedy: REMEDY, evidence: "target z 0.099 m, top of 'green_block' 0.125 m",
        }
      : null,
  };
}

function events(t: number): ConsoleEvent[] {
  const none = { uid: null, level: "info" } as const;
  const all: ConsoleEvent[] = [
    { t: 0, kind: "log", text: "executor is up", ...none },
    { t: 1.2, kind: "mode", text: "mode is auto", mode: "autonomous", ...none },
    { t: BEGIN, kind: "mission", text: "stack_blocks began, asked by anna", mission: { id: "m1", name: "stack_blocks", state: "running" }, ...none },
    ...BLOCKS.map((color, index) => ({
      t: 14 + 10 * index + (index > 1 ? 2 : 0), kind: "log" as const, text: `'${color}_block' is in place`,
      uid: RUN.uid(`Place ${color}`), level: "info" as const,
    })),
    { t: FAILS_AT, kind: "fault", text: `Place: ${WHY}`, uid: RUN.uid("Place blue"), level: "error" },
    { t: 33, kind: "edit", text: "ben set port 'surface' of Place blue", uid: RUN.uid("Place blue"), level: "info" },
    { t: ENDS_AT, kind: "mission", text: "stack_blocks is done", mission: { id: "m1", name: "stack_blocks", state: "finished" }, ...none },
  ];
  return all.filter((each) => each.t <= t).sort((a, b) => a.t - b.t);
}

/** How many blocks are on the stack. */
function placed(t: number): number {
  return BLOCKS.filter((_, index) => t >= 14 + 10 * index + (index > 1 ? 2 : 0)).length;
}

function held(t: number): string | null {
  const index = placed(t);
  const begin = 4 + 10 * index + (index > 2 ? 2 : 0);
  return index < 4 && t >= begin + 4 ? `${BLOCKS[index]}_block` : null;
}

function objects(t: number): Record<string, SceneObject> {
  const done = placed(t);
  const inHand = held(t);
  const entries = BLOCKS.map((color, index): [string, SceneObject] => {
    const name = `${color}_block`;
    const start: Xyz = [0.4, -0.3 + 0.12 * index, 0.025];
    const stacked: Xyz = [0.5, 0.3, 0.025 + 0.05 * index];
    const air: Xyz = [0.45, 0.1 * Math.sin(t), 0.35];
    const where = inHand === name ? air : index < done ? stacked : start;
    const object = block(where, COLORS[color], t);
    if (inHand === name) return [name, { ...object, state: "attached", link: "panda_hand" }];
    const hidden = color === "yellow" && t > FAILS_AT && t < FAILS_AT + 4;
    return [name, hidden ? { ...object, state: "stale", seen: FAILS_AT, text: "hidden by the arm" } : object];
  });
  return { table: TABLE, ...Object.fromEntries(entries) };
}

function health(t: number): Record<string, Health> {
  const ok = (message: string): Health => ({ level: "ok", message, since: 0, values: {} });
  const late: Health = {
    level: "warning", message: "3 frames late: check the camera's cable", since: FAILS_AT - 1,
    values: { rate: "11.8 Hz", wanted: "15 Hz" },
  };
  return {
    executor: ok("ticks at 20 Hz"), pick: ok("up"), place: ok("up"), arm: ok("up"), gripper: ok("up"),
    camera: t > FAILS_AT - 1 && t < FAILS_AT + 6 ? late : ok("15 Hz"),
    scene: ok("5 objects"),
  };
}

const OFFERED: OfferedMission[] = [
  {
    name: "stack_blocks", description: "Stacks blocks on each other.",
    parameters: [
      {
        name: "order", type: "std::string", default: "red_block;green_block", of: "objects",
        description: "blocks of the tower, bottom first",
      },
      {
        name: "block_height", type: "double", default: "0.05", minimum: 0.001, unit: "m",
        description: "height of a block [m]",
      },
      { name: "max_failures", type: "int", default: "5", minimum: 1, maximum: 20, description: "in a row" },
      { name: "afterwards", type: "std::string", default: "end", choices: ["end", "idle"] },
    ],
  },
  {
    name: "pick_and_place", description: "Carries one object to a place.",
    parameters: [
      { name: "object", type: "std::string", default: null, of: "object" },
      { name: "height", type: "double", unit: "m", default: "0.1", minimum: 0, maximum: 0.5 },
      { name: "gentle", type: "bool", default: "true" },
    ],
  },
  { name: "from_elsewhere", description: "Its file is on another machine.", parameters: null },
  { name: "open_door", description: "Opens a door.", parameters: [], why_not: "it is made for the world door" },
];
