import { errors, type Provider, type TokenEndpointGrantContext } from "oidc-provider";
import {
  buildTokenResponse,
  checkDpopReplay,
  checkDpopRequired,
  findAccount,
  resolveRequestedResources,
  validateDpop,
} from "oidc-provider/lib/helpers/grants.js";
import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { TOKEN_EXCHANGE } from "./clients.ts";
import { findConsent } from "./consents.ts";
import type { ActClaim, ExchangedToken } from "./exchanged-token.ts";
import { isOwn } from "./grants.ts";
import { readSubjectToken, type SubjectToken, servedBy } from "./subject-token.ts";
import { subjectFor } from "./subjects.ts";
import { presentVisitor } from "./visitor.ts";

/**
 * Token exchange (RFC 8693) for delegation: the service behind an API exchanges the access token by which a user's client has
 * called it for one by which it calls another API for that user. What it gives never reaches further than the token that was
 * presented: the same user, no other scopes, no longer life, and the same session and grant.
 */

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

/** Services that act one for another. */
const MAX_ACTORS = 4;

type Process = Databases & Sealing & Signing & OnPlatform;

interface ExchangeParameters {
  subject_token?: string;
  subject_token_type?: string;
  actor_token?: string;
  actor_token_type?: string;
  requested_token_type?: string;
  audience?: string | string[];
}

/** Registers the grant with the provider of a tenant. */
export function registerTokenExchange(context: TenantContext<Process>, provider: Provider): void {
  provider.registerGrantType<ExchangeParameters>(
    TOKEN_EXCHANGE,
    (ctx) => exchangeToken(context, provider, ctx),
    [
      ...["subject_token", "subject_token_type", "actor_token", "actor_token_type"],
      ...["requested_token_type", "resource", "audience", "scope"],
    ],
    ["resource", "audience"],
  );
}

/**
 * Answers a request (RFC 8693, 2.1).
 *
 * @throws the errors of RFC 8693, 2.2.2
 */
async function exchangeToken(
  context: TenantContext<Process>,
  provider: Provider,
  ctx: TokenEndpointGrantContext<ExchangeParameters>,
): Promise<void> {
  const { client } = ctx.oidc;
  const { config } = context.tenant;
  const presented = presentedToken(ctx);
  const dPoP = await validateDpop(provider, ctx);
  checkDpopRequired(provider, ctx, dPoP);
  const [target] = await resolveRequestedResources(provider, ctx);
  if (!target) throw new errors.InvalidTarget("resource is missing");
  // One that is stored is bound to the grant of its own client.
  if (target.accessTokenFormat !== "jwt")
    throw new errors.InvalidTarget("tokens for this resource are opaque, and are not given by an exchange");

  const subject = await readSubjectToken(context, provider, presented, servedBy(config, client));
  if (!subject) throw invalidSubject();
  const { grant, audience, sessionId, expiresAt, carried } = subject;
  const { accountId, clientId: forClientId } = grant;
  if (!accountId || !forClientId) throw invalidSubject();
  // One that the operator has removed acts no more.
  if (!(await provider.Client.find(forClientId))) throw invalidSubject();
  const resource = target.identifier();
  if (resource === audience) throw new errors.InvalidTarget("the subject token is for this resource already");
  const scope = await givenScope(context, ctx, { subject, resource, known: target.scopes });

  const given: ExchangedToken = {
    clientId: client.clientId,
    forClientId,
    userId: accountId,
    resource,
    subject: subject.subject ?? subjectFor(config, forClientId, accountId),
    claims: { ...carried, act: actorsWith(client.clientId, carried.act) },
  };
  presentVisitor().exchanged = given;
  const account = await findAccount(provider, ctx, accountId);
  if (!account) throw invalidSubject();
  ctx.oidc.entity("Account", account);
  await checkDpopReplay(provider, ctx, dPoP, client.clientId);

  const remaining = expiresAt - Math.floor(Date.now() / 1000);
  const token = new provider.AccessToken({
    client,
    accountId,
    grantId: grant.jti,
    gty: TOKEN_EXCHANGE,
    resourceServer: target,
    scope,
    expiresIn: Math.max(1, Math.min(remaining, config.openid.access_token_lifetime)),
    ...(sessionId === null ? {} : { sessionUid: sessionId, expiresWithSession: true }),
  });
  if (dPoP) token.setThumbprint("jkt", dPoP.thumbprint);
  ctx.oidc.entity("AccessToken", token);
  const accessToken = await token.save();
  ctx.body = buildTokenResponse(provider, {
    accessToken,
    issuedTokenType: ACCESS_TOKEN,
    expiresIn: token.expiration,
    scope,
    tokenType: token.tokenType,
  });
}

/** One answer for all: a service that was sent a token learns no more of it than that it is of no use. */
const invalidSubject = () =>
  new errors.InvalidRequest("subject_token is not a valid access token for an API of this client");

/** @returns the subject token of a request that asks for nothing beyond the profile */
function presentedToken({ oidc }: TokenEndpointGrantContext<ExchangeParameters>): string {
  const { subject_token, subject_token_type, actor_token, actor_token_type, requested_token_type } =
    oidc.params;
  const { resource, audience } = oidc.params;
  if (!subject_token) throw new errors.InvalidRequest("subject_token is missing");
  if (subject_token_type !== ACCESS_TOKEN)
    throw new errors.InvalidRequest(`subject_token_type must be ${ACCESS_TOKEN}`);
  // The actor is the client, which has authenticated.
  if (actor_token !== undefined || actor_token_type !== undefined)
    throw new errors.InvalidRequest("actor_token is not supported: the client itself is the actor");
  if (requested_token_type !== undefined && requested_token_type !== ACCESS_TOKEN)
    throw new errors.InvalidRequest(`requested_token_type must be ${ACCESS_TOKEN}`);
  if (audience !== undefined)
    throw new errors.InvalidTarget("audience is not supported: resource names the API");
  if (typeof resource !== "string")
    throw new errors.InvalidTarget(`${resource === undefined ? "a" : "a single"} resource is required`);
  return subject_token;
}

/**
 * The scopes of the new token: of those that the API and the service have (`known`), the ones that the subject token has too,
 * and, where it is that of an application which is not the operator's own, the ones that the user has allowed that application
 * for this very API.
 *
 * @throws InvalidScope if that is none, or less than is asked for
 */
async function givenScope(
  context: TenantContext<Process>,
  ctx: TokenEndpointGrantContext<ExchangeParameters>,
  { subject, resource, known }: { subject: SubjectToken; resource: string; known: ReadonlySet<string> },
): Promise<string> {
  const { accountId = "", clientId = "" } = subject.grant;
  const consent = isOwn(context, clientId) ? null : await findConsent(context, accountId, clientId);
  const allowed = isOwn(context, clientId) ? null : (consent?.allowed.resources[resource] ?? []);
  const mayBeGiven = [...known].filter(
    (scope) => scope !== "" && subject.scopes.has(scope) && (!allowed || allowed.includes(scope)),
  );
  const { scope: asked } = ctx.oidc.params;
  const given = asked === undefined ? mayBeGiven : [...new Set(asked.split(" "))];
  const beyond = given.filter((scope) => !mayBeGiven.includes(scope));
  if (given.length === 0 || beyond.length > 0)
    throw new errors.InvalidScope(
      "the subject token, its user or the client allows no such scope for this resource",
      beyond.join(" "),
    );
  return given.join(" ");
}

/** @throws InvalidRequest if too many services act one for another */
function actorsWith(clientId: string, before: ActClaim | undefined): ActClaim {
  let actors = 1;
  for (let actor = before; actor; actor = actor.act) actors += 1;
  if (actors > MAX_ACTORS) throw new errors.InvalidRequest(`more than ${MAX_ACTORS} services act in turn`);
  return { sub: clientId, ...(before ? { act: before } : {}) };
}
