// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from "react";
import { Button } from "../../../design";
import { useChannel, useCommand, useConsole, useMay, useValue } from "../../../store";
import { editSession } from "./session";
import { SaveDialog } from "./SaveDialog";

/** Turns editing on for a mission's tree; undo, redo, save. */
export function EditBar() {
  const console = useConsole();
  const session = editSession(console);
  const tree = useValue(session.tree);
  const document = useValue(session.document);
  const problem = useValue(session.problem);
  const own = useValue(session.name);
  const outcome = useValue(session.outcome);
  const mission = useChannel("mission");
  const offered = useChannel("missions");
  const editors = useChannel("editors");
  const may = useMay("edit");
  const [saving, setSaving] = useState(false);
  const [making, setMaking] = useState(false);
  const names = [...new Set([...(mission ? [mission.name] : []), ...(offered ?? []).map(({ name }) => name)])];
  const first = names[0];
  const toggle = useCallback(() => {
    if (session.tree.get() !== null) session.end();
    else if (first !== undefined) session.begin(first);
  }, [session, first]);
  const undo = useCallback(() => void session.edit({ op: "undo" }), [session]);
  const redo = useCallback(() => void session.edit({ op: "redo" }), [session]);
  const save = useCallback(() => setSaving(session.document.get() !== null), [session]);
  useCommand("tree.edit", "Tree: edit", "E", toggle, "edit");
  useCommand("tree.undo", "Tree: undo", "Ctrl+Z", undo, "edit");
  useCommand("tree.redo", "Tree: redo", "Ctrl+Shift+Z", redo, "edit");
  useCommand("tree.save", "Tree: save", "Ctrl+S", save, "edit");
  useCommand("tree.new", "Tree: new mission", undefined, useCallback(() => setMaking(true), []), "edit");
  if (!may) return null;
  const modified = document !== null && Object.values(document.files).some((file) => file.modified);
  const others = [...editors].filter(([name, each]) => name !== own && each.tree === tree).map(([name]) => name);
  return (
    <>
      {making
        ? <NewMission onClose={() => setMaking(false)} />
        : <Button look="quiet" title="Make a mission of your own" onClick={() => setMaking(true)}>New</Button>}
      <Button look="quiet" aria-pressed={tree !== null} disabled={first === undefined && tree === null} title="Change this tree, also while it runs  E" onClick={toggle}>
        Edit
      </Button>
      {tree === null ? null : (
        <>
          <select aria-label="Tree to edit" value={tree} onChange={(event) => session.begin(event.target.value)}>
            {[...new Set([tree, ...names])].map((name) => <option key={name}>{name}</option>)}
          </select>
          <Button look="quiet" title="Undo  Ctrl Z" onClick={undo}>Undo</Button>
          <Button look="quiet" title="Redo  Ctrl Shift Z" onClick={redo}>Redo</Button>
          <Button look="quiet" title="Look at the changes and save them  Ctrl S" disabled={document === null} onClick={save}>
            {modified ? "Save •" : "Save"}
          </Button>
          {others.length > 0 ? <span className="tree-hits text" title={others.join(", ")}>{`with ${others.join(", ")}`}</span> : null}
          {document === null || problem !== "" ? (
            <span className="tree-hits text" role="status">{problem || "opens the tree …"}</span>
          ) : null}
          {outcome !== null && outcome.at === "" && outcome.kind !== "sent" ? (
            <span className="tree-hits text" role="alert">{outcome.text}</span>
          ) : null}
        </>
      )}
      {saving ? <SaveDialog onClose={() => setSaving(false)} /> : null}
    </>
  );
}

/** Asks what a new mission is called. */
function NewMission({ onClose }: { onClose: () => void }) {
  const session = editSession(useConsole());
  const [name, setName] = useState("");
  const [problem, setProblem] = useState("");
  const make = async () => {
    const why = await session.create(name.trim());
    if (why === "") onClose();
    else setProblem(why);
  };
  return (
    <form
      className="tree-new" aria-label="New mission"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
      onKeyDown={(event) => void (event.key === "Escape" && onClose())}
    >
      <input
        autoFocus aria-label="Name of the new mission" placeholder="its_name" value={name} maxLength={64}
        onChange={(event) => setName(event.target.value)} spellCheck={false} autoComplete="off"
      />
      <Button type="submit" look="main" disabled={name.trim() === ""}>Make</Button>
      <Button look="quiet" onClick={onClose}>Cancel</Button>
      {problem === "" ? null : <span className="tree-problem text" role="alert">{problem}</span>}
    </form>
  );
}
