import { completeMigration, knownMigrations } from "../database/migrate.ts";
import { thisRelease } from "../database/releases.ts";
import { BackupError } from "./backup-error.ts";
import { type Closing, type Header, writeBackupFile } from "./backup-file.ts";
import {
  beginCopy,
  type CopiedTable,
  findTables,
  readRows,
  readSequences,
  withCopying,
} from "./copied-tables.ts";

/** Told of each table before its rows are copied. */
export type Progress = (table: CopiedTable, index: number, count: number) => void;

export interface BackupOptions {
  /** Encrypts the backup. */
  key: string | undefined;
  progress: Progress;
  /** Ends the backup. */
  signal: AbortSignal;
}

/**
 * Writes a backup of a database as it is at one moment, while servers use it. The database is not changed.
 *
 * @param write takes the bytes in their order
 * @throws BackupError if the database has not the tables of this version; StartError if it cannot be reached
 */
export async function makeBackup(
  url: string,
  write: (bytes: Buffer) => Promise<void>,
  { key, progress, signal }: BackupOptions,
): Promise<Closing> {
  return withCopying(url, async (client) => {
    await beginCopy(client, "isolation level repeatable read read only");
    const migration = await completeMigration(client);
    const newest = knownMigrations().at(-1);
    if (!newest || migration !== newest.time) throw new BackupError(reasonOf(migration));
    const tables = await findTables(client);
    const { rows } = await client.query<{ now: Date }>("select now()");
    const header: Omit<Header, "encryption"> = {
      stile: thisRelease().version,
      migration: newest,
      created_at: (rows[0]?.now ?? new Date()).toISOString(),
      tables,
    };
    const writeUnlessEnded = async (bytes: Buffer) => {
      if (signal.aborted) throw new BackupError("interrupted");
      await write(bytes);
    };
    const file = await writeBackupFile(writeUnlessEnded, header, key);
    for (const [index, table] of tables.entries()) {
      progress(table, index, tables.length);
      await file.table(readRows(client, table));
    }
    // Sequences are of no transaction: read after the rows, they are not behind them.
    const closing = await file.close(await readSequences(client));
    await client.query("commit");
    return closing;
  });
}

function reasonOf(migration: number | null): string {
  const isLater = migration !== null && knownMigrations().every(({ time }) => time < migration);
  return isLater
    ? "a later version has migrated the database: make the backup with that version"
    : "the database has not the tables of this version: make the backup with the version that uses it, or run stile migrate";
}
