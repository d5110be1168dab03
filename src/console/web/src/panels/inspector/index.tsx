// SPDX-License-Identifier: Apache-2.0
import { Empty } from "../../design";
import { useSelection } from "../../store";
import { ObjectDetails } from "../objects/ObjectDetails";
import "../objects/objects.css";
import "../../operator/operator.css";
import "./inspector.css";
import { NodePart } from "./NodePart";

/** All that is known of what is selected, and what can be done with it. */
export default function Inspector() {
  const [{ node, object }] = useSelection();
  if (node !== undefined) return <NodePart key={node} uid={node} />;
  if (object !== undefined) return <ObjectDetails name={object} />;
  return <Empty waitsFor="nothing is selected" todo="select a node of the tree or an object of the scene" />;
}
