// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "react";
import { Button } from "../design";
import { givenTo, spokenOf, type Source } from "../panels/explain/chain";
import { editSession } from "../panels/tree/edit/session";
import { useChannel, useConsole, useMay, useTime } from "../store";

/** Opens the tree of the mission for editing, at one port of a node. */
export function useMend(): (source: Source) => void {
  const console = useConsole();
  const mission = useChannel("mission");
  return ({ uid, port }) => {
    const session = editSession(console);
    if (mission !== undefined) session.begin(mission.name);
    session.wanted.set(port);
    console.selection.set({ node: uid });
    console.showPanel("inspector");
  };
}

/** Leads to the setting that a failure speaks of, if it stands in the tree. */
export function Mend({ uid, texts }: { uid: number | null; texts: readonly string[] }) {
  const tree = useChannel("tree");
  const may = useMay("edit");
  const [at] = useTime();
  const mend = useMend();
  const said = texts.join("\n");
  const source = useMemo(
    () => (tree === undefined || uid === null ? null : spokenOf(givenTo(tree, uid, new Map(), new Map()), [said])),
    [tree, uid, said],
  );
  if (source === null || !may || at !== null) return null;
  return (
    <Button title="opens its setting in the tree; what runs goes on" onClick={() => mend(source)}>
      Change {source.port}
    </Button>
  );
}
