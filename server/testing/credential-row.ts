import { randomUUID } from "node:crypto";
import type { schema } from "#db/client";

/** A row of `webauthn_credentials` for a passkey, or with `mfaOnly` a security key, whose private key does not exist. */
export function credentialRow(
  own: { tenantId: string; userId: string } & Partial<typeof schema.webauthnCredentials.$inferInsert>,
): typeof schema.webauthnCredentials.$inferInsert {
  return {
    id: randomUUID(),
    publicKey: Buffer.of(1),
    signCount: 0,
    aaguid: "00000000-0000-0000-0000-000000000000",
    attestationType: "none",
    transports: [],
    backupEligible: false,
    backupState: false,
    userVerified: true,
    mfaOnly: false,
    ...own,
  };
}
