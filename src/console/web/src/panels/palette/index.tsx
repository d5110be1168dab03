// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "react";
import { Empty } from "../../design";
import { useConsole, useValue } from "../../store";
import { mainTree, treesOf } from "../tree/edit/document";
import { useModels, type NodeModel } from "../tree/edit/models";
import { editSession } from "../tree/edit/session";
import "./palette.css";

/** Kinds of nodes by package: dragged into the tree, or put behind the selected node by Enter. */
export default function Palette() {
  const session = editSession(useConsole());
  const models = useModels();
  const tree = useValue(session.tree);
  const document = useValue(session.document);
  const [query, setQuery] = useState("");
  const groups = useMemo(() => {
    const trees = document === null ? null : new Set(treesOf(document).keys());
    const own = document === null ? "" : mainTree(document);
    const there = ({ kind, id }: NodeModel) => kind !== "subtree" || trees === null || (trees.has(id) && id !== own);
    return grouped(models.all.filter(there), query);
  }, [models, document, query]);
  if (models.all.length === 0)
    return (
      <Empty
        waitsFor={models.problem === "" ? "asks which kinds of nodes there are" : "the kinds of nodes are not known"}
        todo={models.problem || undefined}
      />
    );
  return (
    <div className="palette">
      <input
        type="search" aria-label="Search kinds of nodes" placeholder="Search kinds of nodes" value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      {tree === null
        ? <p className="palette-hint">Press E in the tree to edit; then drag one of these into it.</p>
        : <p className="palette-hint">Drag into the tree; or click, to put it behind the selected node or around it.</p>}
      {[...groups].map(([name, kinds]) => (
        <details key={name} open>
          <summary>{name} <span className="palette-count">{kinds.length}</span></summary>
          <ul>
            {kinds.map((model) => <Kind key={model.id} model={model} session={session} active={tree !== null} />)}
          </ul>
        </details>
      ))}
      {groups.size === 0 ? <p className="palette-hint">no kind of node is called so</p> : null}
    </div>
  );
}

function Kind({ model, session, active }: {
  model: NodeModel; session: ReturnType<typeof editSession>; active: boolean;
}) {
  return (
    <li>
      <button
        type="button" className="palette-kind" draggable={active} title={model.description || model.id}
        data-kind={model.kind} onClick={() => session.insert?.(model)}
        onDragStart={(event) => {
          event.dataTransfer.setData("text/plain", model.id);
          event.dataTransfer.effectAllowed = "copy";
          session.dragged.set(model);
        }}
        onDragEnd={() => session.dragged.set(null)}
      >
        <span className="text">{model.id}</span>
        <span className="palette-what">{model.kind}</span>
        {model.description === "" ? null : <span className="palette-text text">{model.description}</span>}
      </button>
    </li>
  );
}

function grouped(models: readonly NodeModel[], query: string): Map<string, NodeModel[]> {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const groups = new Map<string, NodeModel[]>();
  for (const model of models) {
    const text = `${model.id} ${model.kind} ${model.package} ${model.description}`.toLowerCase();
    if (words.every((word) => text.includes(word)))
      groups.set(model.package, [...(groups.get(model.package) ?? []), model]);
  }
  return groups;
}
