import { z } from "zod";
import type { Config } from "../config/schema.ts";
import { isLoopback } from "../lib/is-loopback.ts";

/**
 * Clients that the operator has not listed in `openid.clients` and that describe themselves: by a document at the address that is
 * their id (OAuth Client ID Metadata Document), or by registering (RFC 7591). Nothing that they say of themselves is verified.
 */

/** Where what is known of a client comes from. */
export type ClientOrigin = "listed" | "document" | "registration";

/** A document at a longer address is not read. */
const MAX_DOCUMENT_ADDRESS_CHARACTERS = 512;

/** A host that does not answer keeps the client of its document, with what it said last, for this time. */
export const DOCUMENT_KEPT_SECONDS = 7 * 24 * 3600;

const REGISTERED_ID = /^registered-[A-Za-z0-9_-]{22}$/;

/** The id of a client that registers. */
export const registeredId = (random: string): string => `registered-${random}`;

/** How a client of this id is known here; null if it cannot be. */
export function originOf({ openid }: Pick<Config, "openid">, clientId: string): ClientOrigin | null {
  if (Object.hasOwn(openid.clients, clientId)) return "listed";
  if (REGISTERED_ID.test(clientId)) return openid.registration === "off" ? null : "registration";
  return isReadableDocument(openid.document_hosts, clientId) ? "document" : null;
}

function isReadableDocument(hosts: readonly string[], clientId: string): boolean {
  if (!clientId.startsWith("https://") || clientId.length > MAX_DOCUMENT_ADDRESS_CHARACTERS) return false;
  const url = URL.parse(clientId);
  // The path tells the client from others of its host (Client ID Metadata Document, 3).
  if (!url || url.pathname === "/" || url.href !== clientId || clientId.includes("#")) return false;
  return hosts.some((host) =>
    host.startsWith("*") ? url.hostname.endsWith(host.slice(1)) : url.hostname === host,
  );
}

/** The scopes that a client may ask its users for. */
export function scopesOfClient(config: Pick<Config, "openid">, clientId: string): readonly string[] {
  const { clients, unlisted_scopes } = config.openid;
  const origin = originOf(config, clientId);
  if (origin === null) return [];
  return origin === "listed" ? (clients[clientId]?.scopes ?? []) : unlisted_scopes;
}

/** Schemes that a browser runs or shows itself. */
const ownSchemes = new Set([
  ...["javascript:", "vbscript:", "data:", "blob:", "file:", "filesystem:", "about:", "view-source:"],
  ...["ws:", "wss:", "ftp:", "mailto:", "tel:", "sms:", "intent:", "chrome:"],
]);

/** Where a browser may be sent with a code: a web server, the device itself, or an application on it (RFC 8252, 7). */
function isRedirectAddress(text: string): boolean {
  const url = URL.parse(text);
  if (!url || /[^\x21-\x7e]|#/.test(text) || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" ? isLoopback(url.hostname) : !ownSchemes.has(url.protocol);
}

/** As it can be stored and sent. */
const httpsAddress = z
  .url({ protocol: /^https$/ })
  .max(2048)
  .regex(/^[\x21-\x7e]+$/);

/** A link for users; what is none is left out. */
const webAddress = httpsAddress.optional().catch(undefined);

const MAX_NAME_CHARACTERS = 64;

/** What is kept of a client, as JSON. */
const MAX_DESCRIPTION_CHARACTERS = 8 * 1024;

/** A public key is read by the library; private members are refused there. */
const keySet = z.object({
  keys: z
    .array(z.record(z.string().max(64), z.unknown()))
    .min(1)
    .max(10),
});

/** What a client says of itself (RFC 7591, 2). What is not known here is left out. */
export const clientDescription = z.object({
  client_name: z
    .string()
    .max(200)
    // It is shown in sentences of ours: no control characters, and nothing that turns the direction of text.
    .transform((name) => {
      const shown = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
      // By whole characters: half of one cannot be stored.
      return Array.from(shown).slice(0, MAX_NAME_CHARACTERS).join("");
    })
    .optional(),
  client_uri: webAddress,
  policy_uri: webAddress,
  tos_uri: webAddress,
  redirect_uris: z
    .array(z.string().max(2048).refine(isRedirectAddress, "has an address to which no code is sent"))
    .min(1)
    .max(20),
  grant_types: z.array(z.string().max(200)).max(20).default(["authorization_code"]),
  response_types: z.array(z.string().max(200)).max(20).default(["code"]),
  token_endpoint_auth_method: z.string().max(64).optional(),
  jwks: keySet.optional(),
  jwks_uri: httpsAddress.optional(),
});

export type ClientDescription = z.output<typeof clientDescription>;

/** Why what a client says of itself is not accepted (RFC 7591, 3.2.2). */
export interface DescriptionFault {
  error: "invalid_redirect_uri" | "invalid_client_metadata";
  message: string;
}

/**
 * Reads what a client says of itself.
 *
 * @param methods by which such a client may authenticate, the first one where it names none
 */
export function readDescription(
  value: unknown,
  methods: readonly [string, ...string[]],
):
  | { ok: true; description: ClientDescription & { token_endpoint_auth_method: string } }
  | { ok: false; fault: DescriptionFault } {
  const refuse = (message: string, error: DescriptionFault["error"] = "invalid_client_metadata") =>
    ({ ok: false, fault: { error, message } }) as const;
  const read = clientDescription.safeParse(value);
  if (!read.success) {
    const [name = "", ...rest] = read.error.issues[0]?.path.map(String) ?? [];
    const isRedirect = name === "redirect_uris";
    const place = [name, ...rest].join(".") || "The metadata";
    return refuse(`${place} is invalid.`, isRedirect ? "invalid_redirect_uri" : "invalid_client_metadata");
  }
  const description = read.data;
  if (JSON.stringify(description).length > MAX_DESCRIPTION_CHARACTERS)
    return refuse("The metadata are too large.");
  const { token_endpoint_auth_method: method = methods[0], jwks, jwks_uri } = description;
  if (!methods.includes(method)) return refuse("token_endpoint_auth_method is not offered here.");
  if (jwks && jwks_uri) return refuse("jwks and jwks_uri exclude each other (RFC 7591, 2).");
  if (method === "private_key_jwt" && !jwks && !jwks_uri)
    return refuse("private_key_jwt needs jwks or jwks_uri.");
  if (!description.grant_types.includes("authorization_code") || !description.response_types.includes("code"))
    return refuse(
      "A client that describes itself needs the grant authorization_code and the response type code.",
    );
  return { ok: true, description: { ...description, token_endpoint_auth_method: method } };
}
