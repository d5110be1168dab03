// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { MissionParameter } from "../../store";
import { freeValues, namesOf, problemOf, problemsOf, refusedFields, toSend } from "./form";

const depth: MissionParameter = { name: "depth", type: "double", default: "0.5", minimum: 0.1, maximum: 2, unit: "m" };
const holes: MissionParameter = { name: "holes", type: "unsigned int", default: "1" };
const who: MissionParameter = { name: "who", type: "std::string", default: null };
const tool: MissionParameter = { name: "tool", type: "std::string", default: "spade", choices: ["spade", "fork"] };

describe("what a field refuses", () => {
  it.each([
    [depth, "1.5", ""], [depth, "0.1", ""], [depth, "2e0", ""], [depth, ".5", ""],
    [depth, "0.05", "at least 0.1 m"], [depth, "2.01", "at most 2 m"], [depth, "0,5", "a number, with a point: 0.25"],
    [depth, "Infinity", "a number, with a point: 0.25"], [depth, "", "it must be given"],
    [holes, "3", ""], [holes, "-1", "at least 0"], [holes, "1.5", "a whole number"], [holes, "0x10", "a whole number"],
    [who, "", "it must be given"], [who, " ", "it must be given"], [who, "ann", ""],
    [tool, "fork", ""], [tool, "spoon", "choose of spade, fork"],
    [{ name: "loud", type: "bool", default: "true" }, "maybe", "true or false"],
    [{ ...depth, minimum: NaN }, "1", "at least NaN m"], // a limit that is no number lets nothing through
  ])("%o takes %s: %s", (parameter, text, problem) => {
    expect(problemOf(parameter as MissionParameter, text as string)).toBe(problem);
  });

  it("names all fields at once", () => {
    expect(problemsOf([depth, who, tool], { depth: "9", tool: "fork" })).toEqual({
      depth: "at most 2 m", who: "it must be given",
    });
  });
});

it("sends what differs from the defaults, and what must be given", () => {
  expect(toSend([depth, who, tool], { depth: "0.5", who: "ann", tool: "fork" })).toEqual({ who: "ann", tool: "fork" });
});

it("takes what the executor refuses to its fields", () => {
  expect(refusedFields({ problems: { depth: "0.05 is less than 0.1" } })).toEqual({ depth: "0.05 is less than 0.1" });
  expect(refusedFields(undefined)).toEqual({});
  expect(refusedFields({ problems: "all" })).toEqual({});
});

it("reads parameters that nobody has declared", () => {
  expect(freeValues("a = 1\n\n b=x = y ")).toEqual({ a: "1", b: "x = y" });
  expect(() => freeValues("nothing")).toThrow("'nothing' is not of the form KEY = VALUE");
});

it("reads lists of names", () => expect(namesOf("a; b;;c")).toEqual(["a", "b", "c"]));
