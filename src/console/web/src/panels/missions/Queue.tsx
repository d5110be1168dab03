// SPDX-License-Identifier: Apache-2.0
import { useState } from "react";
import { Button } from "../../design";
import { Part, Said } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, type Mission } from "../../store";
import { MissionLink } from "../inspector/MissionPart";

/** Missions that wait, the next one first: dragged or moved by buttons, and dropped. */
export function Queue({ hindrance }: { hindrance: string }) {
  const queue = useChannel("queue") ?? [];
  const asking = useAsk();
  const [dragged, setDragged] = useState("");
  const [over, setOver] = useState("");
  if (queue.length === 0) return null;
  const off = hindrance !== "" || asking.busy;
  const move = (id: string, place: number) => void asking.ask("mission.move", { action_id: id, place });
  const drop = (place: number) => {
    if (dragged !== "" && queue[place - 1]?.action_id !== dragged) move(dragged, place);
    setDragged("");
    setOver("");
  };
  return (
    <Part title={`Waiting (${queue.length})`}>
      <ol className="queue">
        {queue.map((each, index) => (
          <li
            key={each.action_id} className="row" draggable={!off} data-over={each.action_id === over && over !== dragged}
            onDragStart={() => setDragged(each.action_id)} onDragEnd={() => drop(0)}
            onDragOver={(event) => {
              event.preventDefault();
              setOver(each.action_id);
            }}
            onDrop={() => drop(index + 1)}
          >
            <span className="row-quiet">{index + 1}.</span>
            <span className="text"><MissionLink mission={each} /></span>
            <Moves mission={each} place={index + 1} last={index === queue.length - 1} off={off} move={move} />
            <Button
              look="quiet" disabled={off} aria-label={`Drop ${each.name}, which waits`} title="it is not run"
              onClick={() => void asking.ask("mission.cancel", { action_id: each.action_id })}
            >
              ×
            </Button>
          </li>
        ))}
      </ol>
      <Said by={asking} />
    </Part>
  );
}

function Moves({ mission, place, last, off, move }: {
  mission: Mission; place: number; last: boolean; off: boolean; move: (id: string, place: number) => void;
}) {
  return (
    <>
      <Button look="quiet" disabled={off || place === 1} aria-label={`${mission.name} earlier`} onClick={() => move(mission.action_id, place - 1)}>↑</Button>
      <Button look="quiet" disabled={off || last} aria-label={`${mission.name} later`} onClick={() => move(mission.action_id, place + 1)}>↓</Button>
    </>
  );
}
