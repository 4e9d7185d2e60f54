import { judgeCallback } from "../lib/callback-address.ts";
import { isLoopback } from "../lib/is-loopback.ts";
import type { Config } from "./schema.ts";
import { isLocalOrigin } from "./sections/leaves.ts";

/**
 * Finds settings that are valid on their own but not together.
 *
 * @param baseUrl as configured, before its normalization
 * @returns one line that names the settings; null if every rule holds
 */
export function violatedRule(config: Config, baseUrl: string | undefined): string | null {
  return violations(config, baseUrl).next().value ?? null;
}

/** Each rule, as the condition that violates it and what is said then. */
function* violations(config: Config, baseUrl: string | undefined): Generator<string, undefined> {
  const { username, session, webauthn, mode, secret_keys } = config;
  const { protocol } = new URL(config.base_url);
  const { name, domain, same_site } = session.cookie;
  const hostBound = name.startsWith("__Host-");
  const { third_party, saml, mfa } = config;
  const domains = saml.identity_providers.flatMap((provider) => provider.domains);
  const { passkey_server, authenticator, webhooks, embed } = config;
  if (
    config.server.workers !== "auto" &&
    config.server.workers > 1 &&
    config.server.workers >= config.database.pool_size
  )
    yield "STILE_SERVER_WORKERS must be less than STILE_DATABASE_POOL_SIZE: each process needs a connection";
  if (config.database.replicas.length > 0 && config.database_url === undefined)
    yield "STILE_DATABASE_REPLICAS needs DATABASE_URL: the embedded database has no standbys";
  if (mode === "production" && embed.origins.some(isLocalOrigin))
    yield "STILE_EMBED_ORIGINS has an origin without TLS, which is for development alone";
  if (baseUrl !== undefined && new URL(baseUrl).href !== `${config.base_url}/`)
    yield "BASE_URL must be an origin like https://login.example.com, without path, query or user";
  if (config.well_known.security_txt.contact.length > 0 && !config.well_known.security_txt.expires)
    yield "STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES is missing, and STILE_WELL_KNOWN_SECURITY_TXT_CONTACT is set";
  if (username.min_length > username.max_length)
    yield "STILE_USERNAME_MIN_LENGTH is greater than STILE_USERNAME_MAX_LENGTH";
  if (same_site === "none" && protocol !== "https:")
    yield "STILE_SESSION_COOKIE_SAME_SITE none needs an https BASE_URL";
  if (domain !== "" && !isWithin(config.base_url, domain.replace(/^\./, "")))
    yield "STILE_SESSION_COOKIE_DOMAIN is neither the host of BASE_URL nor a domain above it";
  if (hostBound && (protocol !== "https:" || domain !== ""))
    yield "STILE_SESSION_COOKIE_NAME __Host- needs an https BASE_URL and no STILE_SESSION_COOKIE_DOMAIN";
  if (!webauthn.relying_party.origins.some((origin) => isWithin(origin, webauthn.relying_party.id)))
    yield "STILE_WEBAUTHN_RELYING_PARTY_ID is neither the host of one of STILE_WEBAUTHN_RELYING_PARTY_ORIGINS nor a domain above it";
  for (const [key, provider] of Object.entries(third_party.providers)) {
    const prefix = `STILE_THIRD_PARTY_PROVIDERS_${key.toUpperCase()}`;
    if (provider.enabled && provider.client_id === "")
      yield `${prefix}_CLIENT_ID is missing, and the provider is enabled`;
    if (provider.enabled && provider.secret === undefined && !hasOwnKey(provider))
      yield `${prefix}_SECRET is missing, and the provider is enabled`;
  }
  if (new Set(domains).size < domains.length) yield "STILE_SAML_IDENTITY_PROVIDERS holds a mail domain twice";
  if (mfa.enabled && !mfa.optional && !mfa.totp.enabled && !mfa.security_keys.enabled)
    yield "STILE_MFA_OPTIONAL is false, and so are STILE_MFA_TOTP_ENABLED and STILE_MFA_SECURITY_KEYS_ENABLED: no second factor could be set up";
  yield* violationsOfPhone(config);
  if (mfa.device_trust_cookie_name === name)
    yield "STILE_MFA_DEVICE_TRUST_COOKIE_NAME is the name of the session cookie";
  if (!hasSignInMethod(config))
    yield "STILE_PASSWORD_ENABLED, STILE_PASSKEY_ENABLED and STILE_EMAIL_USE_FOR_AUTHENTICATION are all false, and there is neither an identity provider nor a code by SMS: no sign-in is possible";
  if (
    !passkey_server.relying_party.origins.some(
      (origin) => origin.startsWith("android:") || isWithin(origin, passkey_server.relying_party.id),
    )
  )
    yield "STILE_PASSKEY_SERVER_RELYING_PARTY_ID is neither the host of one of STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS nor a domain above it";
  // Each spelling of a wildcard for every host.
  if (
    passkey_server.cors.allowed_origins.some((entry) => /^(?:https?:\/\/)?[*.]+(?::[*\d]+)?$/i.test(entry)) &&
    !passkey_server.cors.allow_unsafe_wildcard
  )
    yield "STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS * needs STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD";
  if (authenticator.channel_binding !== "refuse" && authenticator.tls_certificates.length === 0)
    yield "STILE_AUTHENTICATOR_CHANNEL_BINDING verify and require need STILE_AUTHENTICATOR_TLS_CERTIFICATES";
  for (const [index, { callback }] of webhooks.hooks.entries()) {
    const judged = judgeCallback(callback, { allowPrivate: webhooks.allow_private_targets });
    if (!judged.ok) yield `STILE_WEBHOOKS_HOOKS has a callback (number ${index + 1}) that ${judged.reason}`;
  }
  if (!config.audit_log.storage.enabled && !config.audit_log.console_output.enabled)
    yield "STILE_AUDIT_LOG_STORAGE_ENABLED and STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED are both false: no security event would be recorded";
  yield* violationsOfBinding(session);
  yield* violationsOfOpenid(config);
  if (mode === "production" && secret_keys.length === 0)
    yield "SECRET_KEYS is missing: production needs at least one key of 16 characters";
}

function* violationsOfBinding({
  device_bound,
  cookie,
  enable_auth_token_header,
}: Config["session"]): Generator<string, undefined> {
  const { mode, include_site } = device_bound;
  if (include_site && cookie.domain === "")
    yield "STILE_SESSION_DEVICE_BOUND_INCLUDE_SITE is true, and STILE_SESSION_COOKIE_DOMAIN is empty";
  if (mode === "required" && cookie.domain !== "" && !include_site)
    yield "STILE_SESSION_DEVICE_BOUND_MODE required with STILE_SESSION_COOKIE_DOMAIN needs STILE_SESSION_DEVICE_BOUND_INCLUDE_SITE: other hosts of the domain could not renew the bound cookie";
  if (mode === "required" && enable_auth_token_header)
    yield "STILE_SESSION_DEVICE_BOUND_MODE is required, and STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER is true: tokens in headers are not bound";
}

function* violationsOfOpenid({ openid, session, webauthn }: Config): Generator<string, undefined> {
  const audience = session.audience.length > 0 ? session.audience : [webauthn.relying_party.id];
  if (openid.registration === "token" && openid.registration_tokens.length === 0)
    yield "STILE_OPENID_REGISTRATION is token, and STILE_OPENID_REGISTRATION_TOKENS is empty: no application could register";
  const ofApi = Object.values(openid.resources).flatMap(({ scopes }) => scopes);
  const isBoth = Object.keys(openid.scopes).find((scope) => ofApi.includes(scope));
  if (isBoth !== undefined)
    yield `STILE_OPENID_SCOPES has the scope ${isBoth}, which STILE_OPENID_RESOURCES has too: a client that may have one could not be kept from the other`;
  for (const [id, client] of Object.entries(openid.clients)) {
    if (client.require_dpop && openid.dpop === "off")
      yield `STILE_OPENID_CLIENTS has a client with require_dpop (${id}), and STILE_OPENID_DPOP is off`;
    if (client.subject_type === "pairwise" && openid.pairwise_salt === undefined)
      yield `STILE_OPENID_CLIENTS has a client with subject_type pairwise (${id}), and STILE_OPENID_PAIRWISE_SALT is missing`;
    const unknown = client.serves.find((indicator) => !Object.hasOwn(openid.resources, indicator));
    if (unknown !== undefined)
      yield `STILE_OPENID_CLIENTS has a client (${id}) that serves ${unknown}, which is not in STILE_OPENID_RESOURCES`;
    const ofScope = Object.values(openid.scopes).flatMap(({ claims }) => Object.keys(claims));
    const both = ofScope.find((claim) => Object.hasOwn(client.claims, claim));
    if (both !== undefined)
      yield `STILE_OPENID_CLIENTS has a client (${id}) that sets the claim ${both}, which a scope of STILE_OPENID_SCOPES gives`;
    if (audience.includes(id))
      yield `STILE_OPENID_CLIENTS has a client (${id}) that is named as the audience of sessions: its ID tokens could be taken for them`;
  }
}

function* violationsOfPhone({ phone, mfa, sms_delivery, mode }: Config): Generator<string, undefined> {
  const { enabled, url, account_sid, auth_token, from, messaging_service_sid } = sms_delivery;
  if (phone.enabled && phone.use_for_authentication && mfa.sms.enabled)
    yield "STILE_PHONE_USE_FOR_AUTHENTICATION and STILE_MFA_SMS_ENABLED are both true: one number cannot prove both factors";
  if (mfa.sms.enabled && !phone.enabled) yield "STILE_MFA_SMS_ENABLED needs STILE_PHONE_ENABLED";
  // NIST SP 800-63B-4, 3.2.9: who offers a restricted authenticator offers one that is not restricted.
  if (mfa.sms.enabled && !mfa.totp.enabled && !mfa.security_keys.enabled)
    yield "STILE_MFA_SMS_ENABLED needs STILE_MFA_TOTP_ENABLED or STILE_MFA_SECURITY_KEYS_ENABLED: a code by SMS may not be the only second factor on offer";
  if (account_sid !== undefined && auth_token === undefined)
    yield "STILE_SMS_DELIVERY_AUTH_TOKEN is missing, and STILE_SMS_DELIVERY_ACCOUNT_SID is set";
  if (account_sid !== undefined && (from === undefined) === (messaging_service_sid === undefined))
    yield "STILE_SMS_DELIVERY_ACCOUNT_SID needs either STILE_SMS_DELIVERY_FROM or STILE_SMS_DELIVERY_MESSAGING_SERVICE_SID";
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !isLoopback(hostname))
    yield "STILE_SMS_DELIVERY_URL must begin with https://: the password and the codes would be sent in the clear";
  if (mode === "production" && phone.enabled && enabled && account_sid === undefined)
    yield "STILE_PHONE_ENABLED is true, and nothing sends SMS: set STILE_SMS_DELIVERY_ACCOUNT_SID, STILE_SMS_DELIVERY_AUTH_TOKEN and STILE_SMS_DELIVERY_FROM, or STILE_SMS_DELIVERY_ENABLED to false and subscribe a webhook to sms.send";
}

function hasSignInMethod({ password, passkey, email, phone, third_party, saml }: Config): boolean {
  const providers = [
    ...Object.values(third_party.providers).filter(({ enabled }) => enabled),
    ...Object.values(third_party.custom_providers).filter(({ enabled }) => enabled),
  ];
  const byMail = email.enabled && email.use_for_authentication;
  const bySms = phone.enabled && phone.use_for_authentication && phone.allowed_countries.length > 0;
  return password.enabled || passkey.enabled || byMail || bySms || providers.length > 0 || saml.enabled;
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
