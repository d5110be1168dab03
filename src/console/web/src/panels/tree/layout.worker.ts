// SPDX-License-Identifier: Apache-2.0
import { placed, type LayoutInput } from "./layout";

addEventListener("message", ({ data }: MessageEvent<{ number: number; input: LayoutInput }>) => {
  const placing = placed(data.input);
  postMessage({ number: data.number, placing }, { transfer: [placing.x.buffer, placing.y.buffer] });
});
