// SPDX-License-Identifier: Apache-2.0
export { apiJson, apiUrl, socketUrl } from "./access";
export type { Change } from "./channels";
export {
  Console, ConsoleProvider, LAYOUTS, useChannel, useCommand, useConsole, useIsRecord, useMay, useSelection,
  useTime, type Layout, type Selection, type Theme,
} from "./console";
export type { Goal } from "./goal";
export * from "./types";
export { useValue, Value } from "./value";
