import { sql } from "drizzle-orm";
import pg from "pg";
import type { Logger } from "pino";
import type { Database, Databases } from "#db/client";
import { isDistributed } from "#db/distribution";
import { StartError } from "../config/errors.ts";
import { KEPT_CONSTRAINTS } from "./distribute.ts";
import { refuseMoved } from "./moved.ts";
import { type Release, releasesJson, thisRelease } from "./releases.ts";
import type { Standing } from "./standing.ts";

/** A claim of no step (RFC 9562, 5.9): the claims of steps are random. */
const NO_CLAIM = "00000000-0000-0000-0000-000000000000";

/**
 * Assignments that end a claim whose step saves nothing. Another one takes its place, without an end, which every step may
 * replace: a save that PostgreSQL reads later finds neither its own claim nor none.
 */
export const endOfClaim = `claim = '${NO_CLAIM}', claimed_by = null, claimed_until = null`;

/** A server counts as running for this time after it renewed its lease. */
const LEASE_SECONDS = 60;

/** Also the time within which a server notices that a later release uses the database. */
export const RENEWAL_INTERVAL_MS = 5_000;

/** The entry of a server in the table of running servers. */
export interface Lease {
  /** Renews it now. */
  renew(): Promise<void>;
  /** Deletes the entry and stops renewing it. */
  end(): Promise<void>;
}

/** A row of the statement that renews a lease. */
export interface Renewed extends Record<string, unknown> {
  releases: Release[];
}

/** The statement that renews the lease of a server, or takes it, and reads which releases use the database. */
export function renewalOf(instanceId: string): string {
  return `with renewed as (
      insert into instances (id, leased_until, version)
      values (${pg.escapeLiteral(instanceId)}, statement_timestamp() + interval '${LEASE_SECONDS} seconds',
        ${pg.escapeLiteral(thisRelease().version)})
      on conflict (id) do update set leased_until = excluded.leased_until)
    select ${releasesJson} as releases`;
}

/** SQL condition: a server of another release than this one runs on this database. */
export const runsOtherRelease = sql<boolean>`exists (
  select 1 from instances
  where version is distinct from ${thisRelease().version} and leased_until > statement_timestamp())`;

/** Whether a server of another release than this one runs on this database. */
export async function isAnotherReleaseRunning({
  database,
}: {
  database: Pick<Databases["database"], "read">;
}): Promise<boolean> {
  const { rows } = await database.read.execute<{ runs: boolean }>(sql`select ${runsOtherRelease} as runs`);
  return rows[0]?.runs === true;
}

/**
 * Adds this server to the table of running servers, renews its lease, and releases the claims that servers without a
 * valid lease hold on flows of any tenant.
 *
 * @param alone whether no other server can use this database, so that every claim is released
 * @param standing heeds what each renewal reads
 */
export async function takeLease(
  database: Database,
  instanceId: string,
  alone: boolean,
  log: Logger,
  standing: Pick<Standing, "heed" | "renewBy">,
): Promise<Lease> {
  const renew = async () => {
    const { rows } = await database.claim.execute<Renewed>(sql.raw(renewalOf(instanceId)));
    standing.heed(rows[0]?.releases ?? []);
  };
  standing.renewBy(renew);

  await database.write.execute(
    alone
      ? sql`delete from instances`
      : sql`delete from instances where leased_until < statement_timestamp()`,
  );
  await renew();
  // Work that no server may disturb has begun before this lease, or sees it.
  await refuseHalfDistributed(database);
  await refuseMoved(database.write.$client);
  await releaseEndedClaims(database, log);

  let isRenewing = false;
  const timer = setInterval(() => {
    // A renewal that hangs holds one connection, not one more at each turn.
    if (isRenewing) return;
    isRenewing = true;
    renew()
      .catch((error: unknown) => log.warn({ err: error }, "renewing the lease of this server failed"))
      .finally(() => {
        isRenewing = false;
      });
  }, RENEWAL_INTERVAL_MS);
  timer.unref();

  return {
    renew,
    async end() {
      clearInterval(timer);
      await database.claim.execute(sql`delete from instances where id = ${instanceId}`);
    },
  };
}

/** A database whose foreign keys are set aside would keep rows of deleted accounts. `stile database distribute` sees the lease. */
async function refuseHalfDistributed({ write }: Database): Promise<void> {
  const { rows } = await write.execute<{ isBegun: boolean }>(
    sql`select to_regclass(${KEPT_CONSTRAINTS}) is not null as "isBegun"`,
  );
  if (rows[0]?.isBegun)
    throw new StartError("the database is being distributed: run stile database distribute until it says OK");
}

/** Releases the claims of servers without a valid lease. In a distributed database those on a node that is down expire by themselves. */
async function releaseEndedClaims(database: Database, log: Logger): Promise<void> {
  try {
    await database.write.execute(sql`
      update flows set ${sql.raw(endOfClaim)}
      where claimed_by is not null and claimed_by not in (select id from instances)`);
  } catch (error) {
    if (!(await isDistributed(database))) throw error;
    log.warn({ err: error }, "claims of servers that have ended were not released");
  }
}

/**
 * Deletes the entry of a process that has ended, and releases its claims on flows of any tenant that have not expired.
 * They are found by their expiry: an index of the claims would cost each claim and each release an entry in every index
 * of the flows.
 */
export async function releaseInstance(database: Database, instanceId: string): Promise<void> {
  await database.write.execute(sql`delete from instances where id = ${instanceId}`);
  await database.write.execute(sql`
    update flows set ${sql.raw(endOfClaim)}
    where claimed_by = ${instanceId} and expires_at >= now()`);
}
