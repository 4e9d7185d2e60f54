import { z } from "zod";
import {
  address,
  attachment,
  attestationPreference,
  certificates,
  domain,
  duration,
  flag,
  line,
  listOf,
  originPatternList,
  residentKey,
  seconds,
  section,
  userVerification,
} from "./leaves.ts";

const trustedModel = z.strictObject({
  aaguid: z.guid("is not an AAGUID like ee882879-721c-4913-9775-3dfcce97072a").max(36),
  name: line(200).optional(),
  roots: certificates().min(1, "has a model without roots"),
});

/** The passkey server: the interface for applications that use passkeys on their own pages. */
export const passkeyServer = section({
  relying_party: section({
    id: domain()
      .optional()
      .describe("Relying party id of the passkey server. Default: webauthn.relying_party.id."),
    display_name: line()
      .optional()
      .describe("Relying party name. Default: webauthn.relying_party.display_name."),
    icon: address().optional().describe("Relying party icon. Default: none."),
    origins: originPatternList()
      .default([])
      .describe(
        "Origins that ceremonies may come from, android:apk-key-hash: ones included. Default: webauthn.relying_party.origins.",
      ),
  }),
  cors: section({
    allowed_origins: originPatternList()
      .default([])
      .describe(
        "Origins whose pages may call the passkey server, with * for one label or more, as in https://*.example.com. Default: the relying party's origins.",
      ),
    allow_unsafe_wildcard: flag(false).describe("Let * alone stand for every origin."),
  }),
  timeout: seconds(300, { min: 1, max: 600 }).describe("Life of a challenge, and the timeout of browsers."),
  user_verification: userVerification("required").describe("User verification asked of passkeys."),
  attachment: attachment("no_preference").describe("Kind of authenticator asked for."),
  attestation_preference: attestationPreference("direct").describe("Attestation asked of passkeys."),
  attestation_models: listOf(trustedModel)
    .default([])
    .describe(
      "Authenticator models whose attestation is verified: aaguid (all zeros for FIDO U2F), name, roots (certificates in PEM). An entry replaces that of webauthn.metadata_file for the same model.",
    ),
  attestation_required: flag(false).describe(
    "Reject credentials whose attestation is not verified by attestation_models or webauthn.metadata_file.",
  ),
  resident_key_requirement: residentKey("required").describe("Whether passkeys are discoverable."),
  send_transports: flag(false).describe(
    "Tell browsers by which transports credentials are reached; some platforms start the wrong authenticator then.",
  ),
  confirmation_ttl: seconds(300, { min: 1, max: 600 }).describe(
    "How long the page that asks about a transaction may be answered.",
  ),
  transaction: section({
    user_verification: z
      .enum(["required", "preferred", "discouraged"])
      .optional()
      .describe(
        "User verification asked of transactions. Default: their options do not name it, so browsers prefer it, and the response must meet passkey_server.user_verification.",
      ),
  }),
  mfa: section({
    timeout: duration({ min: 1, max: 600 })
      .optional()
      .describe("Life of a challenge for a second factor. Default: passkey_server.timeout."),
    user_verification: userVerification("discouraged").describe("User verification asked of second factors."),
    attachment: attachment("cross-platform").describe("Kind of authenticator asked for as second factor."),
    attestation_preference: attestationPreference("direct").describe("Attestation asked of second factors."),
    resident_key_requirement: residentKey("discouraged").describe("Whether second factors are discoverable."),
  }),
});
