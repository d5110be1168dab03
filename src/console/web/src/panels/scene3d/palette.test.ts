// SPDX-License-Identifier: Apache-2.0
import { afterEach, expect, it } from "vitest";
import { paletteOf } from "./palette";

afterEach(() => document.documentElement.removeAttribute("style"));

it("takes the page's colours for an element that is not shown yet", () => {
  document.documentElement.style.setProperty("--ground", "#102030");
  expect(paletteOf(document.createElement("div")).ground.getHexString()).toBe("102030");
});
