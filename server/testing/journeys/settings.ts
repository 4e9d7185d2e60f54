import { startIdentityProvider } from "../kit/identity-provider.ts";
import { startSamlProvider } from "../saml-provider-server.ts";
import type { Fixtures } from "./journey.ts";

/** Mail domain of the users of the SAML provider. */
export const SAML_DOMAIN = "example.org";

/** Entity id of the SAML provider, the same at each start. */
const SAML_ENTITY_ID = "https://idp.example.org/metadata";

/** Under these settings the journeys stop in every state. Defaults of a later version must not take one away. */
const policies = {
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false",
  STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
  STILE_USERNAME_ACQUIRE_ON_LOGIN: "true",
  STILE_EMAIL_ACQUIRE_ON_REGISTRATION: "true",
  STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always",
  // A user with neither chooses.
  STILE_PASSKEY_ACQUIRE_ON_LOGIN: "conditional",
  STILE_PASSWORD_ACQUIRE_ON_LOGIN: "conditional",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_MFA_DEVICE_TRUST_POLICY: "prompt",
  STILE_MFA_AUTHENTICATOR_ENABLED: "true",
  STILE_ACCOUNT_ALLOW_DELETION: "true",
};

/**
 * Starts the identity providers of the journeys.
 *
 * @param origin `BASE_URL` of the servers
 * @returns `settings`: environment variables for the servers
 */
export async function startProviders(origin: string): Promise<
  Pick<Fixtures, "provider" | "samlProvider"> & {
    settings: Record<string, string>;
    close(): Promise<void>;
  }
> {
  const { provider, settings, close } = await startIdentityProvider();
  const { third_party } = settings as { third_party: { custom_providers: object } };
  const samlProvider = await startSamlProvider(undefined, SAML_ENTITY_ID);
  const { metadata } = samlProvider;
  return {
    provider,
    samlProvider,
    settings: {
      ...policies,
      BASE_URL: origin,
      STILE_HOSTED_ALLOWED_REDIRECT_URLS: origin,
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify(third_party.custom_providers),
      STILE_SAML_ENABLED: "true",
      STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
        { name: "example", domains: [SAML_DOMAIN], metadata, allow_idp_initiated: true },
      ]),
    },
    async close() {
      await close();
      await samlProvider.close();
    },
  };
}
