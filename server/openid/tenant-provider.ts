import type { IncomingMessage, ServerResponse } from "node:http";
import inject from "light-my-request";
import { errors, type KoaContextWithOIDC, Provider } from "oidc-provider";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import { TOKEN_EXCHANGE } from "./clients.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider-messages.ts";
import { type OpenidProcess, providerSettings, VISITOR_COOKIE } from "./provider-settings.ts";
import { writeRedemption } from "./redemption.ts";
import { type TenantKey, tenantKeys } from "./signing.ts";
import { hasTokenExchange } from "./subject-token.ts";
import { registerTokenExchange } from "./token-exchange.ts";
import { answeredFor, presentVisitor, type Visitor } from "./visitor.ts";

export type { OpenidProcess } from "./provider-settings.ts";

/** The OpenID provider of a tenant. */
export interface TenantProvider {
  /** Whether it was made with these keys. */
  hasKeys(keys: readonly TenantKey[]): boolean;
  /** @throws what has kept the library from answering */
  answer(request: ProviderRequest): Promise<ProviderAnswer>;
}

/** The keys that a tenant's provider is made with. */
export const signingKeysOf = ({ runtime, tenant }: TenantContext<OpenidProcess>): Promise<TenantKey[]> =>
  tenantKeys(runtime.signingKeys.of(tenant));

/** Makes the provider of a tenant. */
export function makeTenantProvider(
  context: TenantContext<OpenidProcess>,
  keys: readonly TenantKey[],
): TenantProvider {
  const { base_url } = context.tenant.config;
  const { protocol, host, pathname } = new URL(base_url);
  const provider = new Provider(base_url, providerSettings(context, keys));
  if (hasTokenExchange(context.tenant.config)) registerTokenExchange(context, provider);
  // The scheme is named by a header that is set below, and by nothing else.
  provider.proxy = true;
  provider.on("server_error", (_, error) => {
    presentVisitor().failure = error;
  });
  // A token that was used before was presented: the library has ended its grant.
  provider.on("grant.revoked", ({ oidc }) => {
    if (oidc.route === "token") presentVisitor().isReused = true;
  });
  // Where it answers with a page that submits itself (`response_mode=form_post`), the library adds the hash of its script.
  provider.use(async (ctx, next) => {
    ctx.set("content-security-policy", PAGE_POLICY);
    await next();
    if (ctx.oidc?.route === "discovery") hideClaimsOfClients(context.tenant.config, ctx.body as Discovery);
    if (ctx.oidc?.route === "token") nameUnauthorized(ctx.oidc, ctx.body as TokenError);
    if (ctx.oidc) presentVisitor().isClientFailure = isClientFailure(ctx.oidc, ctx.body as TokenError | null);
  });
  const respond = provider.callback();
  const baseUrl = pathname === "/" ? "" : pathname;
  // The library reads from here under which path it is mounted.
  const application = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    void respond(Object.assign(incoming, { baseUrl }), outgoing);

  return {
    hasKeys: (others) => others.map(({ kid }) => kid).join() === keys.map(({ kid }) => kid).join(),
    async answer({ method, address, headers, body, ip, session, ahead }) {
      const { cookie, ...own } = headers;
      const cookies = [cookiesOfProvider(cookie), session && `${VISITOR_COOKIE}=${session.id}`];
      const visitor: Visitor = { session, redemption: null, ...(ahead ? { readAhead: ahead } : {}) };
      const answered = await answeredFor(
        visitor,
        // It begins when it is waited for, which has to be within.
        async () =>
          await inject(application, {
            method: method as "GET",
            url: address,
            headers: {
              ...own,
              host,
              "x-forwarded-proto": protocol.slice(0, -1),
              ...(cookies.some(Boolean) ? { cookie: cookies.filter(Boolean).join("; ") } : {}),
              // An empty form has a length too.
              ...(method === "POST" ? { "content-length": String(body.length) } : {}),
            },
            remoteAddress: ip,
            ...(body.length > 0 ? { payload: Buffer.from(body) } : {}),
          }),
      );
      // Logged, and answered as a temporary failure where it is one, as for any other address.
      if (visitor.failure) throw visitor.failure;
      const refusal = await refusalOf(context, visitor, answered.statusCode < 400);
      const reused = (visitor.isReused && visitor.presented) || null;
      if (refusal)
        return {
          status: refusal.statusCode,
          headers: { "content-type": "application/json; charset=utf-8" },
          cookies: [],
          body: JSON.stringify({ error: refusal.error, error_description: refusal.error_description }),
          isClientFailure: false,
          reused,
          exchanged: null,
        };
      const { "set-cookie": set, ...rest } = answered.headers;
      const sent = Object.entries(rest).filter(
        ([name, value]) => value !== undefined && !ofMessage.has(name),
      );
      return {
        status: answered.statusCode,
        headers: Object.fromEntries(sent.map(([name, value]) => [name, String(value)])),
        cookies: [set ?? []].flat().filter((value) => !isOfVisitor(value)),
        body: answered.payload,
        isClientFailure: visitor.isClientFailure ?? false,
        reused,
        exchanged: (answered.statusCode < 400 && visitor.exchanged) || null,
      };
    },
  };
}

type TokenError = { error?: string };

/** Where a client may not exchange tokens, the library answers as to a malformed request (RFC 6749, 5.2). */
function nameUnauthorized({ client, params }: KoaContextWithOIDC["oidc"], answer: TokenError): void {
  const isAllowed =
    params?.grant_type !== TOKEN_EXCHANGE || client?.grantTypeAllowed(TOKEN_EXCHANGE) !== false;
  if (!isAllowed && answer.error === "invalid_request") answer.error = "unauthorized_client";
}

/**
 * Whether a client has not authenticated, or a public one has presented no valid code or token (RFC 6749, 5.2). Of one that has
 * authenticated no such code or token says anything: its users' sessions may all have ended at once.
 */
function isClientFailure({ client }: KoaContextWithOIDC["oidc"], answer: TokenError | null): boolean {
  const error = answer?.error;
  if (error === "invalid_client") return true;
  return error === "invalid_grant" && client?.clientAuthMethod === "none";
}

type Discovery = { claims_supported: string[] };

/** Claims that one client alone gets are no concern of the others. */
function hideClaimsOfClients({ openid }: Config, discovery: Discovery): void {
  const own = new Set(Object.values(openid.clients).flatMap(({ claims }) => Object.keys(claims)));
  discovery.claims_supported = discovery.claims_supported.filter((name) => !own.has(name));
}

/**
 * Writes what a call redeems.
 *
 * @param isAnswered whether the library has answered with tokens
 * @returns the error that the library has for a code or token that was used, or has ended, meanwhile (RFC 6749, 5.2); null if the
 *   call stays answered as it is
 */
async function refusalOf(
  context: TenantContext<OpenidProcess>,
  visitor: Visitor,
  isAnswered: boolean,
): Promise<errors.InvalidGrant | null> {
  const { redemption } = visitor;
  if (!redemption) return null;
  try {
    if (await writeRedemption(context, redemption, isAnswered)) return null;
    visitor.isReused = true;
    return isAnswered ? new errors.InvalidGrant("it was used already") : null;
  } catch (error) {
    if (!(error instanceof errors.InvalidGrant)) throw error;
    return isAnswered ? error : null;
  }
}

const PAGE_POLICY = "default-src 'none'; script-src; base-uri 'none'; frame-ancestors 'none'";

/** Headers of one message, which is not the one that is sent. */
const ofMessage = new Set(["content-length", "date", "connection", "transfer-encoding", "keep-alive"]);

const isOfVisitor = (cookie: string) => cookie.startsWith(`${VISITOR_COOKIE}=`);

/** The cookies of the library that a browser has sent. That of the session is none of them: it would name any session. */
function cookiesOfProvider(cookie = ""): string {
  return cookie
    .split(/; */)
    .filter((each) => each.startsWith("openid_") && !isOfVisitor(each))
    .join("; ");
}
