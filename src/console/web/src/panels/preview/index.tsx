// SPDX-License-Identifier: Apache-2.0
import { Button, Empty, StatusIcon } from "../../design";
import { Hindrance, Part, Said, useHindrance } from "../../operator/parts";
import { useAsk, type Ask } from "../../operator/useAsk";
import { useChannel, useConsole, type Preview as Found, type Xyz } from "../../store";
import { changed, MOVED, moves } from "./compare";
import "./preview.css";

/** A mission as it went in a copy of the world, beside what is now; to be approved or not. */
export default function Preview() {
  const console = useConsole();
  const preview = useChannel("preview");
  const hindrance = useHindrance();
  const asking = useAsk();
  if (preview === undefined)
    return (
      <Empty waitsFor="nothing was previewed yet" todo="choose a mission, fill in its form and press Preview">
        <Button onClick={() => console.showPanel("missions")}>Choose a mission</Button>
      </Empty>
    );
  const off = hindrance !== "" || asking.busy;
  return (
    <div className="operator">
      <Hindrance why={hindrance} />
      {preview.state === "running" ? <Running preview={preview} asking={asking} off={off} /> : null}
      {preview.state === "failed" || preview.state === "canceled" ? <NoResult preview={preview} asking={asking} off={off} /> : null}
      {preview.state === "done" ? <Result preview={preview} asking={asking} off={off} /> : null}
      <Said by={asking} />
    </div>
  );
}

interface Properties {
  preview: Found;
  asking: Ask;
  off: boolean;
}

function again({ mission, parameters }: Found): Record<string, unknown> {
  return { name: mission, parameters };
}

function Running({ preview, asking, off }: Properties) {
  return (
    <section className="card" aria-label="The preview runs">
      <p className="row">
        <StatusIcon status="running" label="running" />
        <strong className="text">{preview.mission}</strong> runs in a copy of the world
      </p>
      <p className="said text" role="status">{preview.text || "The real robot stays as it is."}</p>
      <Button disabled={off} onClick={() => void asking.ask("preview.cancel")}>Cancel the preview</Button>
    </section>
  );
}

function NoResult({ preview, asking, off }: Properties) {
  return (
    <section className="card" data-kind={preview.state === "failed" ? "failed" : undefined} aria-label="No preview">
      <p className="row">
        <StatusIcon status={preview.state === "failed" ? "fault" : "skipped"} label={preview.state} />
        <strong className="text">{preview.mission} was not previewed</strong>
      </p>
      <p className="said text">{preview.text}</p>
      <Button disabled={off} onClick={() => void asking.ask("preview.start", again(preview))}>Preview again</Button>
    </section>
  );
}

function Result({ preview, asking, off }: Properties) {
  const objects = useChannel("objects");
  const mission = useChannel("mission");
  const localization = useChannel("localization");
  const differences = [...changed(preview, objects, localization), ...preview.tree_changes];
  const busy = mission !== undefined && !mission.ended;
  const stale = differences.length > 0;
  const near = preview.clearance;
  return (
    <>
      <section className="card preview-verdict" data-kind={preview.success ? undefined : "failed"} aria-label="What the preview found">
        <p className="row">
          <StatusIcon status={preview.success ? "approval" : "failure"} label={preview.success ? "waits for your approval" : "would fail"} />
          <strong className="text">{preview.mission} would {preview.success ? "succeed" : "fail"} after {preview.duration.toFixed(1)} s</strong>
        </p>
        {preview.reason ? <p className="said text">{preview.reason}</p> : null}
        <dl className="facts">
          <dt>touches</dt>
          <dd className="text">{preview.touched.length === 0 ? "nothing" : preview.touched.map((each) => `${each.name} at ${each.time_s.toFixed(1)} s`).join(", ")}</dd>
          {near === null ? null : (
            <><dt>keeps away</dt><dd className="text">{Math.round(1000 * near.distance_m)} mm, least {near.link} from {near.name} at {near.time_s.toFixed(1)} s</dd></>
          )}
          {preview.notes.map((note) => [<dt key={`${note} note`}>note</dt>, <dd key={note} className="text">{note}</dd>])}
        </dl>
        {stale ? <p className="hindrance text">Changed since: {differences.join("; ")}. Preview it again to see what would happen now.</p> : null}
        {busy ? <p className="said text">{mission.name} runs: the approved mission waits for its end.</p> : null}
        <div className="row">
          <Button look={preview.success && !stale ? "main" : "quiet"} disabled={off} onClick={() => void asking.ask("preview.approve", { changed: stale })}>
            {preview.success && !stale ? "Approve and run" : "Run it all the same"}
          </Button>
          <Button disabled={off} onClick={() => void asking.ask("preview.start", again(preview))}>Preview again</Button>
          <Button look="quiet" disabled={off} onClick={() => void asking.ask("preview.discard")}>Discard</Button>
        </div>
      </section>
      <SideBySide preview={preview} />
    </>
  );
}

/** Objects now and after the mission; a name leads to the object in 3D, where the ghost stands. */
function SideBySide({ preview }: { preview: Found }) {
  const console = useConsole();
  const objects = useChannel("objects");
  const rows = moves(preview, objects);
  const show = (object: string) => {
    console.selection.set({ object });
    console.showPanel("scene");
  };
  return (
    <Part title="Now and after">
      <table className="preview-moves">
        <thead><tr><th>object</th><th>now</th><th>after</th><th>moves</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} data-still={row.by !== null && row.by <= MOVED}>
              <th scope="row"><button type="button" className="link text" onClick={() => show(row.name)}>{row.name}</button></th>
              <td>{place(row.now)}</td>
              <td>{place(row.after)}</td>
              <td>{row.by === null ? (row.after === null ? "gone" : "new") : row.by <= MOVED ? "stays" : `${Math.round(1000 * row.by)} mm`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="row-quiet">Metres in the scene's frame. In 3D the ghost stands at the end, the line is the tool's path.</p>
    </Part>
  );
}

function place(at: Xyz | null): string {
  return at === null ? "not there" : at.map((value) => value.toFixed(3)).join(", ");
}
