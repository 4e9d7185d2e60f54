import pg from "pg";
import { type Growth, grow } from "../server/testing/growth.ts";

/** The tenant of a server without settings. */
const TENANT = "00000000-0000-4000-8000-000000000001";

/** What a service with this many users holds: up to a million flows and sessions, and ten million audit entries. */
const growthOf = (users: number): Growth => ({
  users,
  flows: Math.min(1_000_000, users * 10),
  sessions: Math.min(1_000_000, users * 2),
  auditEntries: Math.min(10_000_000, users * 20),
  others: Math.min(100_000, users),
});

/**
 * Fills the database of a server with the rows of a grown service, in some minutes for a million users.
 *
 * @param url of the database, as its owner
 * @param users from 1; their addresses are `person1@example.com` and so on
 */
export async function growDatabase(url: string, users: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'");
    await grow(client, TENANT, growthOf(users), {
      report: (table) => process.stderr.write(`${new Date().toISOString()} ${table}\n`),
    });
  } finally {
    await client.end();
  }
}

// `DATABASE_URL=… BENCH_USERS=1000000 node scripts/run.js bench/growth.ts` fills a database by hand.
if (process.argv[1] === import.meta.filename)
  await growDatabase(process.env.DATABASE_URL ?? "", Number(process.env.BENCH_USERS));
