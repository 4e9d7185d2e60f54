import { decodeJwt } from "jose";
import type { Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { answerByProvider, readBody, tooManyRequests } from "./answer-by-provider.ts";

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
 * @param body of the request, whose `client_id` or credentials name the client
 */
export async function answerClient(context: HandlerContext, body: Uint8Array): Promise<Reply> {
  const { runtime, tenant, client } = context;
  const named = namedClient(context, body);
  const isListed = named !== null && Object.hasOwn(tenant.config.openid.clients, named);
  const subject = isListed ? `${client.source} ${named}` : client.source;
  const rate = runtime.rates.check(tenant.id, "client_failure", subject);
  if (!rate.ok) return tooManyRequests(rate);
  return answerByProvider(context, null, {
    body,
    whenFailed: () => runtime.rates.consume(tenant.id, "client_failure", subject),
  });
}

/** The client that a request names, as the library reads it; null if it names none in a form that the library takes. */
function namedClient({ request }: HandlerContext, body: Uint8Array): string | null {
  const [, basic] = /^basic ([a-z0-9+/]+=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  try {
    if (basic !== undefined) {
      const [id = ""] = Buffer.from(basic, "base64").toString().split(":");
      return decodeURIComponent(id.replaceAll("+", "%20"));
    }
    const form = new URLSearchParams(Buffer.from(body).toString());
    const assertion = form.get("client_assertion");
    return form.get("client_id") ?? (assertion === null ? null : (decodeJwt(assertion).sub ?? null));
  } catch {
    // Malformed: the library says so.
    return null;
  }
}
