import type { X509Certificate } from "node:crypto";

/** An attestation statement (WebAuthn Level 3 section 6.5.4) and what it is a statement about. */
export interface Statement {
  /** Members of `attStmt`; nothing is known of their types. */
  members: ReadonlyMap<unknown, unknown>;
  authenticatorData: Uint8Array;
  /** SHA-256 of the client's data. */
  clientDataHash: Buffer;
  /** COSE_Key of the new credential; acceptable, see `cose-key.ts`. */
  publicKey: Uint8Array;
  /** Certificates that a chain may lead to, where the format has roots that all the world knows. */
  roots: readonly X509Certificate[];
  now: Date;
}

/** Whether a statement holds. Pure but for the cryptography; may throw for one that is malformed. */
export type StatementVerifier = (statement: Statement) => boolean | Promise<boolean>;
