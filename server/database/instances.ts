import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";

/** How long a server counts as alive after its last sign, and how often it gives one, in seconds. */
const LEASE = 60;
const RENEWAL = 15;

/** A server's entry in the table of running servers. */
export interface Lease {
  /** Gives the lease back. */
  end(): Promise<void>;
}

/**
 * Enters this server into the table of running servers, keeps it there, and frees the claims on flows, of every
 * tenant, that servers without a live lease left behind.
 *
 * @param alone whether no other server can be using this database: then every claim is free
 */
export async function takeLease(
  database: Database,
  instanceId: string,
  alone: boolean,
  log: Logger,
): Promise<Lease> {
  const renew = () =>
    database.claim.execute(sql`
      insert into instances (id, leased_until) values (${instanceId}, clock_timestamp() + ${LEASE}::int * interval '1 second')
      on conflict (id) do update set leased_until = excluded.leased_until`);

  await database.write.execute(
    alone ? sql`delete from instances` : sql`delete from instances where leased_until < clock_timestamp()`,
  );
  await renew();
  await database.write.execute(sql`
    update flows set claim = null, claimed_by = null, claimed_until = null
    where claimed_by is not null and claimed_by not in (select id from instances)`);

  const timer = setInterval(() => {
    renew().catch((error: unknown) =>
      log.warn({ err: error }, "the lease of this server could not be renewed"),
    );
  }, RENEWAL * 1_000);
  timer.unref();

  return {
    async end() {
      clearInterval(timer);
      await database.claim.execute(sql`delete from instances where id = ${instanceId}`);
    },
  };
}
