import type { KeyObject } from "node:crypto";
import pg from "pg";

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
  /** Runs a statement, prepared once on each connection. `claims` need not wait for the disk, as those of Stile. */
  query<Row extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
    pool?: "write" | "claim",
  ): Promise<Row[]>;
  signingKey: KeyObject;
}

/** Opens its pools, which have as many connections as those of Stile. */
export function openPools(connectionString: string): Bare["query"] {
  const pools = {
    write: new pg.Pool({ connectionString, max: 10 }),
    claim: new pg.Pool({ connectionString, max: 10, options: "-c synchronous_commit=off" }),
  };
  return async (name, text, values, pool = "write") => (await pools[pool].query({ name, text, values })).rows;
}
