import { z } from "zod";

/**
 * A credential that exists in its authenticator and not yet in the database; plain JSON, so that a flow can keep it.
 * The credential record of WebAuthn Level 3 section 4.
 */
export const newCredential = z.object({
  /** Credential id, base64url. */
  id: z.string().min(1),
  /** COSE_Key, base64url. */
  publicKey: z.string().min(1),
  signCount: z.int().nonnegative(),
  aaguid: z.string(),
  /** Format of the attestation statement. */
  attestationType: z.string(),
  transports: z.array(z.string()),
  backupEligible: z.boolean(),
  backupState: z.boolean(),
  /** Whether the authenticator has ever verified its user here: `uvInitialized`. */
  userVerified: z.boolean(),
  mfaOnly: z.boolean(),
  /** Whether its key is proved to stay in a hardware authenticator: it is not backed up, and a trusted attestation says so. */
  hardwareProtected: z.boolean().default(false),
  name: z.string().nullable(),
});

export type NewCredential = z.output<typeof newCredential>;

/** The data of a credential that the verification of an assertion needs. */
export interface StoredCredential {
  id: string;
  userId: string;
  publicKey: Buffer;
  signCount: number;
  backupEligible: boolean;
  hardwareProtected?: boolean;
  aaguid?: string | null;
  mfaOnly: boolean;
  transports: string[];
  /** `user.id` of the ceremony that created it, if it is recorded. */
  userHandle?: Buffer | null;
  /** The random handle of its account, if that has one. */
  accountHandle?: Buffer | null;
}

/** An existing credential as listed in options for the browser. */
export interface CredentialId {
  /** base64url */
  id: string;
  transports: string[];
  mfaOnly: boolean;
}
