import type { RequestContext, TenantContext } from "../context/context.ts";
import { signedFor } from "../keys/signing-key-store.ts";
import type { Process } from "./process.ts";

/** The part of a ceremony that says how the user was authenticated. */
interface Ceremony {
  /** Whether the credential is a second factor only. */
  mfaOnly: boolean;
  userVerified: boolean;
}

/**
 * Returns the claim `amr` (RFC 8176), with the names that sessions have. `mfa`: the authenticator has verified its user
 * by biometrics or PIN.
 */
function methodReferences({ mfaOnly, userVerified }: Ceremony): string[] {
  return [mfaOnly ? "security_key" : "passkey", ...(userVerified ? ["mfa"] : [])];
}

/**
 * Signs the token that an application receives after a successful ceremony: a JSON Web Token (RFC 7519), signed by the
 * tenant's passkey keys, whose public parts are at `/.well-known/jwks.json` of the passkey server.
 *
 * @param about `userId` and `transactionId`: the application's own ids; `userVerified`: in this ceremony
 */
export async function signToken(
  { runtime, tenant, now }: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  about: Ceremony & { userId: string; credentialId: string; transactionId?: string },
): Promise<string> {
  const { userId, credentialId, transactionId } = about;
  const { lifespan } = signedFor.passkeys(tenant.config);
  const iat = Math.floor(now.getTime() / 1000);
  const claims = {
    amr: methodReferences(about),
    aud: [tenant.config.passkey_server.relying_party.id],
    cred: credentialId,
    exp: iat + lifespan,
    iat,
    sub: userId,
    ...(transactionId === undefined ? {} : { trans: transactionId }),
  };
  return runtime.signingKeys.of(tenant, "passkeys").sign(claims, { typ: "JWT" });
}

/** Starts loading (or creating) the signing key, so that it is ready when the user has used the authenticator. */
export function preloadSigningKey({ runtime, tenant }: TenantContext<Process>): void {
  runtime.signingKeys.of(tenant, "passkeys");
}
