// SPDX-License-Identifier: Apache-2.0
import { Button } from "../../design";
import { Part, Said } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel } from "../../store";

/** Who moves the robot, and the way to stop it. */
export function ModePart({ hindrance }: { hindrance: string }) {
  const mode = useChannel("mode");
  const asking = useAsk();
  return (
    <Part title="Who moves the robot">
      {mode === undefined ? (
        <p className="said">This robot has no autonomy level: the running mission moves it.</p>
      ) : (
        <>
          <p className="said">
            In effect: {mode.effective}
            {mode.deadman_enabled ? `, dead-man's switch ${mode.deadman_alive ? "held" : "released"}` : ""}
          </p>
          <div className="row" role="group" aria-label="Autonomy level">
            {(["manual", "autonomous"] as const).map((level) => (
              <Button
                key={level} aria-pressed={mode.selected === level} disabled={hindrance !== "" || asking.busy}
                onClick={() => void asking.ask("mode.set", { level })}
              >
                {level}
              </Button>
            ))}
          </div>
        </>
      )}
      <div className="row">
        <Button look="stop" onClick={() => void asking.ask("stop")}>■ STOP by software</Button>
      </div>
      <p className="said">
        Cancels what runs and lets nothing begin. It is no safety function: it needs this page, the network and the
        executor. In danger use the emergency stop of the robot.
      </p>
      <Said by={asking} />
    </Part>
  );
}
