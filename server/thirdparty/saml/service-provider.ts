import type { CacheProvider, SamlConfig } from "@node-saml/node-saml";
import type { Config } from "../../config/schema.ts";
import type { IdentityProvider } from "./identity-providers.ts";
import { type ValidatedResponse, validateAssertion } from "./response-validation.ts";
import type { SamlKey } from "./saml-keys.ts";
import type { XmlElement } from "./xml.ts";

/** Loaded when the first person comes by SAML: it takes 20 MB, which most deployments would hold for nothing. */
const loadLibrary = () => import("@node-saml/node-saml");

/** How providers know a tenant. */
export interface ServiceProvider {
  entityId: string;
  audience: string;
  /** Address of the assertion consumer service. */
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
 * The address a person is sent to, with our request (SAML Bindings 2.0, 3.4), signed when the tenant wants that.
 *
 * @param requestId what the answer has to name; starts with a letter or `_`
 * @param relayState comes back with the answer; at most 80 bytes
 */
export async function authnRequestUrl(
  config: Config,
  provider: IdentityProvider,
  { signing }: Pick<ServiceProviderKeys, "signing">,
  { requestId, relayState }: { requestId: string; relayState: string },
): Promise<string> {
  const { SAML } = await loadLibrary();
  const { sign_authn_requests, force_login } = config.saml.options;
  const client = new SAML({
    ...commonOptions(config, provider),
    entryPoint: provider.signOnUrl,
    generateUniqueId: () => requestId,
    forceAuthn: force_login,
    // The provider knows best how its people prove themselves, and by which name it knows them.
    disableRequestedAuthnContext: true,
    identifierFormat: null,
    ...(sign_authn_requests ? { privateKey: pem(signing), signatureAlgorithm: "sha256" as const } : {}),
  });
  return client.getAuthorizeUrlAsync(relayState, undefined, {});
}

/**
 * Verifies what a response is signed with: every signature that is there, with the keys of the provider's metadata
 * and no others.
 *
 * @param guarded has been looked at: see `response-validation.ts`
 * @param requestId as in `Expected`
 * @returns the assertion, read from the bytes that the signature covers and from no others; or, in a word, why not
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

/** The library throws for whatever is wrong, in words that may repeat what was sent: one of ours stands for them. */
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
    // Times are judged in `assertion.ts`, by the database's clock and not by this machine's.
    acceptedClockSkewMs: -1,
  };
}

/** Our own row of the request was taken; its id is the one that the library finds. */
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
