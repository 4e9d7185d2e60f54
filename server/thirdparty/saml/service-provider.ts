import type { SamlConfig } from "@node-saml/node-saml";
import type { Config } from "../../config/schema.ts";
import type { IdentityProvider } from "./identity-providers.ts";
import type { SamlKey } from "./saml-keys.ts";

/** Loaded on first use, because it takes 20 MB of memory and most deployments do not use SAML. */
const loadLibrary = () => import("@node-saml/node-saml");

/** A tenant as a SAML service provider. */
export interface ServiceProvider {
  entityId: string;
  audience: string;
  /** URL of the assertion consumer service. */
  consumerUrl: string;
  /** URL of the single logout service. */
  logoutUrl: string;
}

export function serviceProviderOf({ saml, base_url }: Config): ServiceProvider {
  const endpoint = (saml.endpoint_url ?? base_url).replace(/\/+$/, "");
  return {
    entityId: endpoint,
    audience: saml.audience_uri ?? endpoint,
    consumerUrl: `${endpoint}/saml/callback`,
    logoutUrl: `${endpoint}/saml/logout`,
  };
}

/**
 * Returns the URL of an authentication request by HTTP-Redirect (SAML Bindings 2.0, 3.4), signed if so configured.
 *
 * @param requestId expected in `InResponseTo`; starts with a letter or `_`
 * @param relayState returned with the response; at most 80 bytes
 * @param forceAuthn whether the user has to authenticate again (SAML Core 2.0, 3.4.1)
 */
export async function authnRequestUrl(
  config: Config,
  provider: IdentityProvider,
  signing: SamlKey,
  { requestId, relayState, forceAuthn }: { requestId: string; relayState: string; forceAuthn: boolean },
): Promise<string> {
  const { SAML } = await loadLibrary();
  const { sign_authn_requests } = config.saml.options;
  const client = new SAML({
    ...commonOptions(config, provider),
    entryPoint: provider.signOnUrl,
    generateUniqueId: () => requestId,
    forceAuthn,
    // The provider chooses authentication context and name identifier format.
    disableRequestedAuthnContext: true,
    identifierFormat: null,
    ...(sign_authn_requests ? { privateKey: pem(signing), signatureAlgorithm: "sha256" as const } : {}),
  });
  return client.getAuthorizeUrlAsync(relayState, undefined, {});
}

function commonOptions(config: Config, provider: IdentityProvider): SamlConfig {
  const { entityId, audience, consumerUrl } = serviceProviderOf(config);
  return {
    issuer: entityId,
    audience,
    callbackUrl: consumerUrl,
    idpCert: provider.certificates,
    idpIssuer: provider.entityId,
  };
}

function pem({ privateKey }: SamlKey): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}
