// SPDX-License-Identifier: Apache-2.0
import { Button, StatusIcon, type Shape } from "../../design";
import { Part, Said } from "../../operator/parts";
import { useAsk } from "../../operator/useAsk";
import { useChannel, useMay, type Proposal } from "../../store";

const SHAPES: Record<Proposal["status"], Shape> = { open: "approval", approved: "success", rejected: "skipped" };

/** Missions that robots or language models propose: nothing of them runs before somebody has read and approved it. */
export function Proposals({ hindrance }: { hindrance: string }) {
  const proposals = useChannel("proposals") ?? [];
  const open = proposals.filter((each) => each.status === "open");
  const decided = proposals.filter((each) => each.status !== "open");
  if (proposals.length === 0) return null;
  return (
    <Part title={`Proposed (${open.length})`}>
      {open.map((each) => <Waiting key={each.id} proposal={each} hindrance={hindrance} />)}
      {decided.length > 0 ? (
        <details>
          <summary className="row-quiet">{decided.length} decided</summary>
          <ul>
            {decided.map((each) => (
              <li key={each.id} className="row-quiet text">
                <StatusIcon status={SHAPES[each.status]} label={each.status} /> {each.mission}, {each.status} {each.decided}
                {each.outcome ? `: ${each.outcome}` : ""}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </Part>
  );
}

function Waiting({ proposal, hindrance }: { proposal: Proposal; hindrance: string }) {
  const asking = useAsk();
  const may = useMay("edit");
  const off = hindrance !== "" || asking.busy || !may;
  const { id, digest } = proposal;
  return (
    <section className="card proposal" aria-label={`Proposal ${id}: ${proposal.mission}`}>
      <p className="row">
        <StatusIcon status="approval" label="waits for your approval" />
        <strong className="text">{proposal.edit ? `Change of ${proposal.mission}` : proposal.mission}</strong>
      </p>
      <p className="text proposal-reason">{proposal.reason}</p>
      <p className="said text">by {proposal.author}, {proposal.created}{proposal.trial ? `. ${proposal.trial}` : ", not simulated"}</p>
      <details>
        <summary>{proposal.edit ? "What it changes" : "Its tree"}</summary>
        <pre className="proposal-text" tabIndex={0}>{lines(proposal)}</pre>
      </details>
      {proposal.cut ? <p className="hindrance text">{`Too long to be read here: behavior proposals show ${id}`}</p> : null}
      <div className="row">
        <Button
          look="main" disabled={off || proposal.cut} title={may ? "" : "it takes the role edit"}
          onClick={() => void asking.ask("proposal.approve", { id, digest })}
        >
          {proposal.edit ? "Approve" : "Approve and run"}
        </Button>
        <Button disabled={off} onClick={() => void asking.ask("proposal.reject", { id })}>Reject</Button>
      </div>
      <Said by={asking} />
    </section>
  );
}

/** Its text; of a change each line by what becomes of it. */
function lines({ edit, text }: Proposal) {
  if (!edit) return text;
  return text.split("\n").map((line, index) => (
    <span key={index} data-change={line.startsWith("+") ? "new" : line.startsWith("-") ? "old" : undefined}>{line}{"\n"}</span>
  ));
}
