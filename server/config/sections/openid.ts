import { z } from "zod";
import { claimsOfScopes } from "../claims-of-scopes.ts";
import { claimTemplates, withoutClaims } from "./claim-templates.ts";
import {
  address,
  choice,
  flag,
  hasPlainOrigin,
  isOverTlsOrLocal,
  key,
  line,
  listOf,
  map,
  seconds,
  secret,
  section,
} from "./leaves.ts";
import { reservedClaims } from "./reserved-claims.ts";

/** Addresses of a client are compared character by character (RFC 9700, 2.1), so they have no patterns. */
const exactAddress = () =>
  address().refine((value) => !value.includes("#"), "must not have a fragment (RFC 6749, 3.1.2)");

/**
 * An address that a browser loads in a frame with `iss` and `sid` in its query. Its origin is written into a
 * Content-Security-Policy, so the host has nothing that has a meaning there.
 */
const framedAddress = () =>
  exactAddress()
    .refine(hasPlainOrigin, "has a host that is no host name")
    .refine(isOverTlsOrLocal, "must be https, or http://localhost or http://*.localhost in development")
    .refine((value) => !/^[^:]*:\/\/[^/?]*@/.test(value), "must not have credentials")
    .refine((value) => {
      const query = URL.parse(value)?.searchParams;
      return !query?.has("iss") && !query?.has("sid");
    }, "must not have iss or sid in its query, which are added");

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const scopeToken = () => line(64).regex(SCOPE, "is not a scope (RFC 6749, 3.3)");

/** What names an API (RFC 8707, 2). */
const resourceIndicator = () =>
  key(255).regex(/^https?:\/\/[^#]+$/, "is not an absolute address without a fragment");

/** A number or a coordinate, in base64url. */
const encoded = () =>
  z
    .string()
    .max(2048)
    .regex(/^[A-Za-z0-9_-]+$/, "is not base64url")
    .optional();

/** A public key (RFC 7517, 4; RFC 7518, 6). It has no members of private keys. */
const publicKey = z.strictObject({
  kty: z.enum(["RSA", "EC", "OKP"]),
  kid: z.string().max(255).optional(),
  use: z.enum(["sig"]).optional(),
  alg: z.enum(["EdDSA", "ES256", "PS256", "RS256"]).optional(),
  crv: z.enum(["P-256", "Ed25519"]).optional(),
  x: encoded(),
  y: encoded(),
  n: encoded(),
  e: encoded(),
});

/** Whether a redirect address is one of web pages: a native application is at any port of the user's device (RFC 8252, 7.3). */
const isOfPages = (redirect: string, applicationType: "web" | "native") =>
  applicationType === "web" || redirect.startsWith("https://");

const haveOneOrigin = (one: string, other: string) => URL.parse(one)?.origin === URL.parse(other)?.origin;

const client = z
  .strictObject({
    name: line().describe("Shown to users."),
    secret: secret()
      .refine((value) => value.length >= 32, "needs at least 32 characters")
      .optional()
      .describe("Authenticates the client at the token endpoint. Default: none, a public client."),
    jwks: z
      .strictObject({ keys: z.array(publicKey).min(1).max(10) })
      .optional()
      .describe("Public keys (RFC 7517): the client authenticates by JWTs that it signs (private_key_jwt)."),
    redirect_uris: listOf(exactAddress(), 20).default([]),
    post_logout_redirect_uris: listOf(exactAddress(), 20).default([]),
    backchannel_logout_uri: exactAddress()
      .optional()
      .describe(
        "Is told when a session ends (OpenID Connect Back-Channel Logout 1.0). Default: the client is not told.",
      ),
    frontchannel_logout_uri: framedAddress()
      .optional()
      .describe(
        "Is loaded in a frame where a user signs out in the browser (OpenID Connect Front-Channel Logout 1.0). Its origin is that of one of redirect_uris. Default: none is loaded.",
      ),
    grants: listOf(
      z.enum(["authorization_code", "refresh_token", "client_credentials", "device_code", "token_exchange"]),
      5,
    ).default(["authorization_code", "refresh_token"]),
    scopes: listOf(scopeToken(), 50).default(["openid", "profile", "email", "phone"]),
    serves: listOf(resourceIndicator(), 20)
      .default([])
      .describe(
        "APIs of openid.resources that the client is the service of: with the grant token_exchange it exchanges access tokens that were issued for them.",
      ),
    application_type: z
      .enum(["web", "native"])
      .default("web")
      .describe(
        "A native application may listen at any port of the device, and use a scheme of its own (RFC 8252, 7). Default: web.",
      ),
    subject_type: z
      .enum(["public", "pairwise"])
      .default("public")
      .describe(
        "The client knows users by their ids, or by others than clients on other hosts do. Default: public.",
      ),
    require_par: z.boolean().default(false),
    require_dpop: z.boolean().default(false),
    first_party: z
      .boolean()
      .default(true)
      .describe("The operator's own: its users are not asked for consent. Default: true."),
    claims: claimTemplates(reservedClaims).describe(
      "Further claims of the client's ID tokens and of UserInfo: constants, or templates, as in session.jwt_template.claims.",
    ),
    access_token_claims: claimTemplates(reservedClaims).describe(
      "Further claims of the client's access tokens for APIs, which read them there.",
    ),
    client_uri: address().optional().describe("The home page, for users."),
    policy_uri: address().optional().describe("What becomes of users' data, for users."),
    tos_uri: address().optional().describe("The terms of service, for users."),
  })
  .refine(
    ({ grants, redirect_uris }) => !grants.includes("authorization_code") || redirect_uris.length > 0,
    "needs redirect_uris for authorization_code",
  )
  .refine(
    ({ frontchannel_logout_uri: address, redirect_uris, application_type }) =>
      address === undefined ||
      redirect_uris.some(
        (redirect) => isOfPages(redirect, application_type) && haveOneOrigin(redirect, address),
      ),
    "with frontchannel_logout_uri has one of redirect_uris at the same origin, which is no address of a native application",
  )
  .refine(
    ({ grants, secret, jwks }) =>
      !grants.includes("client_credentials") || secret !== undefined || jwks !== undefined,
    "needs a secret or jwks for client_credentials",
  )
  .refine(
    ({ grants, secret, jwks, first_party }) =>
      !grants.includes("token_exchange") || (first_party && (secret !== undefined || jwks !== undefined)),
    "with the grant token_exchange is the operator's own (first_party), and needs a secret or jwks",
  )
  .refine(
    ({ grants, serves }) => grants.includes("token_exchange") === serves.length > 0,
    "needs serves for the grant token_exchange, and has it for no other",
  )
  .refine(
    ({ secret, jwks }) => secret === undefined || jwks === undefined,
    "has a secret or jwks, not both: a client has one way to authenticate",
  )
  .refine(
    ({ first_party, claims, access_token_claims }) =>
      first_party || Object.keys({ ...claims, ...access_token_claims }).length === 0,
    "with first_party false has no claims and access_token_claims: its users are not asked about them",
  )
  .refine(
    ({ subject_type, redirect_uris, grants }) =>
      subject_type === "public" ||
      (new Set(redirect_uris.map((address) => URL.parse(address)?.host)).size === 1 &&
        !grants.includes("device_code")),
    "with subject_type pairwise has redirect_uris of one host, and no grant device_code",
  );

/** A text for users, by the tag of its language. */
const textByLanguage = () =>
  map(key(10).regex(/^[a-z]{2}(?:-[A-Z]{2})?$/, "is not a language"), line(200), 20);

/** A path of `server/sessions/json-path.ts` within one of the two kinds of metadata that the operator writes. */
const metadataPath = () =>
  line(255)
    .refine(
      (path) => !/^unsafe(?:\.|$)/.test(path),
      "must not read unsafe metadata: users write it themselves, and would give themselves what applications grant by it",
    )
    .regex(
      /^(?:(?:public|private)\.(?:\\.|[^\\|@!*?(])+|unsafe(?:\..*)?)$/,
      "must be a path like public.groups or private.teams.0",
    );

/** A scope about users, beside those of OpenID Connect Core, 5.4. */
const ownScope = z.strictObject({
  claims: map(key(), metadataPath(), 20)
    .superRefine(withoutClaims(reservedClaims))
    .default({})
    .describe(
      "What the scope asks for: claims, each with its place in the account's public or private metadata, as in public.groups.",
    ),
  texts: textByLanguage()
    .default({})
    .describe(
      "What an application may know by the scope, in plain words for users who are asked: by language.",
    ),
});

/** Those that the provider has, and names that claims have in the metadata of the library. */
const standardScopes: ReadonlySet<string> = new Set([
  ...["openid", "offline_access", ...Object.keys(claimsOfScopes)],
  ...["sub", "sid", "auth_time", "acr", "amr", "iss", "__proto__"],
]);

const resource = z.strictObject({
  name: line(100).optional().describe("Shown to users in place of the address."),
  texts: map(key(64), textByLanguage(), 50)
    .default({})
    .describe("What a scope allows, in plain words for users: by scope and language."),
  scopes: listOf(scopeToken(), 50).default([]),
  token: z.enum(["jwt", "opaque"]).default("jwt"),
});

/** The OpenID provider: applications let their users sign in here by OpenID Connect. */
export const openid = section({
  enabled: flag(false).describe(
    "Be an OpenID provider (OpenID Connect Core 1.0, OAuth 2.0) for the applications in openid.clients.",
  ),
  clients: map(key(64).regex(/^[A-Za-z0-9._~-]+$/, "is not a client id"), client, 100)
    .default({})
    .describe(
      "Applications by client id: name, secret or jwks, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, frontchannel_logout_uri, grants (authorization_code, refresh_token, client_credentials, device_code, token_exchange), scopes, serves (the APIs whose access tokens it exchanges), application_type (web, native), subject_type (public, pairwise), require_par, require_dpop, claims and access_token_claims (constants, or templates over .User); first_party: false for those that are not the operator's own, whose users are asked for consent, with client_uri, policy_uri and tos_uri.",
    ),
  resources: map(resourceIndicator(), resource, 50)
    .default({})
    .describe(
      "APIs by their resource indicator (RFC 8707): scopes, with name and texts (by scope and language) for users, and token: jwt (RFC 9068) or opaque. A token for a resource is valid there alone.",
    ),
  scopes: map(key(64).regex(SCOPE, "is not a scope (RFC 6749, 3.3)"), ownScope, 50)
    .superRefine((scopes, context) => {
      const own = Object.keys(scopes).find((scope) => standardScopes.has(scope));
      if (own !== undefined) context.addIssue({ code: "custom", message: `cannot set the scope "${own}"` });
      const claims = Object.values(scopes).flatMap(({ claims }) => Object.keys(claims));
      const twice = claims.find((claim, at) => claims.indexOf(claim) !== at);
      if (twice !== undefined)
        context.addIssue({ code: "custom", message: `has the claim "${twice}" in two scopes` });
    })
    .default({})
    .describe(
      'Further scopes about users: claims from public or private metadata, in ID tokens and at UserInfo, and texts (by language) for users who are asked, as in {"groups":{"claims":{"groups":"public.groups"},"texts":{"en":"see which teams you are in"}}}.',
    ),
  document_hosts: listOf(
    line(253).regex(/^(?:\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)$/, "is not a host name, *.host or *"),
    100,
  )
    .default([])
    .describe(
      "Hosts whose documents describe clients that are not in openid.clients (OAuth Client ID Metadata Document): names, *.example.com for those below a name, * for all. Default: none.",
    ),
  registration: choice(["off", "token", "open"], "off").describe(
    "Let applications register themselves (RFC 7591): with one of openid.registration_tokens, or any of them.",
  ),
  registration_tokens: listOf(
    secret().refine(
      (value) => /^[A-Za-z0-9._~+/-]{32,}=*$/.test(value),
      "needs at least 32 characters, those of a bearer token (RFC 6750, 2.1)",
    ),
    10,
  )
    .default([])
    .meta({ secret: true })
    .describe("Initial access tokens, one of which an application registers with. Several during a change."),
  registration_lifetime: seconds(30 * 86_400, { min: 3600, max: 400 * 86_400 }).describe(
    "After this time without a use, an application that has registered itself is forgotten.",
  ),
  unlisted_scopes: listOf(scopeToken(), 50)
    .default(["openid", "profile", "email", "offline_access"])
    .describe(
      "Scopes that clients which are not in openid.clients may ask their users for, those of openid.resources among them.",
    ),
  unlisted_consent_lifetime: seconds(90 * 86_400, { min: 3600, max: 400 * 86_400 }).describe(
    "How long what a user has allowed such a client is valid. It has to ask again after it.",
  ),
  allow_private_targets: flag(false).describe(
    "Read documents of clients on private, loopback and link-local addresses too. For development.",
  ),
  allow_private_logout_targets: flag(false).describe(
    "Tell clients that sessions have ended on private, loopback and link-local addresses too: where applications share a private network with the service.",
  ),
  access_token_lifetime: seconds(600, { min: 30, max: 86_400 }).describe("Life of an access token."),
  refresh_token_lifetime: seconds(14 * 86_400, { min: 60, max: 400 * 86_400 }).describe(
    "Life of a refresh token. Each use replaces it by one that lives as long.",
  ),
  pairwise_salt: secret()
    .refine((value) => value.length >= 32, "needs at least 32 characters")
    .optional()
    .meta({ secret: true })
    .describe(
      "Makes the names by which clients with subject_type pairwise know users (OpenID Connect Core 1.0, 8.1). Without it there are no such clients; once it is changed, they know none of their users any more.",
    ),
  account_choice: flag(true).describe(
    "With prompt=select_account: show the accounts that have signed in with the browser, by masked names. Off: ask for a new sign-in.",
  ),
  device_flow: flag(false).describe(
    "Let clients with the grant device_code sign their users in on devices without a browser, by a code that the user enters at /device (RFC 8628).",
  ),
  device_code_lifetime: seconds(600, { min: 60, max: 1800 }).describe(
    "How long a device waits for its user to enter its code.",
  ),
  code_lifetime: seconds(60, { min: 10, max: 600 }).describe("Life of an authorization code."),
  request_lifetime: seconds(3600, { min: 60, max: 86_400 }).describe(
    "How long an authorization request waits for its user to sign in.",
  ),
  dpop: choice(["offered", "off"], "offered").describe(
    "Bind tokens to a key of the client that proves it has one (DPoP, RFC 9449).",
  ),
});
