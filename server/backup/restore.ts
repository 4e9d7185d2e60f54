import type pg from "pg";
import { createTables, knownMigrations, migrateDatabase } from "../database/migrate.ts";
import { OutgrownError, outgrownBy, readReleases, thisRelease } from "../database/releases.ts";
import { QUEUE_SCHEMA, queueStatements } from "../jobs/queue-schema.ts";
import { BackupError } from "./backup-error.ts";
import { type Header, openBackupFile } from "./backup-file.ts";
import {
  beginCopy,
  type CopiedTable,
  setSequences,
  shown,
  summarize,
  withCopying,
  writeRows,
} from "./copied-tables.ts";
import type { Progress } from "./make-backup.ts";
import { areEqual } from "./row-digest.ts";
import { putBack, setAside } from "./set-aside.ts";

export interface RestoreOptions {
  /** The key that the backup is encrypted with. */
  key: string | undefined;
  progress: Progress;
}

/**
 * Restores a backup into an empty database, in one transaction: after a failure the database is as empty as before. Its tables
 * are those of the version that made the backup; nothing is migrated further.
 *
 * @returns the number of rows
 * @throws BackupError if the backup cannot be restored here; StartError if the database cannot be reached
 */
export async function restoreTables(
  url: string,
  stream: AsyncIterable<Buffer>,
  { key, progress }: RestoreOptions,
): Promise<number> {
  return withCopying(url, async (client) => {
    const { header, contents } = await openBackupFile(stream, key);
    refuseUnknown(header);
    const { tables } = header;
    await beginCopy(client, "read write");
    await refuseUnfit(client);
    await refuseFilled(client);
    await createTables(client, header.migration.time);
    await createQueue(client, tables);
    await refuseOtherColumns(client, header);
    const rules = await setAside(client);
    let index = 0;
    let next = await contents.next();
    while (!next.done) {
      const { table, rows } = next.value;
      progress(table, index++, tables.length);
      await writeRows(client, table, rows);
      next = await contents.next();
    }
    const { tables: summaries, sequences } = next.value;
    for (const [position, table] of tables.entries()) {
      const summary = summaries[position];
      if (!summary || !areEqual(await summarize(client, table), summary))
        throw new BackupError(`the database has other rows in ${shown(table)} than the backup`);
    }
    await setSequences(client, sequences);
    await putBack(client, rules);
    const by = outgrownBy(thisRelease().version, await readReleases(client));
    if (by) throw new OutgrownError(thisRelease(), by);
    await client.query("commit");
    return summaries.reduce((sum, { rows }) => sum + rows, 0);
  });
}

/**
 * Restores a backup into an empty database, and migrates it to this version. Parameters, result and errors as of
 * `restoreTables`.
 *
 * @param tenant the default tenant with its configured name
 */
export async function restoreBackup(
  url: string,
  stream: AsyncIterable<Buffer>,
  tenant: { id: string; name: string },
  options: RestoreOptions,
): Promise<number> {
  const rows = await restoreTables(url, stream, options);
  await migrateDatabase(url, tenant);
  return rows;
}

/** @throws BackupError if this version has not the migrations of a backup */
function refuseUnknown({ migration, stile }: Header): void {
  const known = knownMigrations();
  if (known.some(({ time }) => time === migration.time)) return;
  const newest = known.at(-1)?.time ?? 0;
  throw new BackupError(
    migration.time > newest
      ? `the backup is of a later version, ${stile}: restore it with that version or a later one`
      : `this version cannot read the backup: it has no migration ${migration.name}`,
  );
}

/** @throws BackupError if tables cannot be made in a database, or not every text be stored */
export async function refuseUnfit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ mayCreate: boolean; encoding: string; role: string }>(
    `select has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create') as "mayCreate",
      current_setting('server_encoding') as encoding, current_user as role`,
  );
  const { mayCreate = false, encoding = "", role = "" } = rows[0] ?? {};
  if (!mayCreate)
    throw new BackupError(
      `the role ${role} may create no schema or table in the database: make it its owner`,
    );
  if (encoding !== "UTF8")
    throw new BackupError(`the database has the encoding ${encoding}: it has to be UTF8`);
}

/** @throws BackupError if a database has anything of its own, that of extensions aside */
export async function refuseFilled(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || o.name as name
    from (
      select 'pg_class'::regclass as catalog, oid, relnamespace as namespace, relname as name from pg_class
      union all select 'pg_proc'::regclass, oid, pronamespace, proname from pg_proc
      union all select 'pg_type'::regclass, oid, typnamespace, typname from pg_type where typtype in ('d', 'e')
    ) o join pg_namespace n on n.oid = o.namespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (
      select 1 from pg_depend d where d.classid = o.catalog and d.objid = o.oid and d.deptype = 'e')
    order by 1 limit 1`,
  );
  if (rows[0])
    throw new BackupError(`the database is not empty: it has ${rows[0].name}; create an empty one`);
}

/** Creates the queue of jobs, if rows of it are to be copied. */
export async function createQueue(client: pg.Client, tables: readonly CopiedTable[]): Promise<void> {
  if (!tables.some(({ schema }) => schema === QUEUE_SCHEMA)) return;
  await client.query(queueStatements());
  // The statements limit these for the rest of their transaction.
  for (const setting of ["idle_in_transaction_session_timeout", "lock_timeout"])
    await client.query(`set local ${setting} = '0'`);
}

/** A backup may be of another version of the queue, whose tables no migration of this service makes. */
async function refuseOtherColumns(client: pg.Client, { tables, stile }: Header): Promise<void> {
  const { rows } = await client.query<{ schema: string; name: string; column: string }>(
    `select table_schema as schema, table_name as name, column_name as column from information_schema.columns
    where is_generated = 'NEVER'`,
  );
  const known = new Set(rows.map(({ schema, name, column }) => JSON.stringify([schema, name, column])));
  for (const { schema, name, columns } of tables)
    for (const column of columns)
      if (!known.has(JSON.stringify([schema, name, column])))
        throw new BackupError(
          `this version has no column ${column} of ${shown({ schema, name })}: restore the backup with version ${stile}, and upgrade then`,
        );
}
