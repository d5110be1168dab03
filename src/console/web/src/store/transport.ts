// SPDX-License-Identifier: Apache-2.0
import { decode, encode } from "@msgpack/msgpack";
import type { ClientMessage, ServerMessage } from "./types";

/** Who hears what comes from the server. */
export interface Receiver {
  opened(): void;
  message(message: ServerMessage): void;
  /** The connection ended or never came about; `reason` may be empty. */
  closed(reason: string, final: boolean): void;
}

/** An open connection, or one that is being opened. */
export interface Transport {
  send(message: ClientMessage): void;
  close(): void;
}

export type Connect = (receiver: Receiver) => Transport;

/** Codes with which the server says that trying again is of no use. */
const REFUSED = new Set([1008, 4401, 4403]);

/** Connects to `url` by websocket with binary msgpack frames. */
export function websocket(url: string): Connect {
  return (receiver) => {
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => receiver.opened();
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) =>
      receiver.message(decode(event.data, { useBigInt64: false }) as ServerMessage);
    socket.onclose = (event) => receiver.closed(event.reason, REFUSED.has(event.code));
    return {
      send: (message) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(encode(message));
      },
      close: () => {
        socket.onclose = null;
        socket.close();
      },
    };
  };
}
