import type { Client, Grant, Provider, Session } from "oidc-provider";
import { z } from "zod";
import type { Databases } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import { BrokenSealError, type Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type CarriedClaims, carriedClaims } from "./exchanged-token.ts";
import { identifierHash } from "./identifier-hash.ts";
import { readPresentedGrant } from "./presented-token.ts";
import { presentVisitor } from "./visitor.ts";

/**
 * Subject tokens (RFC 8693, 2.1): access tokens of this provider that were issued for an API, and that the service behind it
 * presents. One that is opaque is stored. One that is a JWT is not: it carries its origin, sealed, so that its session and its
 * grant can be found.
 */

type Process = Databases & Sealing & Signing & OnPlatform;

/** A subject token whose user, session and grant have not ended. */
export interface SubjectToken {
  grant: Grant;
  /** The `sub` that it has; null where it is stored without. */
  subject: string | null;
  /** The API that it is for. */
  audience: string;
  scopes: ReadonlySet<string>;
  /** Seconds since 1970. */
  expiresAt: number;
  /** The session that it ends with; null if it outlives sessions. */
  sessionId: string | null;
  carried: CarriedClaims;
}

/** The claim of a JWT that has its origin (RFC 7519, 4.2: a name that cannot collide). */
const ORIGIN_CLAIM = "urn:stile:origin";

const origin = z.object({ grant: z.string(), session: z.string().nullable() });

const originContext = (tenantId: string, tokenId: string) => `openid/${tenantId}/origin/${tokenId}`;

/** An access token that the library is about to issue. */
export interface IssuedToken {
  jti?: string | undefined;
  format?: unknown;
  aud?: unknown;
  grantId?: string | undefined;
  sessionUid?: string | undefined;
  expiresWithSession?: boolean | undefined;
}

/** The origin of a JWT for an API whose service may exchange it; no other token tells more than it needs to. */
export function originClaim(
  { runtime, tenant }: TenantContext<Sealing>,
  { jti, format, aud, grantId, sessionUid, expiresWithSession }: IssuedToken,
): Record<string, string> {
  const isExchanged = Object.values(tenant.config.openid.clients).some(({ serves }) =>
    serves.some((indicator) => indicator === aud),
  );
  if (!isExchanged || format !== "jwt" || !jti || !grantId) return {};
  const told = { grant: grantId, session: (expiresWithSession && sessionUid) || null };
  const sealed = runtime.vault.seal(Buffer.from(JSON.stringify(told)), originContext(tenant.id, jti));
  return { [ORIGIN_CLAIM]: sealed.toString("base64url") };
}

/**
 * Reads a subject token.
 *
 * @param serves the APIs that the presenting client is the service of
 * @returns null if it is none, was issued for another API, has expired, or its session or its grant has ended
 */
export async function readSubjectToken(
  context: TenantContext<Process>,
  provider: Provider,
  token: string,
  serves: readonly string[],
): Promise<SubjectToken | null> {
  const read = token.includes(".")
    ? await readJwt(context, provider, token, serves)
    : await readOpaque(provider, token);
  if (!read || !serves.includes(read.audience) || read.expiresAt <= Math.floor(Date.now() / 1000))
    return null;
  return read;
}

async function readOpaque(provider: Provider, token: string): Promise<SubjectToken | null> {
  // The library finds none whose session has ended.
  const found = await provider.AccessToken.find(token);
  const grant = found && (await provider.Grant.find(found.grantId));
  if (!found || !grant || grant.clientId !== found.clientId || grant.accountId !== found.accountId)
    return null;
  return {
    grant,
    subject: null,
    audience: String(found.aud ?? ""),
    scopes: new Set(found.scope?.split(" ")),
    expiresAt: found.exp ?? 0,
    sessionId: (found.expiresWithSession && found.sessionUid) || null,
    carried: carriedClaims.parse(found.extra ?? {}),
  };
}

const accessTokenClaims = carriedClaims.extend({
  jti: z.string(),
  sub: z.string(),
  aud: z.string(),
  exp: z.number(),
  scope: z.string().default(""),
  [ORIGIN_CLAIM]: z.string(),
});

async function readJwt(
  context: TenantContext<Process>,
  provider: Provider,
  token: string,
  serves: readonly string[],
): Promise<SubjectToken | null> {
  const { runtime, tenant } = context;
  // The times are judged by the clock that the library writes them by.
  const expected = {
    typ: "at+jwt",
    audience: serves,
    issuer: tenant.config.base_url,
    now: "unchecked",
  } as const;
  const verified = accessTokenClaims.safeParse(await runtime.signingKeys.of(tenant).verify(token, expected));
  if (!verified.success) return null;
  const { jti, sub, aud, exp, scope, [ORIGIN_CLAIM]: sealed, ...carried } = verified.data;
  const opened = openedOrigin(context, jti, sealed);
  if (!opened) return null;
  const { grant: grantId, session: sessionId } = opened;
  const ahead = await readPresentedGrant(context, identifierHash(grantId), sessionId);
  if (!ahead) return null;
  presentVisitor().readAhead = ahead;
  const grant = await provider.Grant.find(grantId);
  if (!grant) return null;
  const session = sessionId === null ? null : await provider.Session.findByUid(sessionId);
  if (sessionId !== null && !isSessionOf(session, grant)) return null;
  const scopes = new Set(scope.split(" "));
  return { grant, subject: sub, audience: aud, scopes, expiresAt: exp, sessionId, carried };
}

/** @returns null for the origin of another token */
function openedOrigin({ runtime, tenant }: TenantContext<Sealing>, tokenId: string, sealed: string) {
  try {
    const opened = runtime.vault.unseal(Buffer.from(sealed, "base64url"), originContext(tenant.id, tokenId));
    return origin.parse(JSON.parse(opened.toString()));
  } catch (error) {
    if (error instanceof BrokenSealError) return null;
    throw error;
  }
}

/** As the library judges the session of a stored token. */
const isSessionOf = (session: Session | null | undefined, { accountId, clientId, jti }: Grant): boolean =>
  session?.accountId === accountId && session?.grantIdFor(clientId ?? "") === jti;

/** Whether the tenant has a client that exchanges tokens. */
export const hasTokenExchange = ({ openid }: Pick<Config, "openid">): boolean =>
  Object.values(openid.clients).some(({ grants }) => grants.includes("token_exchange"));

/** The APIs that a client is the service of. */
export const servedBy = (
  { openid }: Pick<Config, "openid">,
  { clientId }: Pick<Client, "clientId">,
): readonly string[] =>
  Object.hasOwn(openid.clients, clientId) ? (openid.clients[clientId]?.serves ?? []) : [];
