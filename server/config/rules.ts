import { judgeCallback } from "../lib/callback-address.ts";
import type { Config } from "./schema.ts";
import { isLocalOrigin } from "./sections/leaves.ts";

/**
 * Finds settings that are valid on their own but not together.
 *
 * @param baseUrl as configured, before its normalization
 * @returns one line that names the settings; null if every rule holds
 */
export function violatedRule(config: Config, baseUrl: string | undefined): string | null {
  const { username, session, webauthn, mode, secret_keys } = config;
  const { protocol } = new URL(config.base_url);
  const { name, domain, same_site } = session.cookie;
  const hostBound = name.startsWith("__Host-");
  const { third_party, saml, mfa } = config;
  const domains = saml.identity_providers.flatMap((provider) => provider.domains);
  const { passkey_server, authenticator, webhooks, embed } = config;
  const rules: [boolean, string][] = [
    [
      config.server.workers !== "auto" &&
        config.server.workers > 1 &&
        config.server.workers >= config.database.pool_size,
      "STILE_SERVER_WORKERS must be less than STILE_DATABASE_POOL_SIZE: each process needs a connection",
    ],
    [
      mode === "production" && embed.origins.some(isLocalOrigin),
      "STILE_EMBED_ORIGINS has an origin without TLS, which is for development alone",
    ],
    [
      baseUrl !== undefined && new URL(baseUrl).href !== `${config.base_url}/`,
      "BASE_URL must be an origin like https://login.example.com, without path, query or user",
    ],
    [
      config.well_known.security_txt.contact.length > 0 && !config.well_known.security_txt.expires,
      "STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES is missing, and STILE_WELL_KNOWN_SECURITY_TXT_CONTACT is set",
    ],
    [
      username.min_length > username.max_length,
      "STILE_USERNAME_MIN_LENGTH is greater than STILE_USERNAME_MAX_LENGTH",
    ],
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
    [new Set(domains).size < domains.length, "STILE_SAML_IDENTITY_PROVIDERS holds a mail domain twice"],
    [
      mfa.enabled && !mfa.optional && !mfa.totp.enabled && !mfa.security_keys.enabled,
      "STILE_MFA_OPTIONAL is false, and so are STILE_MFA_TOTP_ENABLED and STILE_MFA_SECURITY_KEYS_ENABLED: no second factor could be set up",
    ],
    [
      mfa.device_trust_cookie_name === name,
      "STILE_MFA_DEVICE_TRUST_COOKIE_NAME is the name of the session cookie",
    ],
    [
      !hasSignInMethod(config),
      "STILE_PASSWORD_ENABLED, STILE_PASSKEY_ENABLED and STILE_EMAIL_USE_FOR_AUTHENTICATION are all false, and there is no identity provider: no sign-in is possible",
    ],
    [
      !passkey_server.relying_party.origins.some(
        (origin) => origin.startsWith("android:") || isWithin(origin, passkey_server.relying_party.id),
      ),
      "STILE_PASSKEY_SERVER_RELYING_PARTY_ID is neither the host of one of STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS nor a domain above it",
    ],
    [
      // Each spelling of a wildcard for every host.
      passkey_server.cors.allowed_origins.some((entry) =>
        /^(?:https?:\/\/)?[*.]+(?::[*\d]+)?$/i.test(entry),
      ) && !passkey_server.cors.allow_unsafe_wildcard,
      "STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS * needs STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD",
    ],
    [
      authenticator.channel_binding !== "refuse" && authenticator.tls_certificates.length === 0,
      "STILE_AUTHENTICATOR_CHANNEL_BINDING verify and require need STILE_AUTHENTICATOR_TLS_CERTIFICATES",
    ],
    ...webhooks.hooks.map(({ callback }, index): [boolean, string] => {
      const judged = judgeCallback(callback, { allowPrivate: webhooks.allow_private_targets });
      return [
        !judged.ok,
        `STILE_WEBHOOKS_HOOKS has a callback (number ${index + 1}) that ${judged.ok ? "" : judged.reason}`,
      ];
    }),
    [
      !config.audit_log.storage.enabled && !config.audit_log.console_output.enabled,
      "STILE_AUDIT_LOG_STORAGE_ENABLED and STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED are both false: no security event would be recorded",
    ],
    [
      mode === "production" && secret_keys.length === 0,
      "SECRET_KEYS is missing: production needs at least one key of 16 characters",
    ],
  ];
  return rules.find(([isViolated]) => isViolated)?.[1] ?? null;
}

function hasSignInMethod({ password, passkey, email, third_party, saml }: Config): boolean {
  const providers = [
    ...Object.values(third_party.providers).filter(({ enabled }) => enabled),
    ...Object.values(third_party.custom_providers).filter(({ enabled }) => enabled),
  ];
  const byMail = email.enabled && email.use_for_authentication;
  return password.enabled || passkey.enabled || byMail || providers.length > 0 || saml.enabled;
}

/** Whether a provider has a private key, which Apple accepts in place of a client secret. */
function hasOwnKey(provider: object): boolean {
  return ["team_id", "key_id", "private_key"].every((name) => name in provider);
}

/** Whether an origin's host is the domain or a subdomain of it. */
function isWithin(origin: string, domain: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
