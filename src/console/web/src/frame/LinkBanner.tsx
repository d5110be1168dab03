// SPDX-License-Identifier: Apache-2.0
import { Button, StatusIcon } from "../design";
import { useConsole, useValue } from "../store";

/** Says that what the page shows is not of now, because there is no connection. */
export function LinkBanner() {
  const { connection } = useConsole();
  const link = useValue(connection.link);
  if (link.state === "open" || link.state === "connecting") return null;
  const refused = link.state === "refused";
  const record = new URLSearchParams(location.search).get("record");
  if (refused && record !== null) return <NoRecord reason={link.reason} />;
  return (
    <div className="banner" data-kind="lost" role="alert">
      <StatusIcon status="fault" label="connection" />
      <span className="banner-text text">
        {refused
          ? `The server refused this page: ${link.reason}. Open the address that 'behavior console' prints.`
          : `The connection to the console's server is lost${link.reason ? ` (${link.reason})` : ""}: what is shown is of before. It is tried again, attempt ${link.attempt}.`}
      </span>
      <Button onClick={() => connection.retry()}>Connect now</Button>
    </div>
  );
}

/** A recording cannot be opened; the running stack, or the recording that was given, is a link away. */
function NoRecord({ reason }: { reason: string }) {
  return (
    <div className="banner" data-kind="lost" role="alert">
      <StatusIcon status="fault" label="recording" />
      <span className="banner-text text">This recording cannot be shown: {reason}</span>
      <a className="button" href="?layout=replay">Back</a>
    </div>
  );
}

/** Says why the moment that was asked for is not the one that is shown. */
export function MomentBanner() {
  const { at, connection } = useConsole();
  const problem = useValue(connection.problem);
  if (problem === null || problem.at === undefined || problem.at === null) return null;
  return (
    <div className="banner" data-kind="lost" role="alert">
      <StatusIcon status="paused" label="moment" />
      <span className="banner-text text">This moment cannot be shown: {problem.text}</span>
      <Button onClick={() => at.set(null)}>To the latest</Button>
    </div>
  );
}
