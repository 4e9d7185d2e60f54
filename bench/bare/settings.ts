import type { KeyObject } from "node:crypto";
import type { Query } from "./statement.ts";

/** What the hand-made server is started with. */
export interface BareSettings {
  databaseUrl: string;
  tenantId: string;
  /** The session that its session check looks up. */
  sessionId: string;
  /** Origin of Stile, which authenticators sign for. */
  origin: string;
  smtp: string;
  /** Issuer of the local provider, and its certificate. */
  provider: string;
  certificate: string;
  /** Secret of all authenticator apps, base 32. */
  totp: string;
  /** Cost of argon2id. */
  hash: { memory: number; passes: number };
  /** Algorithm of Stile's tokens. */
  algorithm: "RS256" | "ES256" | "EdDSA";
  /** Stile's page, as a template. */
  page: string;
  /** Stile's mail of a code, as a template. */
  mail: { subject: string; text: string; html: string };
}

/** The running hand-made server. */
export interface Bare extends BareSettings {
  query: Query;
  signingKey: KeyObject;
}
