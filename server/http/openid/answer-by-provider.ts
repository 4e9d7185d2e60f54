import type { RateLimited } from "../../limits/rate-limits.ts";
import type { Session } from "../../objects/session.ts";
import { recordExchange } from "../../openid/exchange-record.ts";
import { openidPaths } from "../../openid/paths.ts";
import type { ReadAhead } from "../../openid/read-ahead.ts";
import { readSessionWithClients } from "../../openid/session-with-clients.ts";
import { recordReuse } from "../../openid/token-reuse.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import { presentedSession } from "../session/presented-session.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { OFF, oauthError } from "./error.ts";

/** A pushed request is stored, with its `claims`. */
const MAX_BODY_BYTES = 16 * 1024;

/** What the library reads of a request. The address of the service comes from the configuration. */
const headersRead = [
  "accept",
  "authorization",
  "content-type",
  "cookie",
  "dpop",
  "origin",
  "user-agent",
] as const;

/** Answers a call of an application, which has no session. */
export const applicationHandler: Handler = (context) => answerByProvider(context, null);

/** Answers a browser, with the session that it has. */
export const browserHandler: Handler = async (context) => {
  const aheads = new Map<string, ReadAhead>();
  const presented = await presentedSession(context, {
    touch: true,
    async find(runtime, tenant, id) {
      const read = await readSessionWithClients({ runtime, tenant }, id);
      if (read) aheads.set(id, read.ahead);
      return read?.found ?? null;
    },
  });
  const session = presented.ok ? presented.session : null;
  return answerByProvider(context, session, { ahead: session ? aheads.get(session.id) : undefined });
};

/** An address that is longer is refused by servers and proxies. */
const MAX_FORM_BYTES = 7 * 1024;

/**
 * An authorization request that comes by a form (OpenID Connect Core, 3.1.2.1), as one that comes by its address. A form of
 * another site is sent without the session cookie, and the redirect with it.
 */
export const formHandler: Handler = async ({ tenant, request }) => {
  if (!tenant.config.openid.enabled) return oauthError(404, OFF);
  const form = await readText(request, "application/x-www-form-urlencoded");
  if (!form.ok && form.reason === "malformed") return oauthError(400, "The form cannot be read.");
  const query = form.ok ? new URLSearchParams(form.value).toString() : null;
  if (query === null || query.length > MAX_FORM_BYTES)
    return oauthError(413, "The form is too large.", { Connection: "close" });
  return redirect(303, `${openidPaths.authorization}?${query}`);
};

/** Limits a handler of authorization requests, which any client can send and which are stored. */
export function limited(handler: Handler): Handler {
  return async (context) => {
    const { runtime, tenant, client } = context;
    const rate = await runtime.rates.consume(tenant.id, "authorization", client.source);
    return rate.ok ? handler(context) : tooManyRequests(rate);
  };
}

export const tooManyRequests = (
  { retryAfterSeconds }: RateLimited,
  headers: Record<string, string> = {},
): Reply =>
  oauthError(429, "Too many requests. Try again in a moment.", {
    "Retry-After": String(retryAfterSeconds),
    ...headers,
  });

/** Reads the body of a request that the library answers, or says why it does not. */
export async function readBody({
  tenant,
  request,
}: HandlerContext): Promise<{ ok: true; body: Uint8Array } | { ok: false; reply: Reply }> {
  if (!tenant.config.openid.enabled) return { ok: false, reply: oauthError(404, OFF) };
  if (request.method !== "POST") return { ok: true, body: new Uint8Array() };
  const body = await request.read(MAX_BODY_BYTES);
  return body === null
    ? { ok: false, reply: oauthError(413, "The body is too large.", { Connection: "close" }) }
    : { ok: true, body };
}

/**
 * Answers a request as the library does.
 *
 * @param body in place of the request's, where it was read already and the provider is on
 * @param ahead what was read together with the session
 * @param whenFailed called if the client has not authenticated, or is a public one without a valid code or token
 */
export async function answerByProvider(
  context: HandlerContext,
  session: Session | null,
  {
    body: read,
    ahead,
    whenFailed,
  }: { body?: Uint8Array; ahead?: ReadAhead | undefined; whenFailed?: () => Promise<unknown> } = {},
): Promise<Reply> {
  const { runtime, tenant, client, request, url } = context;
  const received = read ? { ok: true as const, body: read } : await readBody(context);
  if (!received.ok) return received.reply;
  const headers = headersRead.flatMap((name) => {
    const value = request.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const answered = await runtime.openid.answer(tenant, {
    method: request.method,
    address: `${url.pathname}${url.search}`,
    headers: Object.fromEntries(headers),
    body: received.body,
    ip: client.ip,
    session,
    ahead,
  });
  const { status, cookies, body: text, reused, exchanged, isClientFailure } = answered;
  if (isClientFailure) await whenFailed?.();
  const recorded = { ...context, now: new Date(Date.now() + runtime.platform.clockShift()) };
  if (reused) await recordReuse(recorded, reused);
  if (exchanged) await recordExchange(recorded, exchanged);
  const { "content-type": type, ...others } = answered.headers;
  // The library says to where it redirects, in a page that nothing shows.
  const isRedirect = status === 303;
  return {
    status,
    cookies,
    ...(isRedirect ? {} : { body: text }),
    headers: asReplies(isRedirect || type === undefined ? others : { ...others, "content-type": type }),
  };
}

/** Names as the other replies write them, so that a header replaces the common one. */
function asReplies(headers: Record<string, string>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [
    name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(named);
}
