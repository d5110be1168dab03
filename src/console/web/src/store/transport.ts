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

/**
 * Connects to `url` by websocket with binary msgpack frames.
 *
 * A browser does not say why a websocket was not let in: `refusal` asks the server, and has its
 * sentence, or an empty one where trying again is of use.
 */
export function websocket(url: string, refusal: () => Promise<string>): Connect {
  return (receiver) => {
    const socket = new WebSocket(url);
    let ended = false;
    let open = false;
    const fail = async (reason: string) => {
      const refused = await refusal();
      if (!ended) receiver.closed(refused || reason, refused !== "");
    };
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      open = true;
      receiver.opened();
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) =>
      receiver.message(decode(event.data, { useBigInt64: false }) as ServerMessage);
    socket.onclose = (event) => {
      if (open) receiver.closed(event.reason, REFUSED.has(event.code));
      else void fail(event.reason);
    };
    return {
      send: (message) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(encode(message));
      },
      close: () => {
        ended = true;
        socket.onclose = null;
        socket.close();
      },
    };
  };
}
