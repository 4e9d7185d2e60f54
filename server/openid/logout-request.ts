import { decodeJwt } from "jose";
import type { TenantContext } from "../context/context.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import { subjectFor } from "./subjects.ts";

/** The parameters of a request to sign out (OpenID Connect RP-Initiated Logout 1.0, 2). */
export interface LogoutParameters {
  id_token_hint?: string | undefined;
  client_id?: string | undefined;
  post_logout_redirect_uri?: string | undefined;
  state?: string | undefined;
}

export interface LogoutRequest {
  /** Whether an ID token of the client names a user. */
  isOf(userId: string): boolean;
  /** Where the browser goes on; null where the client has named no address. */
  returnTo: URL | null;
}

/** The longest ID token that is read. */
const MAX_HINT_CHARACTERS = 8192;

/**
 * Judges a request of an application to sign its user out. A browser is sent to an address of the client alone, compared
 * character by character, and to none unless the client is known by the ID token or by its id.
 *
 * @returns the reason, for developers, if the request is refused
 */
export async function judgeLogout(
  { runtime, tenant }: TenantContext<Signing>,
  { id_token_hint: hint, client_id, post_logout_redirect_uri: address, state }: LogoutParameters,
): Promise<{ ok: true; request: LogoutRequest } | { ok: false; message: string }> {
  const { base_url, openid } = tenant.config;
  const named = hint === undefined ? client_id : audienceOf(hint);
  if (hint !== undefined && client_id !== undefined && client_id !== named)
    return { ok: false, message: "`client_id` is not that of `id_token_hint`." };
  const client =
    named !== undefined && Object.hasOwn(openid.clients, named) ? openid.clients[named] : undefined;
  if (named !== undefined && !client) return { ok: false, message: "The client is not known." };

  let subject: string | null = null;
  if (hint !== undefined && named !== undefined) {
    // One that has expired is a hint too (RP-Initiated Logout, 4).
    const expected = { typ: null, audience: [named], issuer: base_url, now: "unchecked" } as const;
    const claims = await runtime.signingKeys.of(tenant).verify(hint, expected);
    if (!claims || typeof claims.sub !== "string")
      return { ok: false, message: "`id_token_hint` is no ID token of this provider." };
    subject = claims.sub;
  }
  const isOf = (userId: string) =>
    named !== undefined && subject === subjectFor(tenant.config, named, userId);
  if (address === undefined || !client) return { ok: true, request: { isOf, returnTo: null } };
  if (!client.post_logout_redirect_uris.includes(address))
    return { ok: false, message: "`post_logout_redirect_uri` is not one of the client." };
  const returnTo = new URL(address);
  if (state !== undefined) returnTo.searchParams.set("state", state);
  return { ok: true, request: { isOf, returnTo } };
}

/** The client that a token is for; undefined if it cannot be read. Nothing of it is verified. */
function audienceOf(token: string): string | undefined {
  if (token.length > MAX_HINT_CHARACTERS) return undefined;
  try {
    const { aud } = decodeJwt(token);
    return typeof aud === "string" ? aud : undefined;
  } catch {
    return undefined;
  }
}
