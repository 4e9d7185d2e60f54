import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type ExportedJWKSCache,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwksCache,
  jwtVerify,
} from "jose";
import { StileError } from "./error.ts";
import { operations } from "./interface.ts";

/** Requests to the interface, and its keys. */
export interface Connection {
  /** Base address of the tenant: the issuer of access tokens. */
  base: string;
  issuer: string;
  audience: string;
  /**
   * Sends JSON, and reads JSON.
   *
   * @throws StileError for a status above 299, or without an answer
   */
  send(method: string, path: string, options?: SendOptions): Promise<{ body: unknown; headers: Headers }>;
  /** Calls an operation of the administration interface. */
  call(operation: keyof typeof operations, input: Record<string, unknown>): Promise<unknown>;
  /**
   * Verifies a token by the published keys, with times, issuer and audience; default: issuer and audience of sessions.
   *
   * @throws StileError if the keys cannot be read
   */
  verify(token: string, options: TokenExpectations): Promise<VerifiedToken>;
}

type TokenExpectations = Pick<JWTVerifyOptions, "typ" | "requiredClaims" | "issuer" | "audience">;

export type VerifiedToken = { ok: true; claims: JWTPayload } | { ok: false; reason: "invalid" | "expired" };

interface SendOptions {
  query?: Record<string, unknown>;
  body?: unknown;
  key?: string | undefined;
}

/** How a client reaches the service. */
export interface ConnectionOptions {
  /** Base address of the tenant, with its prefix: `https://login.example.com`. */
  baseUrl: string;
  /** A key of the interface `admin`, for `admin`. */
  apiKey?: string | undefined;
  /** `aud` of tokens; default: the host name of the base address (`webauthn.relying_party.id`). */
  audience?: string | undefined;
  /** `iss` of tokens; default: the base address (`session.issuer`). */
  issuer?: string | undefined;
  /** Milliseconds until a request is given up; default: 5000. */
  timeoutMs?: number | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The algorithms with which the service signs (`session.algorithm`). */
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];

/** Keys are read again after this time, and for an unknown key at most once in the second one. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
const KEYS_COOLDOWN_MS = 30_000;

/** Keys that cannot be read are asked for again at most once in this time: any client can send an unknown key. */
const KEYS_RETRY_MS = 1_000;

/** Keys that cannot be read again verify for this time: with a known key, an outage of the service refuses no token. */
const KEYS_MAX_STALE_MS = 24 * 3_600_000;

export function connect({
  baseUrl,
  apiKey,
  audience = new URL(baseUrl).hostname,
  issuer,
  timeoutMs = 5000,
  fetch: request = (...given) => fetch(...given),
}: ConnectionOptions): Connection {
  const base = baseUrl.replace(/\/+$/, "");
  let retryKeysAt = Number.NEGATIVE_INFINITY;
  const lastKeys: Partial<ExportedJWKSCache> = {};
  const keys = createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`), {
    cacheMaxAge: KEYS_MAX_AGE_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
    timeoutDuration: timeoutMs,
    [jwksCache]: lastKeys as ExportedJWKSCache,
    [customFetch]: async (...given) => {
      if (performance.now() < retryKeysAt) throw new Error("They could not be read just now.");
      // With keys that still verify, each further attempt only delays a request.
      retryKeysAt = performance.now() + (lastKeys.jwks ? KEYS_COOLDOWN_MS : KEYS_RETRY_MS);
      const response = await request(...given);
      if (response.ok) retryKeysAt = performance.now() + KEYS_RETRY_MS;
      return response;
    },
  });

  const send: Connection["send"] = async (method, path, { query = {}, body, key } = {}) => {
    const url = base + path + queryOf(query);
    let response: Response;
    let text: string;
    try {
      response = await request(url, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          Accept: "application/json",
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (cause) {
      throw new StileError(`Stile does not answer at ${base}.`, { cause });
    }
    const { status, headers } = response;
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(headers.get("content-type") ?? "");
    const answer = isJson && text !== "" ? parse(text) : text;
    if (status < 300) return { body: text === "" ? undefined : answer, headers };
    const { message } = (answer ?? {}) as { message?: unknown };
    const wait = Number(headers.get("retry-after"));
    throw new StileError(typeof message === "string" ? message : `Stile answers with status ${status}.`, {
      status,
      ...(wait > 0 ? { retryAfterSeconds: wait } : {}),
    });
  };

  return {
    base,
    issuer: issuer ?? base,
    audience,
    send,
    async call(name, { query, body, ...params }) {
      if (apiKey === undefined) throw new StileError("`apiKey` is needed for the administration interface.");
      const [method, template, paged] = operations[name];
      const path = template.replace(/\{(\w+)\}/g, (_, param: string) => segmentOf(param, params[param]));
      const answer = await send(method, path, {
        query: (query ?? {}) as Record<string, unknown>,
        body,
        key: apiKey,
      });
      return paged ? { items: answer.body, total: Number(answer.headers.get("x-total-count")) } : answer.body;
    },
    async verify(token, options) {
      const expected = {
        ...options,
        algorithms: ALGORITHMS,
        // Never undefined: jose does not check what it is not told.
        issuer: options.issuer ?? issuer ?? base,
        audience: options.audience ?? audience,
      };
      try {
        return await verifyBy(keys, token, expected).catch((error: unknown) => {
          const { jwks, uat = 0 } = lastKeys;
          if (!jwks || Date.now() - uat >= KEYS_MAX_STALE_MS) throw error;
          return verifyBy(staleKeys(jwks), token, expected);
        });
      } catch (cause) {
        throw new StileError(`The keys of Stile cannot be read at ${base}.`, { cause });
      }
    },
  };
}

/** @throws an error that says nothing of the token */
async function verifyBy(
  keys: JWTVerifyGetKey,
  token: string,
  expected: JWTVerifyOptions,
): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(token, keys, expected);
    return { ok: true, claims: payload };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { ok: false, reason: "expired" };
    if (error instanceof errors.JOSEError && !unreadableKeys.has(error.code))
      return { ok: false, reason: "invalid" };
    throw error;
  }
}

/** Keys that may lack the newest: a token of an unknown one is not judged. */
function staleKeys(jwks: JSONWebKeySet): JWTVerifyGetKey {
  const known = createLocalJWKSet(jwks);
  return (...given) =>
    known(...given).catch((cause: unknown) => {
      throw new Error("The key of the token is not known.", { cause });
    });
}

/** Codes of errors that say nothing of the token. */
const unreadableKeys = new Set(["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"]);

/**
 * A parameter as a segment of a path.
 *
 * @throws StileError for one that makes the path that of another operation (URL Standard, 4.4)
 */
function segmentOf(name: string, value: unknown): string {
  const segment = String(value ?? "");
  if (["", ".", ".."].includes(segment)) throw new StileError(`\`${name}\` is not an id.`);
  return encodeURIComponent(segment);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StileError("Stile answers with malformed JSON.", { cause });
  }
}

function queryOf(query: Record<string, unknown>): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((item) =>
      item === undefined ? [] : [[name, item instanceof Date ? item.toISOString() : String(item)]],
    ),
  );
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : "";
}
