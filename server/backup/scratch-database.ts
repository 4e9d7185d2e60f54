import { randomBytes } from "node:crypto";
import pg from "pg";
import { withConnection } from "../database/migrate.ts";
import { BackupError } from "./backup-error.ts";

/** Where scratch databases are made. */
export interface ScratchPlace {
  /** The database of the service, as whose role scratch databases are used. */
  url: string;
  /** As a superuser, where the role of the service may create none: the embedded database. */
  adminUrl: string | null;
}

/**
 * Returns the role of the service, which is to own the scratch database.
 *
 * @throws BackupError if it may create none
 */
export async function scratchOwner({ url, adminUrl }: ScratchPlace): Promise<string> {
  const { rows } = await withConnection(url, (client) =>
    client.query<{ role: string; mayCreate: boolean }>(
      `select rolname as role, rolcreatedb or rolsuper as "mayCreate" from pg_roles where rolname = current_user`,
    ),
  );
  const { role = "", mayCreate = false } = rows[0] ?? {};
  if (mayCreate || adminUrl !== null) return role;
  throw new BackupError(
    `--verify restores into a database of its own, which the role ${role} may not create: alter role ${role} createdb`,
  );
}

/** Runs work on an empty database on the same server, and drops it then. */
export async function withScratchDatabase<Result>(
  place: ScratchPlace,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const name = `stile_verify_${randomBytes(8).toString("hex")}`;
  const owner = await scratchOwner(place);
  const asCreator = (statement: string) =>
    withConnection(place.adminUrl ?? place.url, (client) => client.query(statement));
  await asCreator(`create database ${name} owner ${pg.escapeIdentifier(owner)} template template0`);
  try {
    return await work(withDatabase(place.url, name));
  } finally {
    await asCreator(`drop database ${name} with (force)`);
  }
}

/** The address of another database of the same server. */
function withDatabase(url: string, name: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?#]*)(?:\/[^?#]*)?/, `$1/${name}`);
}
