import type { CacheProvider, SamlConfig } from "@node-saml/node-saml";
import type { Config } from "../../config/schema.ts";
import type { IdentityProvider } from "./identity-providers.ts";
import { type ValidatedResponse, validateAssertion } from "./response-validation.ts";
import type { SamlKey } from "./saml-keys.ts";
import type { XmlElement } from "./xml.ts";

/** Loaded on first use, because it takes 20 MB of memory and most deployments do not use SAML. */
const loadLibrary = () => import("@node-saml/node-saml");

/** A tenant as a SAML service provider. */
export interface ServiceProvider {
  entityId: string;
  audience: string;
  /** URL of the assertion consumer service. */
  consumerUrl: string;
}

/** The two keys of a tenant; see `saml-keys.ts`. */
export interface ServiceProviderKeys {
  signing: SamlKey;
  encryption: SamlKey;
}

export function serviceProviderOf({ saml, base_url }: Config): ServiceProvider {
  const endpoint = (saml.endpoint_url ?? base_url).replace(/\/+$/, "");
  return {
    entityId: endpoint,
    audience: saml.audience_uri ?? endpoint,
    consumerUrl: `${endpoint}/saml/callback`,
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
  { signing }: Pick<ServiceProviderKeys, "signing">,
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

/**
 * Verifies every signature of a response, with the keys of the provider's metadata only.
 *
 * @param response validated by `response-validation.ts`
 * @param requestId as in `AssertionExpectations`
 * @returns the assertion, parsed from the signed bytes only
 */
export async function verifySignatures(
  config: Config,
  provider: IdentityProvider,
  { encryption }: Pick<ServiceProviderKeys, "encryption">,
  { encoded, signed }: ValidatedResponse,
  requestId: string | null,
): Promise<{ ok: true; assertion: XmlElement } | { ok: false; reason: string }> {
  const { SAML, ValidateInResponseTo } = await loadLibrary();
  const client = new SAML({
    ...commonOptions(config, provider),
    wantAuthnResponseSigned: signed.response,
    wantAssertionsSigned: signed.assertion,
    decryptionPvk: pem(encryption),
    validateInResponseTo: requestId === null ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    cacheProvider: requestCache(requestId),
  });
  try {
    const { profile } = await client.validatePostResponseAsync({ SAMLResponse: encoded });
    const covered = profile?.getAssertionXml?.();
    return covered ? { ok: true, assertion: validateAssertion(covered) } : { ok: false, reason: "signature" };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/** Maps the library's error messages, which may repeat input, to keywords. */
function reasonOf(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error();
  if (/audience/i.test(message)) return "audience";
  return /InResponseTo/.test(message) ? "in_response_to" : "signature";
}

function commonOptions(config: Config, provider: IdentityProvider): SamlConfig {
  const { entityId, audience, consumerUrl } = serviceProviderOf(config);
  return {
    issuer: entityId,
    audience,
    callbackUrl: consumerUrl,
    idpCert: provider.certificates,
    idpIssuer: provider.entityId,
    // Disabled here: `assertion.ts` verifies times, by the database's clock.
    acceptedClockSkewMs: -1,
  };
}

/** Gives the library the id of the taken request as the only known one. */
function requestCache(requestId: string | null): CacheProvider {
  const since = new Date().toISOString();
  return {
    saveAsync: async () => null,
    getAsync: async (key) => (key === requestId ? since : null),
    removeAsync: async () => null,
  };
}

function pem({ privateKey }: SamlKey): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}
