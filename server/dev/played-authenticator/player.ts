import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import type { StoredKey } from "../../testing/uaf-authenticator/call.ts";
import { UafClientError } from "../../testing/uaf-authenticator/requests.ts";
import { readState, type StoredState, writeState } from "./key-file.ts";

/** The authenticator app of development: a software authenticator that answers requests over HTTP. */
export interface PlayedAuthenticator {
  /** Its keys, oldest first. */
  keys(): StoredKey[];
  /** Ids of declined requests. */
  declined(): string[];
  /** Reads a request and sends the answer. Does not throw for any response of the server. */
  approve(link: RequestLink): Promise<Approval>;
  /** Hides a request. The interface has no way to decline, so the server is not told and the request expires. */
  decline(requestId: string): void;
  /** Deletes a key by its id in base64url, or all keys. The server is not told. */
  forget(keyId: string | "all"): void;
}

/** URL and token of a request. */
export interface RequestLink {
  /** Without a query. */
  href: string;
  /** The device token. */
  token: string;
}

/** The result of an approval. */
export type Approval =
  | { outcome: "approved" }
  /** The server rejected the answer, with a UAF status code. */
  | { outcome: "refused"; code: number }
  /** The UAF client does not answer the request, with an error code of the UAF Application API. */
  | { outcome: "unsuitable"; code: number }
  /** The request was already answered or cancelled, or has expired. */
  | { outcome: "over" }
  /** There is no such request, or the token is wrong. */
  | { outcome: "unknown" }
  | { outcome: "unreachable" };

/** The members of a request that the authenticator reads. */
interface Resource {
  status?: string;
  operation?: string;
  request?: string;
  error?: { code?: number };
}

const REQUEST_TIMEOUT_MS = 5_000;

const deviceKeyInfo = {
  keyName: "Played authenticator",
  deviceOs: "Stile",
  osVersion: "1",
  manufacturer: "Stile",
  model: "Played authenticator",
};

/**
 * Opens an authenticator like the published Android client's: `006F#0001`, surrogate attestation, ECDSA on P-256 in DER,
 * no counters.
 *
 * @param file stores its state; read and written on each use
 * @param facetId of its app
 */
export function openPlayedAuthenticator(file: string, facetId: string): PlayedAuthenticator {
  function change(how: (memory: StoredState) => StoredState): void {
    writeState(file, how(readState(file)));
  }

  async function approve(link: RequestLink): Promise<Approval> {
    try {
      const found = await exchange(link, { method: "GET" });
      if (typeof found === "number") return { outcome: "unknown" };
      if (found.status !== "PENDING" || !found.request) return { outcome: "over" };
      const list = await facetsOf(found.request);
      const { uafResponse, made } = answer(found, list);
      const judged = await exchange(link, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uafResponse, deviceKeyInfo }),
      });
      if (typeof judged === "number") return { outcome: "unknown" };
      if (judged.status === "OK") return { outcome: "approved" };
      // The server did not register the key.
      if (made) forget(made);
      return judged.status === "FAILED"
        ? { outcome: "refused", code: judged.error?.code ?? 0 }
        : { outcome: "over" };
    } catch (error) {
      if (error instanceof UafClientError) return { outcome: "unsuitable", code: error.code };
      if (error instanceof UnreachableError) return { outcome: "unreachable" };
      throw error;
    }
  }

  /** Signs, and stores a new key before it is sent. */
  function answer({ operation, request = "" }: Resource, trustedFacets: unknown) {
    const memory = readState(file);
    const authenticator = createUafAuthenticator({ keys: memory.keys });
    const call = { facetId, trustedFacets };
    if (operation !== "REG") return { uafResponse: authenticator.authenticate(request, call) };
    const uafResponse = authenticator.register(request, call);
    writeState(file, { ...memory, keys: authenticator.keys });
    const made = authenticator.keys.at(-1)?.id.toString("base64url");
    return { uafResponse, ...(made ? { made } : {}) };
  }

  function forget(keyId: string): void {
    const isKept = ({ id }: StoredKey) => keyId !== "all" && id.toString("base64url") !== keyId;
    change((memory) => ({ ...memory, keys: memory.keys.filter(isKept) }));
  }

  return {
    keys: () => readState(file).keys,
    declined: () => readState(file).declined,
    approve,
    decline: (id) =>
      change((memory) => ({ ...memory, declined: [...memory.declined, id].slice(-DECLINED_LIMIT) })),
    forget,
  };
}

const DECLINED_LIMIT = 200;

class UnreachableError extends Error {}

/** @returns the request, or the HTTP status if it is not 200 */
async function exchange({ href, token }: RequestLink, init: RequestInit): Promise<Resource | number> {
  const headers = { ...init.headers, authorization: `device ${token}` };
  const answer = await ask(href, { ...init, headers });
  return answer.status === 200 ? ((await answer.json()) as Resource) : answer.status;
}

/** Fetches the trusted facets of a request's appID, if it is a URL. */
async function facetsOf(request: string): Promise<unknown> {
  const [message] = JSON.parse(request) as { header?: { appID?: string } }[];
  const appId = message?.header?.appID ?? "";
  if (!/^https?:/.test(appId)) return undefined;
  const answer = await ask(appId);
  return answer.status === 200 ? answer.json() : {};
}

async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(address, {
      ...init,
      redirect: "error",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  } catch {
    throw new UnreachableError();
  }
}
