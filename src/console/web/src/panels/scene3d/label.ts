// SPDX-License-Identifier: Apache-2.0
import { CSS2DObject } from "three/addons/renderers/CSS2DRenderer.js";

/** A text that stays at a place of the scene and keeps its size. */
export function label(className: string, text = ""): CSS2DObject {
  const element = document.createElement("span");
  element.className = `scene-label ${className}`;
  element.textContent = text;
  const made = new CSS2DObject(element);
  made.center.set(0.5, 1);
  return made;
}
