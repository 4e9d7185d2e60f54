import { z } from "zod";
import {
  acquire,
  certificates,
  choice,
  count,
  domain,
  flag,
  line,
  list,
  listOf,
  originList,
  seconds,
  section,
  userVerification,
} from "./leaves.ts";

/** Passkeys of accounts. */
export const passkey = section({
  enabled: flag(true).describe("Whether accounts have passkeys."),
  optional: flag(true).describe("Whether an account may do without one."),
  acquire_on_registration: acquire("always").describe("Offer to create a passkey at registration."),
  acquire_on_login: acquire("always").describe(
    "Offer to create a passkey at login when the account has none.",
  ),
  offer_again_after: seconds(30 * 86_400).describe(
    "How long a login does not offer a passkey again after the user declined it; 0 offers it each time.",
  ),
  user_verification: userVerification("preferred").describe("User verification asked of authenticators."),
  attestation_preference: choice(["none", "indirect", "direct"], "none").describe(
    "Attestation asked of authenticators.",
  ),
  limit: count(10, 1, 100).describe("Most passkeys of one account."),
  hints: listOf(z.enum(["security-key", "client-device", "hybrid"]), 10)
    .default([])
    .describe("Kinds of authenticator that browsers put first: security-key, client-device, hybrid."),
  attestation_formats: listOf(z.enum(["none", "packed", "fido-u2f", "tpm", "apple", "android-key"]), 10)
    .default(["none", "packed", "fido-u2f", "tpm", "apple", "android-key"])
    .describe("Formats of attestation statements that are accepted."),
  conditional_create: flag(true).describe(
    "Let browsers create a passkey automatically after a password login, where they can.",
  ),
});

/** Settings of all WebAuthn ceremonies of accounts. */
export const webauthn = section({
  relying_party: section({
    id: domain().optional().describe("Relying party id. Default: the host of base_url."),
    display_name: line().optional().describe("Relying party name. Default: service.name."),
    origins: list().describe("Origins that ceremonies may come from. Default: the origin of base_url."),
  }),
  related_origins: originList("https://shop.example.net").describe(
    "Origins of other domains that may use this relying party's passkeys; listed at /.well-known/webauthn.",
  ),
  timeout: seconds(300)
    // The recommended longest timeout (WebAuthn Level 3, 15.1).
    .transform((value) => Math.min(value, 300))
    .describe("Life of a challenge, and the timeout of browsers; longer values count as 5 minutes."),
  metadata_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      "File with FIDO's list of authenticator models (https://mds3.fidoalliance.org), read at the start. Default: none, and only passkey_server.attestation_models are verified.",
    ),
  metadata_roots: certificates()
    .default([])
    .describe("Certificates in PEM that sign a list of another issuer. Default: FIDO's root."),
  sign_count: choice(["refuse", "warn"], "refuse").describe(
    "What happens when a signature counter did not increase.",
  ),
});
