import type { Tenant } from "../config/tenant.ts";
import { claimsOf } from "../events/events.ts";
import type { TenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { audienceOf, issuerOf } from "../sessions/session-claims.ts";

/** `typ` of the token of a delivery. */
const EVENT_TOKEN_TYPE = "webhook+jwt";

const LIFETIME_SECONDS = 300;

/** A token is used again for other webhooks and attempts for this time. */
const REUSE_SECONDS = 30;

const MAX_TOKENS = 500;

/** An event as its token states it. */
export interface TokenEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
}

/** Signs tokens of events. The webhooks of one event share its token. */
export type EventTokens = ReturnType<typeof createEventTokens>;

/** Creates the cache of a process. */
export function createEventTokens(signingKeys: TenantSigningKeys) {
  const tokens = new Map<string, { issuedAt: number; token: Promise<string> }>();
  return {
    /** @param now by the database's clock */
    of(tenant: Tenant, event: TokenEvent, now: Date): Promise<string> {
      const issuedAt = Math.floor(now.getTime() / 1000);
      const key = `${tenant.id} ${event.id}`;
      const known = tokens.get(key);
      if (known && Math.abs(issuedAt - known.issuedAt) < REUSE_SECONDS) return known.token;
      const claims = {
        ...claimsOf(event.name, event.data),
        iss: issuerOf(tenant),
        aud: audienceOf(tenant),
        sub: "hanko webhooks",
        jti: event.id,
        iat: issuedAt,
        exp: issuedAt + LIFETIME_SECONDS,
        evt: event.name,
        data: event.data,
      };
      const token = signingKeys.of(tenant).sign(claims, { typ: EVENT_TOKEN_TYPE });
      // A failure to sign is not remembered.
      token.catch(() => tokens.delete(key));
      tokens.delete(key);
      tokens.set(key, { issuedAt, token });
      for (const oldest of [...tokens.keys()].slice(0, -MAX_TOKENS)) tokens.delete(oldest);
      return token;
    },
  };
}
