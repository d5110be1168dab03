// SPDX-License-Identifier: Apache-2.0
const KEY = "console.token";

/**
 * Takes the token out of the address, so that a link handed on does not hand on the right to act;
 * this tab keeps it.
 */
export function takeToken(): string {
  const parameters = new URLSearchParams(location.search);
  const given = parameters.get("token");
  if (given === null) return sessionStorage.getItem(KEY) ?? "";
  sessionStorage.setItem(KEY, given);
  parameters.delete("token");
  const rest = parameters.toString();
  history.replaceState(null, "", location.pathname + (rest === "" ? "" : `?${rest}`));
  return given;
}

/** Address of the websocket at `path`. */
export function socketUrl(path: string, parameters: Record<string, string> = {}): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}${withToken(path, parameters)}`;
}

/** A path below `/api` with the token: for loaders that take an address only. */
export function apiUrl(path: string): string {
  return withToken(path, {});
}

/** What the server has at `path`. Rejects with the server's sentence. */
export async function apiJson<T>(path: string): Promise<T> {
  const answer = await fetch(apiUrl(path));
  if (!answer.ok) throw new Error((await sentenceOf(answer)) || `${path}: ${answer.status} ${answer.statusText}`);
  return (await answer.json()) as T;
}

/** Why the server lets this page in no more; empty: it does, or cannot be reached. */
export async function refusal(): Promise<string> {
  try {
    const answer = await fetch(apiUrl("/icon.svg"), { cache: "no-store" });
    return answer.status === 401 || answer.status === 403 ? (await sentenceOf(answer)) || "not let in" : "";
  } catch {
    return "";
  }
}

/** What the server says; a proxy's own page says nothing to a person. */
async function sentenceOf(answer: Response): Promise<string> {
  const type = answer.headers.get("content-type") ?? "";
  return type.startsWith("text/plain") ? (await answer.text()).trim() : "";
}

function withToken(path: string, parameters: Record<string, string>): string {
  const token = sessionStorage.getItem(KEY) ?? "";
  // Who has none may look: an empty one would be a wrong one.
  const query = new URLSearchParams({ ...parameters, ...(token === "" ? {} : { token }) }).toString();
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
}
