import { z } from "zod";
import {
  address,
  certificates,
  choice,
  flag,
  line,
  list,
  listOf,
  seconds,
  secret,
  section,
} from "./leaves.ts";

/** Most bytes of UTF-8 that a model may be configured to show. */
export const MAX_TRANSACTION_BYTES = 4096;

const acceptedAuthenticator = z
  .strictObject({
    aaid: line(9).regex(/^[0-9A-Fa-f]{4}#[0-9A-Fa-f]{4}$/, "is not an AAID like 006F#0001"),
    name: line(200).optional(),
    /** ALG_SIGN and ALG_KEY of the FIDO registry; by default every one that can be verified, less 0x000F (SHA-1). */
    algorithms: listOf(z.int().min(1).max(0xffff)).min(1).optional(),
    key_formats: listOf(z.int().min(1).max(0xffff)).min(1).optional(),
    /** By default full where there are roots. */
    attestation: z.enum(["surrogate", "full"]).optional(),
    /** PEM certificates that a full attestation must lead to. */
    roots: certificates().default([]),
    /** Lowest version of the authenticator. */
    version: z.int().min(0).max(0xffff).default(0),
    revoked: z.boolean().default(false),
    /** Longest text to confirm, in bytes of UTF-8. The default is 200 characters of base64url, which clients accept. */
    max_transaction_bytes: z.int().min(1).max(MAX_TRANSACTION_BYTES).default(150),
  })
  .refine(
    ({ attestation, roots }) => attestation !== "full" || roots.length > 0,
    "has an authenticator of full attestation without roots",
  );

/** The interface by which applications send requests to authenticators. */
export const authenticator = section({
  name: line().optional().describe("Name that authenticators show. Default: service.name."),
  icon: address().optional().describe("Icon that authenticators show. Default: none."),
  app_id: line(512)
    .optional()
    .describe("FIDO AppID. Default: the address of the list of facets, <base_url>/authenticator/facets."),
  facets: list().describe(
    "Facets that may act for the AppID beside our own origin: https origins, android:apk-key-hash:…, ios:bundle-id:….",
  ),
  request_ttl: seconds(120, { min: 1, max: 600 }).describe("How long a request may be answered."),
  accepted: listOf(acceptedAuthenticator)
    .min(1)
    .default([
      {
        aaid: "006F#0001",
        name: "Hanko Authenticator",
        attestation: "surrogate",
        roots: [],
        version: 1,
        revoked: false,
        max_transaction_bytes: 150,
      },
    ])
    .describe(
      "Authenticators that may register: aaid, name, algorithms, key_formats, attestation (surrogate or full), roots, version, revoked, max_transaction_bytes (longest text to confirm in UTF-8, 1 to 4096, default 150).",
    ),
  location_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      "MaxMind database (.mmdb) with the places of IP addresses, read at the start, for the location of requests and for the places on the account page. Default: none.",
    ),
  strict: flag(false).describe(
    "Reject signatures and key ids that deviate slightly from the standard, as old authenticators make them.",
  ),
  channel_binding: choice(["refuse", "verify", "require"], "refuse").describe(
    "Responses that are bound to a TLS connection (UAF ChannelBinding): refuse rejects them; verify rejects those that name another server than tls_certificates; require also rejects those that name no server.",
  ),
  tls_certificates: certificates()
    .default([])
    .describe(
      "Certificates in PEM of the TLS server that authenticators send responses to; the old and the new one while it is replaced. Used by channel_binding.",
    ),
  qr_code_template: z
    .string()
    .max(1000)
    .regex(/\{url\}|\{id\}.*\{token\}|\{token\}.*\{id\}/, "must contain {url}, or {id} and {token}")
    .default("{url}")
    .describe("Content of QR codes; {url}, {id} and {token} are replaced by those of the request."),
  push_url: address()
    .optional()
    .describe(
      "Address that receives new requests with the push tokens of the user's devices. Default: none.",
    ),
  push_secret: secret()
    .refine(
      (value) => !value.startsWith("whsec_") || Buffer.from(value.slice(6), "base64").length >= 24,
      "must have at least 24 bytes of base64 after whsec_",
    )
    .optional()
    .describe("Secret that signs requests to push_url (Standard Webhooks). Default: none."),
});
