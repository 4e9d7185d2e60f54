import { signedFor } from "../keys/signing-key-store.ts";
import type { RequestContext } from "../runtime.ts";

/**
 * What an application is handed when a ceremony went well: a JSON Web Token (RFC 7519) signed by the tenant's own keys
 * for this, which `/.well-known/jwks.json` of the passkey server shows.
 *
 * @param about `userId`: what the application calls the user; `transactionId`: its own id of what was agreed to
 */
export async function signToken(
  { runtime, tenant, now }: Pick<RequestContext, "runtime" | "tenant" | "now">,
  about: { userId: string; credentialId: string; transactionId?: string },
): Promise<string> {
  const { userId, credentialId, transactionId } = about;
  const { lifespan } = signedFor.passkeys(tenant.config);
  const iat = Math.floor(now.getTime() / 1000);
  const claims = {
    aud: [tenant.config.passkey_server.relying_party.id],
    cred: credentialId,
    exp: iat + lifespan,
    iat,
    sub: userId,
    ...(transactionId === undefined ? {} : { trans: transactionId }),
  };
  return runtime.signingKeys.of(tenant, "passkeys").sign(claims, { typ: "JWT" });
}

/**
 * Has the keys read, and the first one made, while nobody waits: by the time a person has touched their authenticator,
 * it is there.
 */
export function preloadSigningKey({ runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">): void {
  runtime.signingKeys.of(tenant, "passkeys");
}
