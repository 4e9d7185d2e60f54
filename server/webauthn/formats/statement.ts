import type { X509Certificate } from "node:crypto";
import type { CredentialKey } from "../cose-key.ts";

/** An attestation statement (WebAuthn Level 3 section 6.5.4) and the data it attests. */
export interface Statement {
  /** Members of `attStmt`, of unknown types. */
  members: ReadonlyMap<unknown, unknown>;
  authenticatorData: Uint8Array;
  /** SHA-256 of the client data. */
  clientDataHash: Buffer;
  /** Public key of the new credential. */
  key: CredentialKey;
  /** Trust anchors of the format; empty if it has no well-known ones. */
  roots: readonly X509Certificate[];
  now: Date;
}

/** Whether a statement is valid; may throw if it is malformed. */
export type StatementVerifier = (statement: Statement) => boolean;
