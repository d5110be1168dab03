// SPDX-License-Identifier: Apache-2.0
import { Component, lazy, Suspense, type ComponentType, type ReactNode } from "react";
import { Button, Empty } from "../design";
import { PANELS } from "../panels/registry";
import { ModulePanel, useOffered } from "./modules";

const TITLES = new Map(PANELS.map((panel) => [panel.id, panel.title]));
const LOADED = new Map<string, ComponentType>();

function panelNamed(id: string): ComponentType | null {
  const known = LOADED.get(id);
  if (known !== undefined) return known;
  const panel = PANELS.find((each) => each.id === id);
  if (panel === undefined) return null;
  const component = lazy(panel.load);
  LOADED.set(id, component);
  return component;
}

/** A panel's fault stays in the panel. */
class Fence extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Empty waitsFor="this panel has failed; the others go on" todo={error.message}>
        <Button onClick={() => this.setState({ error: null })}>Show it again</Button>
      </Empty>
    );
  }
}

/** One panel of the registry, with its code loaded when it is first shown. */
export function PanelHost({ id }: { id: string }) {
  const Panel = panelNamed(id);
  const offered = useOffered().find((each) => each.panel === id);
  if (offered !== undefined)
    return <Fence><ModulePanel key={offered.url} module={offered} /></Fence>;
  if (Panel === null)
    return <Empty waitsFor={`there is no panel '${id}'`} todo="close it; Ctrl K lists all panels" />;
  return (
    <Fence>
      <h2 className="unseen">{TITLES.get(id)}</h2>
      <Suspense fallback={<Empty waitsFor="loading this panel" />}>
        <Panel />
      </Suspense>
    </Fence>
  );
}
