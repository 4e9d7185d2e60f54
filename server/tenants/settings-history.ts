import { isDeepStrictEqual } from "node:util";
import { and, desc, eq, gt, inArray, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { type SettingChange, settingsAuthorKinds } from "#db/schema/tenants";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isTree, type Tree, valueAt } from "../lib/tree.ts";
import { openSealed, openSettings, openVersion, sealVersion, separateSecrets } from "./sealed-settings.ts";
import type { TenantRow } from "./tenants.ts";

const { settingsHistory, users } = schema;

/** Versions that are kept of the settings of a tenant, and their characters together. */
const MAX_VERSIONS = 200;
const MAX_CHARACTERS = 4_000_000;

/** The newest versions are kept, however long they are: the present settings and those before them. */
const MIN_VERSIONS = 2;

const MAX_TOLD_CHANGES = 100;
const MAX_TOLD_CHARACTERS = 500;
const MAX_PATH_CHARACTERS = 255;

/** The kinds of parties that change settings. */
export const authorKinds = settingsAuthorKinds;

/** The party that changes settings: a key, an account of the console, or the command line. */
export type Author = Pick<Actor, "apiKey" | "operator">;

interface SettingsAuthor {
  kind: (typeof authorKinds)[number];
  id: string | null;
  /** Of the tenant of a user, while there is such an account: an operator's is the default one. */
  tenantId?: string;
}

/** A version of the settings of a tenant, without the settings. */
export interface SettingsVersion {
  id: string;
  createdAt: Date;
  /** Null if the change is not known. */
  author: SettingsAuthor | null;
  restoredId: string | null;
  changes: SettingChange[];
}

type Recording = Sealing & OnPlatform;

/**
 * Records a change of settings, in the transaction that holds the lock of the tenant's row. Where the settings before it
 * are no recorded version, because a former version of the service stored them, they become one without an author.
 *
 * @param row the tenant before the change; null if it is new
 * @param change `sealed`: what is sealed of the settings, secrets apart; `told`: what of them may be told; `at`: `updated_at`
 *   of the tenant after it; `restores`: the version whose settings it restores
 */
export async function recordSettings(
  tx: Transaction,
  context: Recording,
  tenantId: string,
  row: TenantRow | null,
  change: {
    settings: Tree;
    sealed: Tree;
    told: BeforeAndAfter;
    at: Date;
    by: Author;
    restores?: string | undefined;
  },
): Promise<void> {
  const before = row ? openSettings(context.vault, tenantId, row) : {};
  const sealed = row ? openSealed(context.vault, tenantId, row) : {};
  const changes = changesToTell(before, change.settings, change);
  if (row && changes.length === 0) return;
  const { kind, id } = authorOf(change.by);
  const versions = [
    ...(row && !(await isLatest(tx, context, tenantId, before))
      ? [
          versionOf(
            context,
            tenantId,
            { settings: before, sealed },
            { createdAt: row.updatedAt, changes: [] },
          ),
        ]
      : []),
    versionOf(
      context,
      tenantId,
      { settings: change.settings, sealed: change.sealed },
      {
        createdAt: change.at,
        authorKind: kind,
        authorId: id,
        restoredId: change.restores ?? null,
        changes,
      },
    ),
  ];
  await tx.insert(settingsHistory).values(versions);
  await deleteOldest(tx, tenantId);
}

function versionOf(
  { vault, platform }: Recording,
  tenantId: string,
  { settings, sealed }: { settings: Tree; sealed: Tree },
  told: Omit<
    typeof settingsHistory.$inferInsert,
    "tenantId" | "id" | "config" | "sealedConfig" | "characters"
  >,
) {
  const id = platform.uuid();
  const characters = JSON.stringify(settings).length;
  return { ...told, tenantId, id, characters, ...sealVersion(vault, tenantId, id, settings, sealed) };
}

/** Whether the newest version of a tenant has these settings. */
async function isLatest(
  tx: Transaction,
  { vault }: Sealing,
  tenantId: string,
  settings: Tree,
): Promise<boolean> {
  const [latest] = await tx
    .select()
    .from(settingsHistory)
    .where(eq(settingsHistory.tenantId, tenantId))
    .orderBy(desc(settingsHistory.createdAt), desc(settingsHistory.id))
    .limit(1);
  if (!latest) return false;
  return changedPaths(openVersion(vault, tenantId, latest.id, latest), settings).length === 0;
}

async function deleteOldest(tx: Transaction, tenantId: string): Promise<void> {
  await tx.execute(sql`
    delete from settings_history old using (
      select id, row_number() over newest as number, sum(characters) over newest as characters
      from settings_history where tenant_id = ${tenantId} window newest as (order by created_at desc, id desc)) kept
    where old.tenant_id = ${tenantId} and old.id = kept.id and kept.number > ${MIN_VERSIONS}
      and (kept.number > ${MAX_VERSIONS} or kept.characters > ${MAX_CHARACTERS})`);
}

function authorOf({ apiKey, operator }: Author): SettingsAuthor {
  if (apiKey !== undefined) return { kind: "api_key", id: apiKey };
  return operator ? { kind: "user", id: operator.userId } : { kind: "cli", id: null };
}

/** Settings before and after a change, without what this version does not know. */
interface BeforeAndAfter {
  before: Tree;
  after: Tree;
}

type Separated = ReturnType<typeof separateSecrets>;

/** Describes what differs between settings: secrets and what may not be told as `***`, the first characters of long values. */
function changesToTell(
  before: Tree,
  after: Tree,
  { sealed, told }: { sealed: Tree; told: BeforeAndAfter },
): SettingChange[] {
  const [was, is, knownWas, knownIs] = [before, after, told.before, told.after].map((tree) =>
    separateSecrets(tree, sealed),
  ) as [Separated, Separated, Separated, Separated];
  const described = (kind: keyof Separated) => {
    const known = { before: knownWas[kind], after: knownIs[kind] };
    return changesBetween(was[kind], is[kind], known).map(({ path, isKnown }) => {
      const valueIn = (whole: Tree, part: Tree) => {
        if (valueAt(whole, path) === undefined) return undefined;
        const value = kind === "plain" && isKnown ? valueAt(part, path) : undefined;
        return value === undefined ? "***" : toldValue(value);
      };
      const [old, now] = [valueIn(was[kind], known.before), valueIn(is[kind], known.after)];
      return {
        path: cut(path.join("."), MAX_PATH_CHARACTERS),
        ...(old === undefined ? {} : { before: old }),
        ...(now === undefined ? {} : { after: now }),
        ...(kind === "secret" ? { secret: true as const } : {}),
      };
    });
  };
  return [...described("plain"), ...described("secret")].slice(0, MAX_TOLD_CHANGES);
}

function toldValue(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length > MAX_TOLD_CHARACTERS ? cut(text, MAX_TOLD_CHARACTERS) : value;
}

/** Half of a character would be no text that PostgreSQL stores. */
const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;

/**
 * Finds the settings that differ between trees of settings.
 *
 * @param told what may be told of them: below its names, none is told
 * @returns their paths; `isKnown`: whether what may be told of them differs
 */
export function changesBetween(
  before: Tree,
  after: Tree,
  told: BeforeAndAfter,
): { path: string[]; isKnown: boolean }[] {
  const trees = Object.values(told);
  const paths = changedPaths(before, after).map((path) => {
    const end = path.findIndex((_, at) =>
      trees.every((tree) => valueAt(tree, path.slice(0, at + 1)) === undefined),
    );
    return end === -1 ? path : path.slice(0, end + 1);
  });
  const byName = new Map(paths.map((path) => [JSON.stringify(path), path]));
  return [...byName.values()].map((path) => {
    const [old, now] = trees.map((tree) => valueAt(tree, path));
    return { path, isKnown: !isDeepStrictEqual(old, now) };
  });
}

function changedPaths(before: unknown, after: unknown, path: string[] = []): string[][] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isTree(before ?? {}) || !isTree(after ?? {})) return [path];
  const [old, now] = [(before ?? {}) as Tree, (after ?? {}) as Tree];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) =>
    changedPaths(old[name], now[name], [...path, name]),
  );
}

const columns = {
  id: settingsHistory.id,
  createdAt: settingsHistory.createdAt,
  authorKind: settingsHistory.authorKind,
  authorId: settingsHistory.authorId,
  restoredId: settingsHistory.restoredId,
  changes: settingsHistory.changes,
};

type VersionRow = Pick<typeof settingsHistory.$inferSelect, keyof typeof columns>;

/**
 * Names the authors of versions, with the tenants of users.
 *
 * @param defaultTenant that of operators, who change the settings of all tenants
 */
async function withAuthors(
  db: Pick<ReadOnly, "select">,
  defaultTenant: Pick<Tenant, "id">,
  tenantId: string,
  rows: readonly VersionRow[],
): Promise<SettingsVersion[]> {
  const ids = rows.flatMap(({ authorKind, authorId }) =>
    authorKind === "user" && authorId ? [authorId] : [],
  );
  const found =
    ids.length === 0
      ? []
      : await db
          .select({ id: users.id, tenantId: users.tenantId })
          .from(users)
          .where(and(inArray(users.tenantId, [tenantId, defaultTenant.id]), inArray(users.id, ids)));
  const tenants = new Map(found.map(({ id, tenantId: of }) => [id, of]));
  return rows.map(({ authorKind, authorId, ...row }) => {
    if (authorKind === null) return { ...row, author: null };
    const of = authorKind === "user" && authorId !== null ? tenants.get(authorId) : undefined;
    return {
      ...row,
      author: { kind: authorKind, id: authorId, ...(of === undefined ? {} : { tenantId: of }) },
    };
  });
}

/** Lists one page of the versions of a tenant's settings, newest first, with the number of all. */
export async function pageOfVersions(
  db: ReadOnly & { $count: Transaction["$count"] },
  defaultTenant: Pick<Tenant, "id">,
  tenantId: string,
  { number, size }: { number: number; size: number },
): Promise<{ versions: SettingsVersion[]; total: number }> {
  const where = eq(settingsHistory.tenantId, tenantId);
  const rows = await db
    .select(columns)
    .from(settingsHistory)
    .where(where)
    .orderBy(desc(settingsHistory.createdAt), desc(settingsHistory.id))
    .offset((number - 1) * size)
    .limit(size);
  const total = await db.$count(settingsHistory, where);
  return { versions: await withAuthors(db, defaultTenant, tenantId, rows), total };
}

/** Changes that a conflict tells of. */
const MAX_TOLD_VERSIONS = 10;

/** Lists the newest changes of a tenant's settings since a time, newest first. */
export async function versionsSince(
  db: Pick<ReadOnly, "select">,
  defaultTenant: Pick<Tenant, "id">,
  tenantId: string,
  since: Date,
): Promise<SettingsVersion[]> {
  const rows = await db
    .select(columns)
    .from(settingsHistory)
    .where(and(eq(settingsHistory.tenantId, tenantId), gt(settingsHistory.createdAt, since)))
    .orderBy(desc(settingsHistory.createdAt), desc(settingsHistory.id))
    .limit(MAX_TOLD_VERSIONS);
  return withAuthors(db, defaultTenant, tenantId, rows);
}

/** Reads the settings of a version, secrets included, and the sealed part of them; null if the tenant has no such version. */
export async function settingsOfVersion(
  db: ReadOnly,
  { vault }: Sealing,
  tenantId: string,
  id: string,
): Promise<{ settings: Tree; sealed: Tree } | null> {
  const [row] = await db
    .select()
    .from(settingsHistory)
    .where(and(eq(settingsHistory.tenantId, tenantId), eq(settingsHistory.id, id)));
  if (!row) return null;
  const { sealedConfig } = row;
  return {
    settings: openVersion(vault, tenantId, id, row),
    sealed: openVersion(vault, tenantId, id, { config: {}, sealedConfig }),
  };
}
