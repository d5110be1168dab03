// SPDX-License-Identifier: Apache-2.0
import { useState, type FormEvent } from "react";
import { Button, Field } from "../../design";
import { AtFailure } from "../../operator/AtFailure";
import { Said } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, useConsole, type OfferedMission } from "../../store";
import { defaults, freeValues, problemsOf, refusedFields, toSend, type Problems } from "./form";
import { ParameterField } from "./ParameterField";
import { Preflight } from "./Preflight";

const FREE = "parameters";
type Verb = "mission.start" | "preview.start";

type Policy = "queue" | "next" | "replace";
/** How it stands among others, as the executor is asked for it. */
const QUEUED: Record<Policy, { policy: string; priority?: number }> = {
  queue: { policy: "queue" }, next: { policy: "queue", priority: 100 }, replace: { policy: "replace" },
};

/** What a mission needs to know, checked here first and by the executor in the end. */
export function MissionForm({ mission, hindrance }: { mission: OfferedMission; hindrance: string }) {
  const console = useConsole();
  const running = useChannel("mission");
  const asking = useAsk();
  const declared = mission.parameters ?? [];
  const [values, setValues] = useState(() => defaults(declared));
  const [free, setFree] = useState("");
  const [refused, setRefused] = useState<Problems>({});
  const waiting = useChannel("queue")?.length ?? 0;
  const [policy, setPolicy] = useState<Policy>("queue");
  const [tried, setTried] = useState(false);
  const problems = { ...(tried ? problemsOf(declared, values) : {}), ...refused };
  const busy = running !== undefined && !running.ended;

  const set = (name: string, value: string) => {
    setValues({ ...values, [name]: value });
    setRefused(Object.fromEntries(Object.entries(refused).filter(([each]) => each !== name)));
  };
  const given = () => (mission.parameters === null ? freeValues(free) : toSend(declared, values));
  const send = async (verb: Verb) => {
    setTried(true);
    if (Object.keys(problemsOf(declared, values)).length > 0) return;
    try {
      const order = { name: mission.name, parameters: given() };
      if (verb === "preview.start") console.showPanel("preview");
      const answer = await asking.ask(verb, verb === "mission.start" ? { ...order, ...QUEUED[policy] } : order);
      setRefused(answer.ok ? {} : refusedFields(answer.value));
    } catch (error) {
      setRefused({ [FREE]: (error as Error).message });
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send("mission.start");
  };
  return (
    <form className="mission-form" onSubmit={submit} noValidate aria-label={`Start ${mission.name}`}>
      {mission.parameters === null ? (
        <Field label="parameters" help="one a line: KEY = VALUE" problem={refused[FREE]}>
          <textarea rows={3} value={free} onChange={(event) => setFree(event.target.value)} />
        </Field>
      ) : (
        declared.map((each) => (
          <ParameterField
            key={each.name} parameter={each} value={values[each.name] ?? ""}
            problem={problems[each.name]} set={(value) => set(each.name, value)}
          />
        ))
      )}
      {busy ? (
        <Field label={`while ${running.name} runs`}>
          <select value={policy} onChange={(event) => setPolicy(event.target.value as Policy)}>
            <option value="queue">wait for its end</option>
            {waiting > 0 ? <option value="next">wait for its end, before those that wait</option> : null}
            <option value="replace">take its place</option>
          </select>
        </Field>
      ) : null}
      <AtFailure hindrance={hindrance} />
      <div className="row">
        <Button look="main" type="submit" disabled={hindrance !== "" || asking.busy}>
          {busy && policy !== "replace" ? "Queue" : "Start"}
        </Button>
        <Button disabled={hindrance !== "" || asking.busy} onClick={() => void send("preview.start")}>Preview</Button>
      </div>
      <Said by={asking} />
      <Preflight
        name={mission.name} values={toSend(declared, values)}
        complete={Object.keys(problemsOf(declared, values)).length === 0}
      />
    </form>
  );
}
