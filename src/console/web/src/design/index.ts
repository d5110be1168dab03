// SPDX-License-Identifier: Apache-2.0
import "./tokens.css";
import "./design.css";

export { Button, Empty, Field, Keys } from "./parts";
export { shapeOf, StatusIcon, type Shape } from "./StatusIcon";
