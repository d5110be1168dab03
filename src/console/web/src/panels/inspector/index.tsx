// SPDX-License-Identifier: Apache-2.0
import { Empty } from "../../design";
import { useChannel, useSelection } from "../../store";
import { ObjectDetails } from "../objects/ObjectDetails";
import "../objects/objects.css";
import "../../operator/operator.css";
import "./inspector.css";
import { MissionPart } from "./MissionPart";
import { NodePart } from "./NodePart";
import { ServerPart } from "./ServerPart";

/** All that is known of what is selected, and what can be done with it; of nothing, the mission that runs. */
export default function Inspector() {
  const [{ node, object, mission, server }] = useSelection();
  const shown = useChannel("mission")?.action_id;
  if (node !== undefined) return <NodePart key={node} uid={node} />;
  if (object !== undefined) return <ObjectDetails name={object} />;
  if (server !== undefined) return <ServerPart key={server} name={server} />;
  if (mission !== undefined) return <MissionPart key={mission} id={mission} />;
  if (shown !== undefined) return <MissionPart key={shown} id={shown} />;
  return <Empty waitsFor="nothing is selected" todo="select a node of the tree, an object, a mission or a server" />;
}
