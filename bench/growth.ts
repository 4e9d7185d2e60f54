import { createPrivateKey, createPublicKey } from "node:crypto";
import pg from "pg";
import { encodeCoseKey } from "../server/testing/cose-key.ts";
import { type Growth, grow } from "../server/testing/growth.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { tenantId } from "./people.ts";
import type { Setting } from "./setting.ts";

/**
 * What a service with this many users holds: flows of a day, up to a million; sessions of a month, up to three million,
 * those of a third of ten million accounts; audit entries of a year, up to ten million.
 */
const growthOf = (users: number): Growth => ({
  users,
  flows: Math.min(1_000_000, users * 10),
  sessions: Math.min(3_000_000, users * 2),
  auditEntries: Math.min(10_000_000, users * 20),
  others: Math.min(100_000, users),
});

/** Connections that fill the tables and build the indexes. */
const CONNECTIONS = 2;

/**
 * Fills the database of a server with the rows of a grown service: in about two minutes for a million users, in about
 * half an hour for ten million on two cores. All have the password and the passkey of the setting (`people.ts`).
 *
 * @param url of the database, as its owner
 * @param adminUrl as a superuser, if it is the embedded one: nothing waits for the disk meanwhile
 * @param users from 1
 */
export async function growDatabase(
  { url, adminUrl }: { url: string; adminUrl: string | null },
  { passwordHash, passkey }: Setting,
  users: number,
): Promise<void> {
  const jwk = createPublicKey(createPrivateKey(passkey)).export({ format: "jwk" });
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: url }));
  try {
    if (adminUrl)
      await set(
        adminUrl,
        unsafe.map((name) => `alter system set ${name} = off`),
      );
    for (const client of clients) {
      await client.connect();
      await client.query("set synchronous_commit = off");
      await client.query("set maintenance_work_mem = '1GB'; set work_mem = '512MB'");
      // The connections share the processors already.
      await client.query("set max_parallel_maintenance_workers = 0");
    }
    const [client, ...helpers] = clients;
    if (!client) return;
    await grow(client, tenantId, growthOf(users), {
      helpers,
      passwordHash,
      // No purge deletes them while the database is kept and measured.
      flowLifetime: "30 days",
      passkey: encodeCoseKey(jwk, -7),
      report: (table) => process.stderr.write(`${new Date().toISOString()} ${table}\n`),
    });
  } finally {
    for (const client of clients) await client.end();
    if (adminUrl)
      await set(
        adminUrl,
        unsafe.map((name) => `alter system reset ${name}`),
      );
  }
}

/** What a load need not have: it is done again if the machine fails. Autovacuum would read each table twice. */
const unsafe = ["fsync", "full_page_writes", "autovacuum"];

async function set(adminUrl: string, statements: readonly string[]): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    for (const statement of statements) await admin.query(statement);
    await admin.query("select pg_reload_conf()");
    await admin.query("checkpoint");
  });
}
