import type { Logger } from "pino";
import type { Database, Transaction } from "#db/client";
import type { InlineInsert } from "#db/inline-insert";
import type { Config } from "./config/schema.ts";
import type { PasswordHasher } from "./credentials/password-hasher.ts";
import type { Jobs } from "./jobs/queue.ts";
import type { TenantSigningKeys } from "./keys/tenant-signing-keys.ts";
import type { Vault } from "./keys/vault.ts";
import type { RateLimits } from "./limits/rates.ts";
import type { Session } from "./sessions/sessions.ts";
import type { Tenants } from "./tenants/tenants.ts";

/** Where randomness, identifiers and shifts of time come from, so that tests can set them. */
export interface Platform {
  randomBytes(size: number): Buffer;
  uuid(): string;
  /** Milliseconds that this server's idea of now is ahead of the database's clock; 0 outside tests. */
  clockShift(): number;
}

/** An organisation whose visitors are let in, and how it wants that done. */
export interface Tenant {
  id: string;
  config: Config;
}

/** Everything that lives as long as the process; made once and handed down, see `docs/decisions`. */
export interface Runtime {
  config: Config;
  /** The default tenant. */
  tenant: Tenant;
  /** Finds the others, by their address. */
  tenants: Tenants;
  platform: Platform;
  database: Database;
  log: Logger;
  vault: Vault;
  signingKeys: TenantSigningKeys;
  passwordHasher: PasswordHasher;
  rates: RateLimits;
  jobs: Pick<Jobs, "enqueue" | "wake" | "runDue">;
  /** This process in the table of instances. */
  instanceId: string;
  /**
   * Aborts when this process begins to end, for answers that are held open to end too. Absent where it is a platform
   * that ends processes, and connections with them: nothing is held open there for long.
   */
  closing?: AbortSignal;
}

/** Who asks. */
export interface Client {
  /** Canonical address, after trusted proxies. */
  ip: string;
  /** What limits count by: the IPv4 address, or the IPv6 /64. */
  source: string;
  userAgent: string;
  /** One of the eight languages of mails; English for anything unknown. */
  language: Language;
  requestId: string;
  /** Origin of the page that asks, as its browser sends it; null where none is sent. */
  origin: string | null;
  /** States and verifiers of sign-ins at identity providers that this browser holds. */
  thirdPartyStates?: readonly string[];
  /** What the cookie of a trusted browser holds: `<user id>:<token>` joined by `|`, newest first. */
  deviceCookie: string | null;
}

export const languages = ["bn", "de", "en", "fr", "it", "nl", "pt-BR", "zh"] as const;
export type Language = (typeof languages)[number];

/** What a browser is to keep, for the interfaces that have browsers. */
export interface CookieChanges {
  /** Value of the cookie of a trusted browser, and how many seconds it is kept. */
  device?: { value: string; seconds: number };
  /** State of a request to an identity provider, which the callback must find in the same browser. */
  thirdPartyState?: { value: string; seconds: number };
  /** The session is over, so its cookie goes. */
  session?: "ended";
}

/** What one request may use while it is judged. Nothing here writes. */
export interface RequestContext {
  runtime: Runtime;
  tenant: Tenant;
  client: Client;
  /** The step's moment, from the database's clock. */
  now: Date;
  signal: AbortSignal;
  /** The session that the request brought along; looked at by profile flows alone. */
  session?: Session;
}

/** A change, held back until everything is judged; all of a step's changes are written in one transaction. */
export type Write = ((tx: Transaction) => Promise<void>) & { inlineInsert?: InlineInsert };

/**
 * Thrown by a write that found what it wanted to take already gone. The transaction is rolled back and the
 * refusal that `server/flow/conflicts.ts` names for it is written instead.
 */
export class ConflictError extends Error {
  readonly reason: string;
  constructor(what: string) {
    super(`already taken: ${what}`);
    this.reason = what;
  }
}
