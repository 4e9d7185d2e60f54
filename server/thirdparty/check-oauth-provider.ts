import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { ServerMetadata } from "openid-client";
import type { TenantContext } from "../context/context.ts";
import { ThirdPartyError, thirdPartyFailures } from "../failures/third-party.ts";
import { judgeCallback } from "../lib/callback-address.ts";
import { isNoWeakEd25519Jwk } from "../lib/edwards25519.ts";
import { isForbiddenAddress } from "../lib/public-lookup.ts";
import { clockFinding, type Finding, quoted } from "./findings.ts";
import { toThirdPartyError } from "./oauth-errors.ts";
import type { Process } from "./process.ts";
import { boundedFetch, MAX_PROVIDER_KEYS, providerNetwork } from "./provider-fetch.ts";
import { asObject, type Provider } from "./providers/provider.ts";

/** For all requests of a check. */
const MAX_CHECK_SECONDS = 6;

const MIN_RSA_BITS = 2048;

/** Reads the discovery document or a key set. */
type Read = (
  url: string,
) => Promise<{ ok: true; json: Record<string, unknown>; date: string | null } | { ok: false; why: string }>;

/**
 * Checks what the settings of an OAuth or OpenID Connect provider lead to. Requests are those of a sign-in: with its limits of
 * size and time, without redirects. The documents are read anew and not cached.
 *
 * @param now time of the request
 */
export async function checkOAuthProvider(
  context: TenantContext<Process>,
  provider: Provider,
  now: Date,
): Promise<Finding[]> {
  const { config } = context.tenant;
  const seconds = Math.min(config.third_party.timeout, MAX_CHECK_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const network = providerNetwork(context.runtime);
  const read = readerOf(context, network.fetch, signal);
  const allowsPlain = config.mode === "development";
  if ("metadata" in provider.server) {
    const { metadata } = provider.server;
    const discovery: Finding = {
      check: "discovery",
      outcome: "ok",
      message: "The endpoints are part of the settings: nothing is discovered.",
    };
    const endpoints = checkEndpoints(provider, metadata, allowsPlain);
    return [discovery, ...endpoints, ...(await checkKeys(provider, metadata, read))];
  }
  const { issuer } = provider.server;
  if (!URL.canParse(issuer))
    return [{ check: "discovery", outcome: "error", message: `${quoted(issuer)} is not an address.` }];
  const isPublic = judgeCallback(issuer, { allowPrivate: false }).ok;
  const address: Finding[] =
    isPublic || allowsPlain
      ? []
      : [
          {
            check: "address",
            outcome: "warning",
            message:
              "The issuer is not an address of the public internet: users outside this network cannot sign in.",
          },
        ];
  const found = await read(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!found.ok)
    return [
      ...address,
      {
        check: "discovery",
        outcome: "error",
        message: `The discovery document cannot be used: ${found.why}`,
      },
    ];
  const metadata = found.json as unknown as ServerMetadata;
  return [
    ...address,
    { check: "discovery", outcome: "ok", message: "The discovery document was read." },
    checkIssuer(issuer, metadata.issuer),
    ...checkEndpoints(provider, metadata, allowsPlain),
    checkResponseTypes(metadata),
    checkScopes(provider, metadata),
    ...checkPkce(provider, metadata),
    checkClientAuthentication(provider, metadata),
    ...checkSignatures(provider, metadata),
    // A public provider has no say over what this service asks in its own network.
    ...(isPublic && leavesOrigin(metadata.jwks_uri, issuer)
      ? judgeCallback(metadata.jwks_uri, { allowPrivate: false }).ok
        ? await checkKeys(provider, metadata, readerOf(context, network.publicFetch, signal))
        : [privateKeys]
      : await checkKeys(provider, metadata, read)),
    ...checkLogout(provider, metadata),
    ...clockFinding(found.date, now),
  ];
}

const readerOf =
  ({ tenant }: TenantContext<Process>, fetch: typeof globalThis.fetch, signal: AbortSignal): Read =>
  async (url) => {
    const { protocol } = new URL(url);
    if (protocol !== "https:" && tenant.config.mode !== "development")
      return { ok: false, why: "it has no TLS, and is not read." };
    try {
      const response = await boundedFetch({ fetch }, signal)(url, {
        method: "GET",
        headers: { accept: "application/json" },
        redirect: "manual",
        body: undefined,
      });
      if (response.status >= 300 && response.status < 400)
        return { ok: false, why: "it is a redirect, which is not followed." };
      if (response.status !== 200) return { ok: false, why: `the answer has the status ${response.status}.` };
      const json = asObject(await response.json().catch(() => null));
      if (Object.keys(json).length === 0) return { ok: false, why: "the answer is no JSON object." };
      return { ok: true, json, date: response.headers.get("date") };
    } catch (error) {
      if (error instanceof TypeError && isForbiddenAddress(error.cause ?? {}))
        return { ok: false, why: "its host name leads to an address that is not public." };
      const { reason } = error instanceof ThirdPartyError ? error : toThirdPartyError(error);
      const { [reason]: sentence } = thirdPartyFailures;
      return { ok: false, why: sentence.charAt(0).toLowerCase() + sentence.slice(1) };
    }
  };

/** Issuers of several directories have a placeholder, which is that of the user's one. */
function checkIssuer(expected: string, stated: unknown): Finding {
  const isTemplate = typeof stated === "string" && stated.includes("{tenantid}");
  if (stated === expected || isTemplate)
    return { check: "issuer", outcome: "ok", message: "The document has the configured issuer." };
  return {
    check: "issuer",
    outcome: "error",
    message: `The document has the issuer ${quoted(stated)}, the settings have ${quoted(expected)}. They must be equal to the last character.`,
  };
}

const wantedEndpoints = ["authorization_endpoint", "token_endpoint"] as const;

function checkEndpoints(provider: Provider, metadata: ServerMetadata, allowsPlain: boolean): Finding[] {
  const wanted = [...wantedEndpoints, ...(provider.idToken === "verified" ? (["jwks_uri"] as const) : [])];
  const faults = wanted.flatMap((name) => {
    const stated = metadata[name];
    if (typeof stated !== "string" || !URL.canParse(stated)) return [`${name} is missing`];
    const { protocol } = new URL(stated);
    const isSafe = protocol === "https:" || (allowsPlain && protocol === "http:");
    return isSafe ? [] : [`${name} has no TLS: ${quoted(stated)}`];
  });
  const message = faults.length === 0 ? `It has ${wanted.join(", ")}.` : `${faults.join("; ")}.`;
  return [{ check: "endpoints", outcome: faults.length === 0 ? "ok" : "error", message }];
}

const listOf = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : null;

function checkResponseTypes({ response_types_supported }: ServerMetadata): Finding {
  const types = listOf(response_types_supported);
  if (types?.includes("code"))
    return { check: "response_types", outcome: "ok", message: "It supports the authorization code." };
  return {
    check: "response_types",
    outcome: types ? "error" : "warning",
    message: types
      ? "It does not support the response type `code`, with which users sign in."
      : "It does not say which response types it supports.",
  };
}

function checkScopes({ scopes }: Provider, { scopes_supported }: ServerMetadata): Finding {
  const supported = listOf(scopes_supported);
  const missing = supported ? scopes.filter((scope) => !supported.includes(scope)) : [];
  return missing.length === 0
    ? { check: "scopes", outcome: "ok", message: `The scopes ${scopes.join(" ")} are asked for.` }
    : {
        check: "scopes",
        outcome: "warning",
        message: `It does not list the scopes ${missing.join(" ")}, and may refuse them.`,
      };
}

function checkPkce({ pkce }: Provider, { code_challenge_methods_supported }: ServerMetadata): Finding[] {
  if (!pkce) return [];
  const methods = listOf(code_challenge_methods_supported);
  if (methods?.includes("S256"))
    return [{ check: "pkce", outcome: "ok", message: "It supports PKCE with S256." }];
  return [
    {
      check: "pkce",
      outcome: "warning",
      message: methods
        ? "It does not support PKCE with S256, which is sent, and may refuse the sign-in."
        : "It does not say whether it supports PKCE with S256, which is sent.",
    },
  ];
}

function checkClientAuthentication(
  { clientAuthentication, id }: Provider,
  { token_endpoint_auth_methods_supported }: ServerMetadata,
): Finding {
  // The default of RFC 8414, 2; well-known providers take what is built in.
  const supported = listOf(token_endpoint_auth_methods_supported) ?? ["client_secret_basic"];
  const method = clientAuthentication.find((name) => supported.includes(name));
  if (method ?? !id.startsWith("custom_"))
    return {
      check: "client_authentication",
      outcome: "ok",
      message: `The client authenticates by ${method ?? clientAuthentication[0]}.`,
    };
  const reason = clientAuthentication.includes("none") ? "The settings have no secret" : "It takes no secret";
  return {
    check: "client_authentication",
    outcome: "error",
    message: `${reason}, and the token endpoint accepts only ${quoted(supported.join(", "))}.`,
  };
}

function checkSignatures(
  { idToken }: Provider,
  { id_token_signing_alg_values_supported }: ServerMetadata,
): Finding[] {
  const algorithms = listOf(id_token_signing_alg_values_supported);
  if (idToken !== "verified" || algorithms === null) return [];
  const usable = algorithms.filter((name) => name !== "none" && !name.startsWith("HS"));
  return usable.length > 0
    ? [{ check: "signatures", outcome: "ok", message: `It signs ID tokens by ${quoted(usable.join(", "))}.` }]
    : [
        {
          check: "signatures",
          outcome: "error",
          message: "It signs ID tokens by no algorithm with a public key.",
        },
      ];
}

const privateKeys: Finding = {
  check: "keys",
  outcome: "error",
  message:
    "jwks_uri of a public provider is not an https address of the public internet with a usual port. It was not read.",
};

/** Whether an address is on another origin than that of the issuer, which the operator has chosen. */
function leavesOrigin(address: unknown, issuer: string): address is string {
  // An address that is none is told by the check of endpoints.
  if (typeof address !== "string" || !URL.canParse(address)) return false;
  return new URL(address).origin !== new URL(issuer).origin;
}

async function checkKeys(
  { idToken }: Provider,
  { jwks_uri }: ServerMetadata,
  read: Read,
): Promise<Finding[]> {
  if (idToken !== "verified" || typeof jwks_uri !== "string" || !URL.canParse(jwks_uri)) return [];
  const error = (message: string): Finding[] => [{ check: "keys", outcome: "error", message }];
  const found = await read(jwks_uri);
  if (!found.ok) return error(`The keys cannot be read: ${found.why}`);
  const { keys } = found.json;
  if (!Array.isArray(keys)) return error("The answer of jwks_uri is no key set.");
  if (keys.length > MAX_PROVIDER_KEYS)
    return error(`The key set has more than ${MAX_PROVIDER_KEYS} keys, and is not used.`);
  const all = keys.map(asObject);
  if (!all.every(isNoWeakEd25519Jwk)) return error(thirdPartyFailures.weak_key);
  const usable = all.filter(isUsableKey).length;
  if (usable === 0)
    return error(`None of its ${all.length} keys verifies signatures with an accepted algorithm.`);
  return [
    {
      check: "keys",
      outcome: "ok",
      message: `It publishes ${usable === 1 ? "1 key that verifies" : `${usable} keys that verify`} signatures.`,
    },
  ];
}

function isUsableKey(jwk: Record<string, unknown>): boolean {
  if (jwk.use !== undefined && jwk.use !== "sig") return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({
      key: jwk as JsonWebKey,
      format: "jwk",
    });
    return asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
  } catch {
    return false;
  }
}

function checkLogout({ endsSession }: Provider, { end_session_endpoint }: ServerMetadata): Finding[] {
  if (!endsSession) return [];
  return typeof end_session_endpoint === "string"
    ? [{ check: "logout", outcome: "ok", message: "Signing out ends the session there too." }]
    : [
        {
          check: "logout",
          outcome: "warning",
          message: "It has no end_session_endpoint: signing out ends the session here alone.",
        },
      ];
}
