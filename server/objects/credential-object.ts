import { z } from "zod";

/** A stored credential in answers, by the names of all interfaces. Times are RFC 3339. */
export interface CredentialObject {
  /** base64url */
  id: string;
  name?: string;
  /** COSE_Key, base64url. */
  public_key: string;
  attestation_type: string;
  aaguid: string;
  last_used_at?: string;
  created_at: string;
  transports: string[];
  backup_eligible: boolean;
  backup_state: boolean;
}

/** Schemas of the members of `CredentialObject` that follow the AAGUID, in their order. */
export const credentialUse = (time: z.ZodISODateTime) => ({
  last_used_at: time.optional(),
  created_at: time,
  transports: z.array(z.string()),
  backup_eligible: z.boolean(),
  backup_state: z.boolean(),
});
