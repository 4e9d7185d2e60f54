import { z } from "zod";
import {
  address,
  flag,
  key,
  line,
  listOf,
  map,
  redirectList,
  seconds,
  secret,
  section,
  text,
} from "./leaves.ts";

/** Settings that all identity providers have. */
const provider = <Shape extends z.ZodRawShape>(shape: Shape) =>
  section({
    enabled: flag(false).describe("Whether users may sign in by this provider."),
    client_id: text("", 500).describe("Client id of Stile at the provider."),
    secret: secret().optional().describe("Client secret of Stile at the provider. Default: none."),
    prompt: line().optional().describe("Value of the provider's prompt parameter. Default: none."),
    allow_linking: flag(true).describe(
      "Link to an account that has the same address, when both sides have verified it.",
    ),
    satisfies_mfa: flag(false).describe("Trust the provider for the second factor."),
    ...shape,
  });

/** The metadata of a SAML provider in XML. */
const MAX_METADATA_CHARACTERS = 200_000;

const customProvider = z
  .strictObject({
    enabled: z.boolean().default(true),
    display_name: line(),
    client_id: line(500),
    secret: secret().optional(),
    issuer: address().optional(),
    use_discovery: z.boolean().default(true),
    authorization_endpoint: address().optional(),
    token_endpoint: address().optional(),
    userinfo_endpoint: address().optional(),
    scopes: listOf(line()).default(["openid", "email", "profile"]),
    /** Maps the standard name of a claim to the provider's name: `{ "subject": "id" }`. */
    attribute_mapping: map(key(), z.string().max(255), 50).default({}),
    acr_values: line().optional(),
    prompt: line().optional(),
    allow_linking: z.boolean().default(false),
    satisfies_mfa: z.boolean().default(false),
    rp_initiated_logout: z.boolean().default(false),
    end_session_endpoint: address().optional(),
  })
  .refine(
    ({ use_discovery, issuer, authorization_endpoint, token_endpoint, userinfo_endpoint }) =>
      use_discovery
        ? issuer !== undefined
        : Boolean(authorization_endpoint && token_endpoint && (issuer || userinfo_endpoint)),
    "needs an issuer to discover, or use_discovery false with its endpoints",
  )
  .refine(
    ({ use_discovery, rp_initiated_logout, end_session_endpoint }) =>
      use_discovery || !rp_initiated_logout || end_session_endpoint !== undefined,
    "needs an end_session_endpoint for rp_initiated_logout without use_discovery",
  );

const mailDomain = line(253).regex(/^[a-z0-9.-]+$/, "is not a mail domain in lower case");

/** The settings of a SAML provider, without the rules about several of them. */
export const samlProviderSettings = z.strictObject({
  /** Names the provider in the administration interface; derived from its domain if absent. */
  id: z.guid().max(36).optional(),
  name: line(),
  enabled: z.boolean().default(true),
  /** Mail domains of the users of this provider; `domain` for a single one. */
  domain: mailDomain.optional(),
  domains: listOf(mailDomain).default([]),
  /** Expected entity id; metadata with another one is rejected. */
  entity_id: line(500).optional(),
  metadata_url: address().optional(),
  metadata: line(MAX_METADATA_CHARACTERS).optional(),
  skip_email_verification: z.boolean().default(false),
  satisfies_mfa: z.boolean().default(false),
  allow_idp_initiated: z.boolean().default(false),
  /** Signing out ends the session at the provider too, and the provider may end sessions here. Default: false. */
  single_logout: z.boolean().optional(),
  /** Maps the standard name of a claim to the name of the SAML attribute. */
  attribute_map: z
    .partialRecord(z.enum(["subject", "email", "name", "given_name", "family_name", "picture"]), line())
    .default({}),
});

const samlProvider = samlProviderSettings
  .transform(({ domain, domains, ...rest }) => ({
    ...rest,
    domains: domain ? [domain, ...domains] : domains,
  }))
  .refine(({ domains }) => domains.length > 0, "needs a domain")
  .refine(
    ({ metadata, metadata_url }) => Boolean(metadata || metadata_url),
    "needs metadata or metadata_url",
  );

/** Providers that speak OAuth 2 or OpenID Connect. */
export const thirdParty = section({
  allowed_redirect_urls: redirectList().describe(
    "Addresses that users may return to from an identity provider, besides the pages of Stile; * matches within a path segment, ** across segments.",
  ),
  error_redirect_url: address()
    .optional()
    .describe(
      "Where browsers are sent that return from a provider with an unknown state. Default: the hosted page.",
    ),
  timeout: seconds(8).describe("How long a provider may take to answer."),
  order: listOf(
    line(39)
      .regex(
        /^(apple|discord|facebook|github|google|linkedin|microsoft|custom_[a-z0-9][a-z0-9_-]{0,31})$/,
        "must be the id of a provider, such as google or custom_acme",
      )
      .meta({ impersonal: true }),
  )
    .default([])
    .describe(
      "Order of the providers' buttons, by id, such as google or custom_acme. Others follow: Apple, Discord, GitHub, Google, LinkedIn, Microsoft, Facebook, then custom ones by name.",
    ),
  providers: section({
    apple: provider({
      team_id: line()
        .optional()
        .describe("Apple team id; with key_id and private_key, instead of secret. Default: none."),
      key_id: line().optional().describe("Id of the private key. Default: none."),
      private_key: secret()
        .optional()
        .describe("Private key (PKCS#8, PEM) that the client secret is made with. Default: none."),
    }),
    discord: provider({}),
    facebook: provider({}),
    github: provider({}),
    google: provider({}),
    linkedin: provider({}),
    microsoft: provider({
      tenant: text("common").describe("Directory: common, organizations, consumers, or a tenant id."),
      rp_initiated_logout: flag(false).describe(
        "Whether signing out ends the session at Microsoft too (OpenID Connect RP-Initiated Logout 1.0).",
      ),
    }),
  }),
  custom_providers: map(
    key(32)
      .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, "is not a key of a provider")
      .meta({ impersonal: true }),
    customProvider,
    50,
  )
    .default({})
    .describe(
      "Further OpenID Connect or OAuth 2 providers by key: enabled, display_name, client_id, secret, issuer and use_discovery or the endpoints, scopes, attribute_mapping, prompt, acr_values, allow_linking, satisfies_mfa, rp_initiated_logout and end_session_endpoint.",
    ),
});

/** Providers that speak SAML. */
export const saml = section({
  enabled: flag(false).describe("Whether users may sign in by SAML identity providers."),
  endpoint_url: address()
    .optional()
    .describe("Address and entity id of Stile as a SAML service provider. Default: base_url."),
  audience_uri: line(1024).optional().describe("Audience of assertions. Default: endpoint_url."),
  default_redirect_url: address()
    .optional()
    .describe(
      "Where browsers are sent after a sign-in that the provider initiated. Default: the hosted page.",
    ),
  allowed_redirect_urls: redirectList().describe(
    "Addresses that users may return to, besides the pages of Stile.",
  ),
  options: section({
    sign_authn_requests: flag(true).describe("Sign requests to providers."),
    force_login: flag(false).describe("Ask providers to authenticate users anew (ForceAuthn)."),
    encrypt_assertions: flag(true).describe(
      "Offer providers a certificate to encrypt assertions for. Encrypted assertions are accepted either way.",
    ),
  }),
  identity_providers: listOf(samlProvider)
    .default([])
    .describe(
      "SAML providers: name, domain or domains, entity_id, metadata_url or metadata, enabled, skip_email_verification, satisfies_mfa, allow_idp_initiated, single_logout, attribute_map. Default: none.",
    ),
});
