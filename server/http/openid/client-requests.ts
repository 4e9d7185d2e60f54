import { decodeJwt } from "jose";
import type { Config } from "../../config/schema.ts";
import { originsOf } from "../../openid/origins-of-client.ts";
import type { Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { answerByProvider, readBody, tooManyRequests } from "./answer-by-provider.ts";

type ListedClient = Config["openid"]["clients"][string];

/** Answers a request by which a client authenticates, or presents a code or token (RFC 6749, 2.3 and 3.2). */
export const clientHandler: Handler = async (context) => {
  const received = await readBody(context);
  return received.ok ? answerClient(context, received.body) : received.reply;
};

/**
 * Answers a client. A source whose requests fail is refused for the rest of a minute before anything of them is looked at, so that
 * no secret is found by guessing. One that succeeds is not counted. Each listed client is counted by itself: applications behind
 * one address do not lock each other out. All other clients of a source share one count: the names are whatever it sends.
 *
 * A listed public client begins sign-ins and exchanges their codes beyond the limit too: it has no secret, and the pages of an
 * office, whose refresh tokens have all ended at once, come from one address.
 *
 * @param body of the request, whose `client_id` or credentials name the client
 */
export async function answerClient(context: HandlerContext, body: Uint8Array): Promise<Reply> {
  const { runtime, tenant, client } = context;
  const named = namedClient(context, body);
  const { clients } = tenant.config.openid;
  const listed = named !== null && Object.hasOwn(clients, named) ? clients[named] : undefined;
  const subject = listed ? `${client.source} ${named}` : client.source;
  const rate = runtime.rates.check(tenant.id, "client_failure", subject);
  if (!rate.ok && !(listed && provesNothing(context, body, listed)))
    return tooManyRequests(rate, listed ? readableBy(context, listed) : {});
  return answerByProvider(context, null, {
    body,
    whenFailed: () => runtime.rates.consume(tenant.id, "client_failure", subject),
  });
}

/** What a public client presents that may have been valid before, or may belong to another user. */
const presentedMembers = ["refresh_token", "device_code", "subject_token", "token"] as const;

/** Whether a request is that of a public client, has no credentials, and presents none of those. */
function provesNothing(
  { request }: HandlerContext,
  body: Uint8Array,
  { secret, jwks }: ListedClient,
): boolean {
  const form = formOf(body);
  const hasCredentials = request.headers.get("authorization") !== null || form.has("client_assertion");
  const isPublic = secret === undefined && jwks === undefined;
  return isPublic && !hasCredentials && !presentedMembers.some((member) => form.has(member));
}

const formOf = (body: Uint8Array) => new URLSearchParams(Buffer.from(body).toString());

/** CORS headers of an answer that the library does not give, for the pages that may read those that it does. */
function readableBy({ request }: HandlerContext, { redirect_uris }: ListedClient): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null || !originsOf(redirect_uris).includes(origin)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "Retry-After",
  };
}

/** The client that a request names, as the library reads it; null if it names none in a form that the library takes. */
function namedClient({ request }: HandlerContext, body: Uint8Array): string | null {
  const [, basic] = /^basic ([a-z0-9+/]+=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  try {
    if (basic !== undefined) {
      const [id = ""] = Buffer.from(basic, "base64").toString().split(":");
      return decodeURIComponent(id.replaceAll("+", "%20"));
    }
    const form = formOf(body);
    const assertion = form.get("client_assertion");
    return form.get("client_id") ?? (assertion === null ? null : (decodeJwt(assertion).sub ?? null));
  } catch {
    // Malformed: the library says so.
    return null;
  }
}
