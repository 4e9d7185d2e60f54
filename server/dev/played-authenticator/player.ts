import { createUafAuthenticator } from "../uaf-authenticator/authenticator.ts";
import type { HeldKey } from "../uaf-authenticator/call.ts";
import { UafClientError } from "../uaf-authenticator/requests.ts";
import { type Memory, readMemory, writeMemory } from "./key-file.ts";

/** The phone that is played in development: an app around a software authenticator, which speaks real HTTP. */
export interface PlayedPhone {
  /** What it holds, oldest first. */
  keys(): HeldKey[];
  /** Ids of requests that its owner has declined. */
  declined(): string[];
  /** Fetches a request, answers it, and sends the answer. Never throws for what a server says. */
  approve(link: RequestLink): Promise<Approval>;
  /** Leaves a request alone. A device may fetch and answer, so nobody is told: the request ends by itself. */
  decline(requestId: string): void;
  /** Forgets a key, by its id in base64url, or all of them. The server is not told. */
  forget(keyId: string | "all"): void;
}

/** Where a request is, and what lets a phone at it. */
export interface RequestLink {
  /** Without a query. */
  href: string;
  /** 256 bits, as the QR code carries them. */
  token: string;
}

/** How an approval went. */
export type Approval =
  | { outcome: "approved" }
  /** The server did not accept the answer, and says why. */
  | { outcome: "refused"; code: number }
  /** The authenticator's client does not answer such a request, by the number of the UAF application API. */
  | { outcome: "unsuitable"; code: number }
  /** It was answered, cancelled or too late before. */
  | { outcome: "over" }
  /** There is no such request, or the token is not its own. */
  | { outcome: "unknown" }
  | { outcome: "unreachable" };

/** What a phone reads of the request's resource. */
interface Resource {
  status?: string;
  operation?: string;
  request?: string;
  error?: { code?: number };
}

const PATIENCE_MS = 5_000;

/** What the app says of the phone. */
const deviceKeyInfo = {
  keyName: "Played phone",
  deviceOs: "Stile",
  osVersion: "1",
  manufacturer: "Stile",
  model: "Played phone",
};

/**
 * A phone with an authenticator like the published Android client's: `006F#0001`, surrogate attestation, ECDSA on
 * P-256 in DER, no counters.
 *
 * @param file where it keeps what it remembers; read and written anew each time
 * @param facetId what its app is to the server
 */
export function openPhone(file: string, facetId: string): PlayedPhone {
  function change(how: (memory: Memory) => Memory): void {
    writeMemory(file, how(readMemory(file)));
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
      // A key that the server did not take is of no use to anybody.
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

  /** Signs, and remembers what was made before anybody hears of it. */
  function answer({ operation, request = "" }: Resource, trustedFacets: unknown) {
    const memory = readMemory(file);
    const authenticator = createUafAuthenticator({ keys: memory.keys });
    const call = { facetId, trustedFacets };
    if (operation !== "REG") return { uafResponse: authenticator.authenticate(request, call) };
    const uafResponse = authenticator.register(request, call);
    writeMemory(file, { ...memory, keys: authenticator.keys });
    const made = authenticator.keys.at(-1)?.id.toString("base64url");
    return { uafResponse, ...(made ? { made } : {}) };
  }

  function forget(keyId: string): void {
    const stays = ({ id }: HeldKey) => keyId !== "all" && id.toString("base64url") !== keyId;
    change((memory) => ({ ...memory, keys: memory.keys.filter(stays) }));
  }

  return {
    keys: () => readMemory(file).keys,
    declined: () => readMemory(file).declined,
    approve,
    // As many as are ever shown beside each other.
    decline: (id) =>
      change((memory) => ({ ...memory, declined: [...memory.declined, id].slice(-DECLINED_LIMIT) })),
    forget,
  };
}

const DECLINED_LIMIT = 200;

class UnreachableError extends Error {}

/** @returns the resource, or the status of an answer that is none */
async function exchange({ href, token }: RequestLink, init: RequestInit): Promise<Resource | number> {
  const headers = { ...init.headers, authorization: `device ${token}` };
  const answer = await ask(href, { ...init, headers });
  return answer.status === 200 ? ((await answer.json()) as Resource) : answer.status;
}

/** The list of facets behind a request's appID, where that is an address. */
async function facetsOf(request: string): Promise<unknown> {
  const [message] = JSON.parse(request) as { header?: { appID?: string } }[];
  const appId = message?.header?.appID ?? "";
  if (!/^https?:/.test(appId)) return undefined;
  const answer = await ask(appId);
  return answer.status === 200 ? answer.json() : {};
}

async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(address, { ...init, redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch {
    throw new UnreachableError();
  }
}
