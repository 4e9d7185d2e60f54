import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { settingsOfVisitors, startLoad } from "../drills/load.ts";
import { formerRelease, startFormerRelease } from "../server/testing/former-release.ts";
import { startTestCluster, withClient } from "../server/testing/postgres-cluster.ts";
import { runStile } from "../server/testing/stile.ts";

/**
 * `node scripts/run.js bench/upgrade.ts`: the database of a service that runs the former release is migrated by this version
 * while visitors sign in. Prints how long that took, how long each lock was held that writes of a login wait for, and what
 * became of the logins.
 *
 * `UPGRADE_USERS` (1000000), each with an address, a session, two events and two entries of the audit log; every third has a
 * username. `UPGRADE_RATE` (10) logins a second. The history has to reach to the commit of the former release.
 */
const numberOf = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const users = numberOf("UPGRADE_USERS", 1_000_000);
const rate = numberOf("UPGRADE_RATE", 10);

/** Rows of a table for each of the users, whose number is `n`. */
const rows = [
  `insert into users (tenant_id, id, name, family_name)
   select $1, md5('user ' || n)::uuid, 'Person ' || n, 'Family ' || n % 5000 from generate_series(1, $2) n`,
  `insert into emails (tenant_id, id, user_id, address, is_primary, verified_at)
   select $1, md5('email ' || n)::uuid, md5('user ' || n)::uuid, 'person' || n || '@example.com', true, now()
   from generate_series(1, $2) n`,
  `insert into usernames (tenant_id, id, user_id, username)
   select $1, md5('username ' || n)::uuid, md5('user ' || n)::uuid, 'person_' || n from generate_series(1, $2, 3) n`,
  `insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, last_used_at, expires_at)
   select $1, gen_random_uuid(), md5('user ' || n)::uuid, now(), '[]', '{pwd}', now(), now() + interval '30 days'
   from generate_series(1, $2) n`,
  `insert into events (tenant_id, id, name, subject_id, data)
   select $1, gen_random_uuid(), 'user.login', md5('user ' || n % $2)::uuid::text, '{}' from generate_series(1, $2 * 2) n`,
  `insert into audit_logs (tenant_id, id, type, user_id, details)
   select $1, gen_random_uuid(), 'login_success', md5('user ' || n % $2)::uuid, '{}' from generate_series(1, $2 * 2) n`,
];

const print = (text: string) => process.stdout.write(`${text}\n`);
const secondsSince = (began: number) => ((performance.now() - began) / 1000).toFixed(1);

const { cluster, stop } = await startTestCluster();
try {
  const name = `upgrade_${randomUUID().replaceAll("-", "")}`;
  await withClient(cluster.adminUrl, (client) => client.query(`create database ${name} owner stile`));
  const databaseUrl = cluster.ownerUrl.replace(/[^/]+$/, name);
  const former = await startFormerRelease({ ...settingsOfVisitors, DATABASE_URL: databaseUrl });
  try {
    print(`${users} users of release ${formerRelease.version} …`);
    await withClient(databaseUrl, fill);
    const load = await startLoad(former.url, rate);
    await pause(5_000);
    const locks = await watchLocks(cluster.adminUrl.replace(/[^/]+$/, name));
    const began = performance.now();
    const { code, err } = await runStile(["migrate"], { cwd: former.folder, env: former.environment });
    const took = secondsSince(began);
    await pause(5_000);
    const held = await locks.end();
    const logins = await load.end();
    if (code !== 0) throw new Error(err);
    print(`migrated in ${took} s, beside ${rate} logins a second`);
    print(
      `${logins.succeeded} logins, ${logins.interrupted} interrupted, ${logins.failed} failed, ${logins.lost} sessions lost; ` +
        `no login for ${logins.longestGapMs} ms at most`,
    );
    for (const { lock, ms } of held.slice(0, 12)) print(`${lock}: ${Math.round(ms)} ms`);
  } finally {
    await former.stop();
  }
} finally {
  await stop();
}

async function fill(client: pg.Client): Promise<void> {
  const { rows: tenants } = await client.query<{ id: string }>("select id from tenants limit 1");
  await client.query("set synchronous_commit = off");
  for (const statement of rows) {
    const began = performance.now();
    // A statement that is prepared would need the type of each parameter twice.
    await client.query(
      statement.replaceAll("$1", `'${tenants[0]?.id}'::uuid`).replaceAll("$2", String(users)),
    );
    print(`  ${/into (\w+)/.exec(statement)?.[1]} in ${secondsSince(began)} s`);
  }
  await client.query("analyze");
}

/** Watches the locks of tables that are in the way of writes, of the moments at which each is held. */
async function watchLocks(url: string): Promise<{ end(): Promise<{ lock: string; ms: number }[]> }> {
  let isOver = false;
  const longest = new Map<string, number>();
  const watching = withClient(url, async (client) => {
    let since = new Map<string, number>();
    while (!isOver) {
      const { rows: found } = await client.query<{ lock: string }>(
        `select distinct c.relname || ' ' || l.mode || ' ' || l.pid || ' ' || l.virtualtransaction as lock
        from pg_locks l join pg_class c on c.oid = l.relation
        where l.granted and c.relkind in ('r', 'v') and c.relnamespace = 'public'::regnamespace
          and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
      );
      const now = performance.now();
      since = new Map(found.map(({ lock }) => [lock, since.get(lock) ?? now]));
      for (const [lock, began] of since) {
        const shown = lock.split(" ").slice(0, 2).join(" ");
        longest.set(shown, Math.max(longest.get(shown) ?? 0, now - began));
      }
      await pause(5);
    }
  });
  return {
    async end() {
      isOver = true;
      await watching;
      return [...longest].map(([lock, ms]) => ({ lock, ms })).toSorted((one, other) => other.ms - one.ms);
    },
  };
}
