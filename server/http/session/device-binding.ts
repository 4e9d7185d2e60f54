import { parseItem } from "structured-headers";
import { isCanonicalUuid } from "../../lib/uuid.ts";
import { bindSession, renewBinding } from "../../sessions/device-binding/bind-session.ts";
import { bindsSessions } from "../../sessions/device-binding/binding.ts";
import { type OpenedChallenge, openChallenge } from "../../sessions/device-binding/challenge.ts";
import { challengeOf, isProof, keyOf } from "../../sessions/device-binding/proof.ts";
import { findSession } from "../../sessions/sessions.ts";
import { namedSessions } from "../../sessions/verify-session.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import type { ApiRequest } from "../request/api-request.ts";
import { clientContext, type Handler, type HandlerContext } from "../table/handler-context.ts";
import { boundCookie, challengeHeader, instructions } from "./bound-cookie.ts";
import { cookieTokens, presentedSession } from "./presented-session.ts";

/**
 * The two addresses of device-bound sessions (DBSC, 5), which browsers call by themselves. What they answer decides whether the
 * browser keeps its binding (DBSC, 8.8): it ends it at a 4xx other than 403 and 429.
 */

type Headers = ApiRequest["headers"];

/**
 * `POST /sessions/binding`: a browser registers the public key of its session, once. The challenge is that of the answer
 * which issued the session, so the holder of a copied cookie alone has none.
 */
export const registrationHandler: Handler = async (context) => {
  const { tenant, request } = context;
  if (!bindsSessions(tenant.config)) return off;
  const proof = textHeader(request.headers, "secure-session-response");
  const challenge = proof === null ? null : openedIn(context, proof);
  if (proof === null || challenge === null || challenge.key !== null)
    return plainError(400, "`Secure-Session-Response` must have a proof of a registration.");
  if (!challenge.isFresh) return plainError(400, "The challenge has expired.");
  const key = keyOf(proof);
  if (!key || !(await isProof(proof, key)))
    return plainError(
      400,
      "The proof must be signed with ES256, or RS256 of 2048 to 4096 bits, by its `jwk`.",
    );
  const presented = await presentedSession(context, { touch: false });
  if (!presented.ok || presented.session.id !== challenge.sessionId)
    return plainError(401, "No valid session.");
  const value = await bindSession(await clientContext(context), challenge, key);
  if (value === null) return plainError(409, "The session is bound already, or cannot be bound now.");
  return bound(context, challenge.sessionId, value);
};

/**
 * `POST /sessions/binding/refresh`: a browser renews the bound cookie. Without the proof of a fresh challenge it is answered
 * 403 with one. The header that names the session is one that no script can set, so other sites cannot call this.
 *
 * A browser may have bound two sessions, of which the later has the cookies: it gives the former up. Where sessions are not bound any
 * more, those that are stay so, because a browser that gives its binding up cannot register again.
 */
export const refreshHandler: Handler = async (context) => {
  const { runtime, tenant, request, cookies } = context;
  const id = textHeader(request.headers, "sec-secure-session-id");
  if (id === null || !isCanonicalUuid(id))
    return plainError(400, "`Sec-Secure-Session-Id` must have the id of a session.");
  const named = await namedSessions(runtime, tenant, cookieTokens(tenant, cookies).cookies);
  if (named.length > 0 && !named.includes(id)) return json(200, { session_identifier: id, continue: false });
  const proof = textHeader(request.headers, "secure-session-response");
  const challenge = proof === null ? null : openedIn(context, proof);
  if (proof === null || challenge === null) return firstChallenge(context, id);
  const { key, sessionId, isFresh } = challenge;
  if (key === null || sessionId !== id || !(await isProof(proof, key)))
    return plainError(400, "The proof is not one of this session's key.");
  const renewed = isFresh ? await renewBinding(context, challenge) : "stale";
  if (renewed === "ended") return ended;
  if (renewed === "stale") return challenged(context, { id, boundKey: key });
  return bound(context, id, renewed.value);
};

/**
 * `GET /.well-known/device-bound-sessions` (DBSC, 11.6): this service may bind sessions of the site whose main host it is
 * reached by.
 */
export const wellKnownHandler: Handler = ({ tenant }) => {
  const { config } = tenant;
  return bindsSessions(config)
    ? json(200, { registering_origins: [new URL(config.base_url).origin] })
    : plainError(404, "Not found.");
};

const off = plainError(404, "Sessions are not bound to devices here.");
const ended = plainError(404, "There is no such session.");

/** The answer that sets the bound cookie. */
const bound = ({ tenant }: HandlerContext, id: string, value: string): Reply =>
  json(200, instructions(tenant, id), { cookies: [boundCookie(tenant.config, value)] });

async function firstChallenge(context: HandlerContext, id: string): Promise<Reply> {
  const { runtime, client } = context;
  const rate = await runtime.rates.consumeShared("page", client.source);
  if (!rate.ok)
    return plainError(429, "Too many requests.", { "Retry-After": String(rate.retryAfterSeconds) });
  const found = await findSession(runtime, context.tenant, id);
  return found?.live && found.session.boundKey ? challenged(context, found.session) : ended;
}

const challenged = (context: HandlerContext, session: Parameters<typeof challengeHeader>[1]): Reply =>
  plainError(403, "Sign the challenge.", { "Secure-Session-Challenge": challengeHeader(context, session) });

function openedIn(context: HandlerContext, proof: string): OpenedChallenge | null {
  const challenge = challengeOf(proof);
  return challenge === null ? null : openChallenge(context, challenge);
}

/**
 * The text of a header that is a structured item (RFC 9651, 3.3.3); null if it is missing or something else. Chromium sends the
 * text without quotation marks.
 */
function textHeader(headers: Headers, name: string): string | null {
  const header = headers.get(name) ?? "";
  if (/^[\w.-]+$/.test(header)) return header;
  try {
    const [value] = parseItem(header);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
