// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../../design";
import { apiUrl, useConsole, useValue } from "../../../store";
import { changed, difference } from "./difference";
import { xmlOf, type DocumentNode, type TreeDocument } from "./document";
import { editSession } from "./session";

/** What saving would change in the files, and the button that does it. */
export function SaveDialog({ onClose }: { onClose: () => void }) {
  const session = editSession(useConsole());
  const tree = useValue(session.tree);
  const document = useValue(session.document);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const save = async () => {
    await session.edit({ op: "save" });
    onClose();
  };
  const files = Object.entries(document?.files ?? {}).filter(([, file]) => file.modified);
  return (
    <dialog ref={dialog} className="tree-save" aria-label="Save the tree" onClose={onClose}>
      <h3>Save the tree of {tree}</h3>
      {files.length === 0 ? <p>Nothing has changed since the last save.</p> : null}
      {document === null || tree === null
        ? null
        : files.map(([path, { root }]) => <FileChanges key={path} {...{ tree, path, document, root }} />)}
      <p className="tree-quiet">Comments and layout of the files stay; they are not compared here.</p>
      <div className="row">
        <Button look="main" disabled={files.length === 0} onClick={() => void save()}>Save</Button>
        <Button onClick={onClose}>Not now</Button>
      </div>
    </dialog>
  );
}

/** What saving would change in one file. */
function FileChanges({ tree, path, document, root }: {
  tree: string; path: string; document: TreeDocument; root: string;
}) {
  const [disk, problem] = useOnDisk(tree, path);
  const lines = useMemo(
    () => (disk === null ? null : changed(difference(onDisk(disk), inOrder(document, root)))),
    [disk, document, root],
  );
  return (
    <>
      <p className="text mono">{path}</p>
      {problem === "" ? null : <p className="text" role="status">{`what is on disk is not shown: ${problem}`}</p>}
      {lines === null || lines.length === 0 ? null : (
        <pre className="tree-difference" tabIndex={0} aria-label={`What changes in ${path}`}>
          {lines.map((line, at) => (line === null
            ? <span key={at} data-sign="…">{"⋯\n"}</span>
            : <span key={at} data-sign={line.sign}>{`${line.sign} ${line.text}\n`}</span>))}
        </pre>
      )}
    </>
  );
}

function useOnDisk(tree: string, path: string): [string | null, string] {
  const [disk, setDisk] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      const query = new URLSearchParams({ file: path }).toString();
      const address = apiUrl(`/api/tree/${encodeURIComponent(tree)}?${query}`);
      const answer = await fetch(address, { signal: stop.signal });
      const text = await answer.text();
      if (answer.ok) setDisk(text);
      else setProblem(text || answer.statusText);
    };
    read().catch((error: unknown) => void (stop.signal.aborted || setProblem(String(error))));
    return () => stop.abort();
  }, [tree, path]);
  return [disk, problem];
}

/** A file as it is edited, one element a line; attributes have no order there. */
function inOrder({ nodes }: TreeDocument, root: string): string {
  const sorted = Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, inAnOrder(node)]));
  return xmlOf({ nodes: sorted, files: {}, tree: {} }, root);
}

function inAnOrder(node: DocumentNode): DocumentNode {
  const rank = (name: string) => (name === "ID" || name === "name" ? `0${name}` : `1${name}`);
  const pairs = Object.entries(node.attributes).sort(([a], [b]) => rank(a).localeCompare(rank(b)));
  return { ...node, attributes: Object.fromEntries(pairs) };
}

/** A file in the same form: no comments, one element a line. */
function onDisk(xml: string): string {
  const parsed = new DOMParser().parseFromString(xml, "application/xml");
  const nodes: Record<string, DocumentNode> = {};
  const read = (element: Element): string => {
    const id = `n${Object.keys(nodes).length}`;
    const attributes = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));
    nodes[id] = inAnOrder({ tag: element.tagName, attributes, children: [] });
    nodes[id] = { ...nodes[id], children: [...element.children].map(read) };
    return id;
  };
  const root = read(parsed.documentElement);
  return xmlOf({ nodes, files: {}, tree: {} }, root);
}
