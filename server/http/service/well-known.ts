import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { ceremonyOrigins } from "../../webauthn/origins.ts";
import { json, plainError, type Reply, redirect } from "../answer/reply.ts";
import { pathPrefix, withinTenant } from "../request/tenant-path.ts";
import { address } from "../table/address.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";

/**
 * What browsers, password managers, systems of phones and researchers look for under `/.well-known`
 * (docs/well-known.md). Clients ask at the root of a host alone (RFC 8615, 3). What a host says of itself is therefore
 * the setting of the tenant whose host it is; a tenant under a path of another's host has none.
 */

const cacheable = { "Cache-Control": "public, max-age=3600" };

const notConfigured = () => plainError(404, "Not configured.");

/** Answers with what the configuration of a host makes; 404 without it, and under the path of a tenant. */
const ofHost =
  (make: (config: Config) => Reply | null): Handler =>
  ({ tenant: { config } }) =>
    (pathPrefix(config) === "" ? make(config) : null) ?? notConfigured();

/**
 * `GET /.well-known/webauthn`: the web origins that may use this relying party's passkeys (WebAuthn Level 3 section
 * 5.11.1). Browsers request it when a page of another domain names this relying party. 404 without related origins.
 */
const relatedOriginsHandler: Handler = ({ tenant }) => {
  if (tenant.config.webauthn.related_origins.length === 0)
    return plainError(404, "No related origins are configured.");
  const origins = ceremonyOrigins(tenant.config).filter((origin) => /^https?:/.test(origin));
  return json(200, { origins }, { headers: { "Cache-Control": "public, max-age=600" } });
};

/** `GET /.well-known/change-password`: the account page (W3C, A Well-Known URL for Changing Passwords). */
const changePasswordHandler: Handler = ({ tenant }) =>
  tenant.config.password.enabled ? redirect(303, "/account") : notConfigured();

/** `GET /.well-known/passkey-endpoints`: where passkeys are made and managed (W3C, Passkey Endpoints). */
const passkeyEndpointsHandler: Handler = ({ tenant: { config } }) => {
  if (!config.passkey.enabled) return notConfigured();
  const account = new URL(withinTenant(config, "/account"), config.base_url).href;
  return json(200, { enroll: account, manage: account }, { headers: cacheable });
};

const securityTxtPath = "/.well-known/security.txt";

/** `GET /.well-known/security.txt` (RFC 9116). A stale file would send reports to an address that may be dead. */
const securityTxtHandler = ofHost(({ base_url, well_known: { security_txt: file } }) => {
  if (file.contact.length === 0 || !file.expires || Date.parse(file.expires) <= Date.now()) return null;
  const fields: [string, string | undefined][] = [
    ...file.contact.map((uri): [string, string] => ["Contact", uri]),
    ["Expires", new Date(file.expires).toISOString().replace(/\.\d+Z$/, "Z")],
    ["Encryption", file.encryption],
    ["Acknowledgments", file.acknowledgments],
    ["Preferred-Languages", file.preferred_languages.join(", ") || undefined],
    ["Canonical", base_url + securityTxtPath],
    ["Policy", file.policy],
    ["Hiring", file.hiring],
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\n`]));
  const headers = { ...cacheable, "Content-Type": "text/plain; charset=utf-8" };
  return { status: 200, body: lines.join(""), headers };
});

/** `GET /.well-known/apple-app-site-association`: associated domains of Apple, for credentials. */
const appleAppsHandler = ofHost(({ well_known: { apple_apps } }) =>
  apple_apps.length === 0
    ? null
    : json(200, { webcredentials: { apps: apple_apps } }, { headers: cacheable }),
);

const CREDENTIALS = "delegate_permission/common.get_login_creds";
const LINKS = "delegate_permission/common.handle_all_urls";

/** `GET /.well-known/assetlinks.json`: Digital Asset Links, for credentials and links of Android. */
const assetLinksHandler = ofHost(({ well_known: { android_apps } }) => {
  const statements = android_apps.map(({ package_name, sha256_cert_fingerprints, opens_links }) => ({
    relation: [CREDENTIALS, ...(opens_links ? [LINKS] : [])],
    target: {
      namespace: "android_app",
      package_name,
      sha256_cert_fingerprints: sha256_cert_fingerprints.map((fingerprint) => fingerprint.toUpperCase()),
    },
  }));
  return statements.length === 0 ? null : json(200, statements, { headers: cacheable });
});

const NOT_CONFIGURED = "It is not configured.";
const cacheHeader = { "Cache-Control": "An hour." };

export const wellKnownAddresses = [
  described(address("GET", "/.well-known/webauthn", relatedOriginsHandler, "plain", "public"), {
    id: "getRelatedOrigins",
    summary: "Get the origins that may use passkeys of this relying party",
    tag: "keys",
    answers: {
      200: { schema: z.object({ origins: z.array(z.url()) }) },
      404: "No related origins are configured.",
    },
  }),
  described(address("GET", "/.well-known/change-password", changePasswordHandler, "plain", "public"), {
    id: "openPasswordChange",
    summary: "Send a browser to the page on which a password is changed",
    tag: "page",
    answers: {
      303: { description: "The account page.", headers: { Location: "Address of the page." } },
      404: "Passwords are off.",
    },
  }),
  described(address("GET", "/.well-known/passkey-endpoints", passkeyEndpointsHandler, "plain", "public"), {
    id: "getPasskeyEndpoints",
    summary: "Get the pages on which passkeys are made and managed",
    tag: "keys",
    answers: {
      200: { schema: z.object({ enroll: z.url(), manage: z.url() }), headers: cacheHeader },
      404: "Passkeys are off.",
    },
  }),
  described(address("GET", securityTxtPath, securityTxtHandler, "plain", "public"), {
    id: "getSecurityTxt",
    summary: "Get where vulnerabilities are reported",
    tag: "service",
    answers: {
      200: { schema: z.string(), mediaType: "text/plain", headers: cacheHeader },
      404: NOT_CONFIGURED,
    },
  }),
  described(address("GET", "/.well-known/apple-app-site-association", appleAppsHandler, "plain", "public"), {
    id: "getAppleAppSiteAssociation",
    summary: "Get the applications for Apple's systems that share credentials with this host",
    tag: "keys",
    answers: {
      200: {
        schema: z.object({ webcredentials: z.object({ apps: z.array(z.string()) }) }),
        headers: cacheHeader,
      },
      404: NOT_CONFIGURED,
    },
  }),
  described(address("GET", "/.well-known/assetlinks.json", assetLinksHandler, "plain", "public"), {
    id: "getAssetLinks",
    summary: "Get the applications for Android that share credentials with this host",
    tag: "keys",
    answers: {
      200: {
        schema: z.array(
          z.object({
            relation: z.array(z.string()),
            target: z.object({
              namespace: z.literal("android_app"),
              package_name: z.string(),
              sha256_cert_fingerprints: z.array(z.string()),
            }),
          }),
        ),
        headers: cacheHeader,
      },
      404: NOT_CONFIGURED,
    },
  }),
];
