import { z } from "zod";
import { passkeyServerAuditTypes } from "../../audit/audit-types.ts";
import { credentialUse } from "../../objects/credential-object.ts";
import { pageQuery } from "../table/fields.ts";

/** Schemas of the passkey server's answers (docs/passkey-server.md). */

const time = z.iso.datetime();

const descriptor = z
  .object({ type: z.literal("public-key"), id: z.string(), transports: z.array(z.string()).optional() })
  .meta({ id: "CredentialDescriptor" });

const userVerification = z.enum(["required", "preferred", "discouraged"]);

/** Options for `navigator.credentials.create` (WebAuthn Level 3, 5.1.3), in JSON. */
export const creationOptions = z
  .object({
    publicKey: z.object({
      rp: z.object({ id: z.string(), name: z.string() }),
      user: z.object({
        id: z.string(),
        name: z.string(),
        displayName: z.string(),
        icon: z.string().optional(),
      }),
      challenge: z.string(),
      pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
      timeout: z.int(),
      excludeCredentials: z.array(descriptor).optional(),
      authenticatorSelection: z.object({
        authenticatorAttachment: z.string().optional(),
        requireResidentKey: z.boolean(),
        residentKey: z.string(),
        userVerification,
      }),
      attestation: z.string(),
    }),
  })
  .meta({ id: "CreationOptions" });

const publicKeyRequest = z
  .object({
    challenge: z.string(),
    timeout: z.int(),
    rpId: z.string(),
    allowCredentials: z.array(descriptor).optional(),
    userVerification: userVerification.optional(),
  })
  .meta({ id: "PublicKeyRequestOptions" });

/** Options for `navigator.credentials.get` (WebAuthn Level 3, 5.1.4), in JSON. */
export const requestOptions = z
  .object({ publicKey: publicKeyRequest, mediation: z.string().optional() })
  .meta({ id: "RequestOptions" });

/** The same for a transaction. */
export const transactionOptions = z
  .object({
    publicKey: publicKeyRequest,
    mediation: z.string().optional(),
    confirmation_url: z.url().optional().describe("The page on which the user confirms."),
  })
  .meta({ id: "TransactionOptions" });

export const passkeyToken = z
  .object({ token: z.string().describe("A JWT, valid for five minutes.") })
  .meta({ id: "PasskeyToken" });

export const transactionToken = z
  .object({
    token: z.string(),
    receipt: z.string().describe("A signed statement of the transaction (JWS)."),
    transaction_id: z.string().optional(),
  })
  .meta({ id: "TransactionToken" });

export const passkeyCredential = z
  .object({
    id: z.string().describe("base64url"),
    name: z.string().optional(),
    public_key: z.string().describe("COSE_Key, base64url."),
    attestation_type: z.string(),
    attestation_trust: z.enum(["verified", "unverified", "none"]),
    aaguid: z.guid(),
    ...credentialUse(time),
    is_mfa: z.boolean(),
    user_id: z.string(),
  })
  .meta({ id: "PasskeyCredential" });

export const passkeyTransaction = z
  .object({
    id: z.guid(),
    identifier: z.string(),
    data: z.string().describe("In canonical form (RFC 8785), as text."),
    created_at: time,
    updated_at: time,
    confirmed_at: time.optional(),
  })
  .meta({ id: "PasskeyTransaction" });

export const passkeyAuditEntry = z
  .object({
    id: z.guid(),
    type: z.string(),
    error: z.string().optional(),
    reason: z
      .string()
      .optional()
      .describe("Why it failed, from a closed list; entries of version 0.2 have none."),
    meta_http_request_id: z.string(),
    meta_source_ip: z.string(),
    meta_user_agent: z.string(),
    actor_user_id: z.string().optional(),
    created_at: time,
    updated_at: time,
    tenant_id: z.guid(),
    transaction_id: z.string().nullable(),
  })
  .meta({ id: "PasskeyAuditEntry" });

/** The query of `GET credentials`. */
export const credentialsQuery = z.object({
  ...pageQuery,
  user_id: z.string().optional(),
  order: z.enum(["asc", "desc"]).default("desc"),
});

/** The query of `GET audit_logs`. */
export const auditLogsQuery = z.object({
  ...pageQuery,
  start_time: z.iso.datetime({ offset: true }).optional(),
  end_time: z.iso.datetime({ offset: true }).optional(),
  type: z.array(z.enum(passkeyServerAuditTypes)).optional(),
  actor_user_id: z.string().max(256).optional(),
  meta_source_ip: z.string().max(256).optional(),
  q: z.string().max(256).optional(),
});

export const pagedHeaders = {
  Link: "First, last, next and previous page (RFC 8288).",
  "X-Total-Count": "Number of items on all pages.",
};
