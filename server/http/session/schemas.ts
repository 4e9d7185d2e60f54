import { z } from "zod";

/** Schemas of sessions and of the account of a session. */

const time = z.iso.datetime();

const metadata = z.record(z.string(), z.unknown());

const credential = z
  .object({
    id: z.string().describe("base64url"),
    name: z.string().optional(),
    public_key: z.string().describe("COSE_Key in base64url."),
    attestation_type: z.string(),
    aaguid: z.guid(),
    last_used_at: time.optional(),
    created_at: time,
    transports: z.array(z.string()),
    backup_eligible: z.boolean(),
    backup_state: z.boolean(),
    mfa_only: z.boolean(),
  })
  .meta({ id: "ProfileCredential" });

const identity = z
  .object({
    id: z.string().describe("The subject identifier at the provider."),
    provider: z.string().describe("Display name of the provider."),
    identity_id: z.guid(),
  })
  .meta({ id: "ProfileIdentity" });

/** The account as its owner sees it. */
export const profile = z
  .object({
    id: z.guid(),
    user_id: z.guid(),
    passkeys: z.array(credential).optional(),
    security_keys: z.array(credential).optional(),
    mfa_config: z.object({
      auth_app_set_up: z.boolean(),
      totp_enabled: z.boolean(),
      security_keys_enabled: z.boolean(),
    }),
    emails: z
      .array(
        z.object({
          id: z.guid(),
          address: z.string(),
          is_verified: z.boolean(),
          is_primary: z.boolean(),
          identity: identity.optional(),
          identities: z.array(identity).optional(),
        }),
      )
      .optional()
      .describe("The primary one first."),
    username: z.object({ id: z.guid(), username: z.string(), created_at: time, updated_at: time }).optional(),
    metadata: z
      .object({ public_metadata: metadata.optional(), unsafe_metadata: metadata.optional() })
      .optional(),
    identities: z.array(identity).optional(),
    name: z.string().optional(),
    given_name: z.string().optional(),
    family_name: z.string().optional(),
    picture: z.string().optional(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Profile" });

/** The claims of a session in client form. */
const claims = z
  .looseObject({
    subject: z.guid().describe("The id of the user."),
    session_id: z.guid(),
    expiration: time,
    issued_at: time,
    audience: z.array(z.string()),
    issuer: z.string(),
    amr: z.array(z.string()).optional().describe("Authentication method references (RFC 8176)."),
    email: z.object({ address: z.string(), is_primary: z.boolean(), is_verified: z.boolean() }).optional(),
    username: z.string().optional(),
  })
  .meta({ id: "SessionClaims", description: "Claims of `session.jwt_template` come beside these." });

/** The answer of `/sessions/validate`. */
export const validation = z
  .object({
    is_valid: z.boolean().describe("The other members are there if it is true."),
    claims: claims.optional(),
    expiration_time: time.optional(),
    user_id: z.guid().optional(),
    idle_expires_at: time.optional(),
  })
  .meta({ id: "SessionValidation" });

/** The body of `POST /sessions/validate`. */
export const tokenToValidate = z.object({ session_token: z.string().min(1) });

/** The body of `POST /token`. */
export const codeRedemption = z.strictObject({
  code: z.string(),
  code_verifier: z.string().describe("RFC 7636, 4.5."),
  redirect_to: z.string().optional().describe("The address that the code was sent to."),
});

/** The answer of `POST /token`. */
export const redeemedSession = z
  .object({ session_token: z.string(), user_id: z.guid(), expiration_time: time })
  .meta({ id: "RedeemedSession" });

/** Public keys (RFC 7517, 5). */
export const keySet = z
  .object({
    keys: z.array(
      z
        .looseObject({ kty: z.string(), kid: z.string(), alg: z.string(), use: z.literal("sig") })
        .meta({ id: "PublicKey" }),
    ),
  })
  .meta({ id: "KeySet" });
