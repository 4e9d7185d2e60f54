import { X509Certificate } from "node:crypto";
import type { TenantContext } from "../context/context.ts";
import type { TrustedModels } from "../webauthn/attestation-trust.ts";
import type { AuthenticatorModels } from "../webauthn/authenticator-metadata.ts";

/** Returns the authenticator models that a tenant trusts, in order of precedence: its own, and those of FIDO's list. */
export function trustedModels({
  runtime: { authenticatorMetadata },
  tenant: { config },
}: TenantContext<AuthenticatorModels>): TrustedModels[] {
  const { attestation_models: models } = config.passkey_server;
  const own: TrustedModels = {
    rootsOf: (aaguid) =>
      models
        .filter((model) => model.aaguid.toLowerCase() === aaguid)
        .flatMap(({ roots }) => roots.map((pem) => new X509Certificate(pem))),
  };
  return authenticatorMetadata ? [own, authenticatorMetadata] : [own];
}
