import { readFileSync } from "node:fs";
import type pg from "pg";
import { StartError } from "../config/errors.ts";
import { compareVersions } from "../lib/compare-versions.ts";
import { projectPath } from "../lib/project-path.ts";

/** A release, and the oldest one whose servers may use the database while servers of it do. */
export interface Release {
  version: string;
  oldestBeside: string;
}

/**
 * The oldest release that may run beside this version. A change that it would do wrongly raises it: data that it reads
 * wrongly, a rule that it does not enforce (decision 63).
 */
const OLDEST_BESIDE = "0.3.0";

/** Exit code of a process that the database has outgrown: a supervisor need not start it again. */
export const OUTGROWN_EXIT_CODE = 3;

/** A later release has used the database, and this version may not run beside it. */
export class OutgrownError extends StartError {
  readonly exitCode = OUTGROWN_EXIT_CODE;

  constructor({ version }: Pick<Release, "version">, by: Release) {
    super(
      `version ${version} may not use this database any more: ${by.version} has used it, which needs at least ` +
        `${by.oldestBeside}; start that or a later one, or go back as docs/upgrades.md says`,
    );
  }
}

let read: Release | undefined;

/** This version, as `package.json` names it. */
export function thisRelease(): Release {
  if (read) return read;
  const file = projectPath("package.json");
  if (file === null) throw new StartError("the file package.json is missing");
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  read = { version, oldestBeside: OLDEST_BESIDE };
  return read;
}

/** Returns the release that a version may not run beside; null if there is none among these. */
export function outgrownBy(version: string, releases: readonly Release[]): Release | null {
  const refusing = releases.filter(({ oldestBeside }) => compareVersions(version, oldestBeside) < 0);
  return refusing.toSorted((one, other) => compareVersions(other.oldestBeside, one.oldestBeside))[0] ?? null;
}

/** SQL of the releases that have used the database, as JSON. */
export const releasesJson = `(select coalesce(json_agg(json_build_object(
  'version', version, 'oldestBeside', oldest_beside)), '[]') from releases)`;

/** Reads the releases that have used a database; none before the migration that counts them. */
export async function readReleases(client: Pick<pg.Client, "query">): Promise<Release[]> {
  const { rows: tables } = await client.query("select to_regclass('public.releases') as found");
  if (!tables[0]?.found) return [];
  const { rows } = await client.query<{ releases: Release[] }>(`select ${releasesJson} as releases`);
  return rows[0]?.releases ?? [];
}

/**
 * States that a release uses the database, and what may run beside it. For a server that is about to serve: one that
 * fails to start must not end those that run.
 */
export async function recordRelease(
  client: Pick<pg.Client | pg.Pool, "query">,
  { version, oldestBeside }: Release,
): Promise<void> {
  await client.query(
    `insert into releases (version, oldest_beside) values ($1, $2)
    on conflict (version) do update set oldest_beside = excluded.oldest_beside
      where releases.oldest_beside <> excluded.oldest_beside`,
    [version, oldestBeside],
  );
}
