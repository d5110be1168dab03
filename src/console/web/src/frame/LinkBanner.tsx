// SPDX-License-Identifier: Apache-2.0
import { Button, StatusIcon } from "../design";
import { useConsole, useValue } from "../store";

/** Says that what the page shows is not of now, because there is no connection. */
export function LinkBanner() {
  const { connection } = useConsole();
  const link = useValue(connection.link);
  if (link.state === "open" || link.state === "connecting") return null;
  const refused = link.state === "refused";
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
