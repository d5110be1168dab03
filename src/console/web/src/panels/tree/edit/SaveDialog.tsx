// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../../design";
import { apiUrl, useConsole, useValue } from "../../../store";
import { changed, difference } from "./difference";
import { xmlOf, type TreeDocument } from "./document";
import { editSession } from "./session";

/** What saving would change in the file, and the button that does it. */
export function SaveDialog({ onClose }: { onClose: () => void }) {
  const session = editSession(useConsole());
  const tree = useValue(session.tree);
  const document = useValue(session.document);
  const [disk, problem] = useOnDisk(tree);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const lines = useMemo(
    () => (disk === null || document === null
      ? null : changed(difference(onDisk(disk), edited(document)))),
    [disk, document],
  );
  const save = async () => {
    await session.edit({ op: "save" });
    onClose();
  };
  const files = Object.entries(document?.files ?? {}).filter(([, file]) => file.modified);
  return (
    <dialog ref={dialog} className="tree-save" aria-label="Save the tree" onClose={onClose}>
      <h3>Save the tree of {tree}</h3>
      {files.length === 0
        ? <p>Nothing has changed since the last save.</p>
        : <ul>{files.map(([path]) => <li key={path} className="text mono">{path}</li>)}</ul>}
      {problem === "" ? null : <p className="text" role="status">{`what is on disk is not shown: ${problem}`}</p>}
      {lines === null || lines.length === 0 ? null : (
        <pre className="tree-difference" tabIndex={0} aria-label="What changes in the first file">
          {lines.map((line, at) => (line === null
            ? <span key={at} data-sign="…">{"⋯\n"}</span>
            : <span key={at} data-sign={line.sign}>{`${line.sign} ${line.text}\n`}</span>))}
        </pre>
      )}
      <p className="tree-quiet">Comments and layout of the file stay; they are not compared here.</p>
      <div className="row">
        <Button look="main" disabled={files.length === 0} onClick={() => void save()}>Save</Button>
        <Button onClick={onClose}>Not now</Button>
      </div>
    </dialog>
  );
}

function useOnDisk(tree: string | null): [string | null, string] {
  const [disk, setDisk] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (tree === null) return;
    const stop = new AbortController();
    const read = async () => {
      const answer = await fetch(apiUrl(`/api/tree/${encodeURIComponent(tree)}`), { signal: stop.signal });
      const text = await answer.text();
      if (answer.ok) setDisk(text);
      else setProblem(text || answer.statusText);
    };
    read().catch((error: unknown) => void (stop.signal.aborted || setProblem(String(error))));
    return () => stop.abort();
  }, [tree]);
  return [disk, problem];
}

/** The first file as it is edited, one element a line. */
function edited(document: TreeDocument): string {
  return xmlOf(document, document.files[document.tree.file ?? ""]?.root ?? "");
}

/** A file in the same form: no comments, one element a line. */
function onDisk(xml: string): string {
  const parsed = new DOMParser().parseFromString(xml, "application/xml");
  const nodes: Record<string, TreeDocument["nodes"][string]> = {};
  const read = (element: Element): string => {
    const id = `n${Object.keys(nodes).length}`;
    const attributes = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));
    nodes[id] = { tag: element.tagName, attributes, children: [] };
    nodes[id] = { ...nodes[id], children: [...element.children].map(read) };
    return id;
  };
  const root = read(parsed.documentElement);
  return xmlOf({ nodes, files: {}, tree: {} }, root);
}
