import { X509Certificate } from "node:crypto";
import type { Config } from "./schema.ts";

/**
 * What each leaf allows by itself but not together with another.
 *
 * @param baseUrl as it was configured, if it was
 * @returns the line that the start stops with; null when all goes together
 */
export function contradictionIn(config: Config, baseUrl: string | undefined): string | null {
  const { username, email, session, cors, hosted, server, webauthn, mode, secret_keys } = config;
  const { protocol } = new URL(config.base_url);
  const { name, domain, same_site } = session.cookie;
  const hostBound = name.startsWith("__Host-");
  const { third_party, saml, mfa } = config;
  const returns = { THIRD_PARTY: third_party.allowed_redirect_urls, SAML: saml.allowed_redirect_urls };
  const domains = saml.identity_providers.flatMap((provider) => provider.domains);
  const { passkey_server, authenticator } = config;
  const contradictions: [boolean, string][] = [
    [
      baseUrl !== undefined && new URL(baseUrl).href !== `${config.base_url}/`,
      "BASE_URL has a path, a query or a user: it is an origin, like https://login.example.com",
    ],
    [
      username.min_length > username.max_length,
      "STILE_USERNAME_MIN_LENGTH is greater than STILE_USERNAME_MAX_LENGTH",
    ],
    [email.passcode_ttl > 600, "STILE_EMAIL_PASSCODE_TTL is longer than 10 minutes"],
    [
      same_site === "none" && protocol !== "https:",
      "STILE_SESSION_COOKIE_SAME_SITE none needs an https BASE_URL",
    ],
    [
      domain !== "" && !isWithin(config.base_url, domain.replace(/^\./, "")),
      "STILE_SESSION_COOKIE_DOMAIN is neither the host of BASE_URL nor a domain above it",
    ],
    [
      hostBound && (protocol !== "https:" || domain !== ""),
      "STILE_SESSION_COOKIE_NAME __Host- needs an https BASE_URL and no STILE_SESSION_COOKIE_DOMAIN",
    ],
    [
      !webauthn.relying_party.origins.some((origin) => isWithin(origin, webauthn.relying_party.id)),
      "STILE_WEBAUTHN_RELYING_PARTY_ID is neither the host of one of STILE_WEBAUTHN_RELYING_PARTY_ORIGINS nor a domain above it",
    ],
    [
      !webauthn.related_origins.every(isOrigin),
      "STILE_WEBAUTHN_RELATED_ORIGINS holds what is no origin, like https://shop.example.net",
    ],
    [
      cors.allow_origins.includes("*"),
      "STILE_CORS_ALLOW_ORIGINS * would let every site act for its visitors",
    ],
    [
      !cors.allow_origins.every(isOrigin),
      "STILE_CORS_ALLOW_ORIGINS holds what is no origin, like https://app.example.com",
    ],
    [
      !hosted.allowed_redirect_urls.every((entry) => /^https?:\/\/[^/*]/.test(entry)),
      "STILE_HOSTED_ALLOWED_REDIRECT_URLS holds an entry without scheme and host",
    ],
    [
      server.hosts.some((host) => /[:/]/.test(host)),
      "STILE_SERVER_HOSTS holds more than a host name: no scheme, port or path",
    ],
    ...Object.entries(returns).map(([section, urls]): [boolean, string] => [
      !urls.every((entry) => /^https?:\/\/[^/*]/.test(entry)),
      `STILE_${section}_ALLOWED_REDIRECT_URLS holds an entry without scheme and host`,
    ]),
    ...Object.entries(third_party.providers).flatMap(([key, provider]): [boolean, string][] => [
      [
        provider.enabled && provider.client_id === "",
        `STILE_THIRD_PARTY_PROVIDERS_${key.toUpperCase()}_CLIENT_ID is missing, and the provider is enabled`,
      ],
      [
        provider.enabled && provider.secret === undefined && !hasOwnKey(provider),
        `STILE_THIRD_PARTY_PROVIDERS_${key.toUpperCase()}_SECRET is missing, and the provider is enabled`,
      ],
    ]),
    [
      saml.identity_providers.some(({ metadata, metadata_url }) => !metadata && !metadata_url),
      "STILE_SAML_IDENTITY_PROVIDERS holds one with neither metadata nor metadata_url",
    ],
    [new Set(domains).size < domains.length, "STILE_SAML_IDENTITY_PROVIDERS holds a mail domain twice"],
    [
      mfa.enabled && !mfa.optional && !mfa.totp.enabled && !mfa.security_keys.enabled,
      "STILE_MFA_OPTIONAL is false, and so are STILE_MFA_TOTP_ENABLED and STILE_MFA_SECURITY_KEYS_ENABLED: nobody could set up a second factor",
    ],
    [
      mfa.device_trust_cookie_name === name,
      "STILE_MFA_DEVICE_TRUST_COOKIE_NAME is the name of the session cookie",
    ],
    [
      !hasSignInMethod(config),
      "STILE_PASSWORD_ENABLED, STILE_PASSKEY_ENABLED and STILE_EMAIL_USE_FOR_AUTHENTICATION are all false, and there is no identity provider: nobody could sign in",
    ],
    [
      !passkey_server.relying_party.origins.some(
        (origin) => origin.startsWith("android:") || isWithin(origin, passkey_server.relying_party.id),
      ),
      "STILE_PASSKEY_SERVER_RELYING_PARTY_ID is neither the host of one of STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS nor a domain above it",
    ],
    [
      // All of these stand for every host, in other spellings.
      passkey_server.cors.allowed_origins.some((entry) =>
        /^(?:https?:\/\/)?[*.]+(?::[*\d]+)?$/i.test(entry),
      ) && !passkey_server.cors.allow_unsafe_wildcard,
      "STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS * needs STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD",
    ],
    [
      [passkey_server.timeout, passkey_server.mfa.timeout, passkey_server.confirmation_ttl].some(
        (life) => life < 1 || life > 600,
      ),
      "STILE_PASSKEY_SERVER_TIMEOUT, _MFA_TIMEOUT and _CONFIRMATION_TTL are at least a second and at most 10 minutes",
    ],
    [
      authenticator.request_ttl < 1 || authenticator.request_ttl > 600,
      "STILE_AUTHENTICATOR_REQUEST_TTL is at least a second and at most 10 minutes",
    ],
    [
      authenticator.qr_code_template.length > 1000 ||
        !/\{url\}|\{id\}.*\{token\}|\{token\}.*\{id\}/.test(authenticator.qr_code_template),
      "STILE_AUTHENTICATOR_QR_CODE_TEMPLATE needs {url}, or {id} and {token}, and has at most 1000 characters",
    ],
    [
      authenticator.push_secret?.startsWith("whsec_") === true &&
        Buffer.from(authenticator.push_secret.slice(6), "base64").length < 24,
      "STILE_AUTHENTICATOR_PUSH_SECRET begins with whsec_, and has less than 24 bytes of base64 behind it",
    ],
    [
      !authenticator.accepted.flatMap(({ roots }) => roots).every(isCertificate),
      "STILE_AUTHENTICATOR_ACCEPTED has a root that is no certificate in PEM",
    ],
    [
      authenticator.accepted.some(({ attestation, roots }) => attestation === "full" && roots.length === 0),
      "STILE_AUTHENTICATOR_ACCEPTED has an authenticator of full attestation without roots",
    ],
    [
      mode === "production" && secret_keys.length === 0,
      "SECRET_KEYS is missing: production needs at least one key of 16 characters",
    ],
  ];
  return contradictions.find(([holds]) => holds)?.[1] ?? null;
}

function hasSignInMethod({ password, passkey, email, third_party, saml }: Config): boolean {
  const providers = [
    ...Object.values(third_party.providers).filter(({ enabled }) => enabled),
    ...Object.values(third_party.custom_providers).filter(({ enabled }) => enabled),
  ];
  const byMail = email.enabled && email.use_for_authentication;
  return password.enabled || passkey.enabled || byMail || providers.length > 0 || saml.enabled;
}

/** Apple's client secret can be made from a key of ours instead. */
function hasOwnKey(provider: object): boolean {
  return ["team_id", "key_id", "private_key"].every((name) => name in provider);
}

/** Whether an origin's host is this domain, or lies under it. */
function isWithin(origin: string, domain: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

/** Exactly as browsers send it. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.type === "public";
  } catch {
    return false;
  }
}
