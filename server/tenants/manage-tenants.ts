import { and, arrayOverlaps, count, eq, ne, type SQL, sql } from "drizzle-orm";
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { type Databases, type Queryable, schema, type Transaction } from "#db/client";
import { isDistributed } from "#db/distribution";
import { rulesOf } from "#db/schema/table";
import { columnOf, tables } from "#db/tables";
import { audit, commandLine } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import { ConfigError } from "../config/errors.ts";
import { parseConfig, unknownAt } from "../config/load.ts";
import { ownHosts } from "../config/own-hosts.ts";
import type { Config, Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { IgnoredEntry } from "../config/within-bounds.ts";
import type { Actor } from "../context/client.ts";
import { currentTime } from "../database/current-time.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { merge, subtree, type Tree, valueAt } from "../lib/tree.ts";
import { checkMailServer } from "../mail/tenant-mail.ts";
import { checkWords } from "../theme/own-words.ts";
import { changedByTenant, changedOperatorSetting } from "./operator-settings.ts";
import { openSealed, openSettings, sealSettings } from "./sealed-settings.ts";
import {
  type Author,
  changesBetween,
  recordSettings,
  type SettingsVersion,
  settingsOfVersion,
  versionsSince,
} from "./settings-history.ts";
import { isServerSetting, type TenantSettings, tenantConfig } from "./tenant-config.ts";
import { type TenantRow, type Tenants, tenantOf } from "./tenants.ts";
import { foreignFault, foreignParties, withoutForeign } from "./token-parties.ts";
import { withoutUnknown, withUnknown } from "./unknown-settings.ts";

const { tenants, users } = schema;

/** A rejected change of a tenant. `message` is one line for the operator. */
export class TenantError extends Error {
  /** `conflict`: with what another has, or with what it has itself; `forbidden`: not for this party. */
  readonly reason: "invalid" | "not_found" | "conflict" | "forbidden";
  /** The changes that others have made since the version that this one was made of; newest first. */
  readonly since: SettingsVersion[];
  /** Ids of the users who must not lose their access and would. */
  readonly lockedOut: string[];
  constructor(
    message: string,
    reason: TenantError["reason"] = "invalid",
    { since = [], lockedOut = [] }: { since?: SettingsVersion[]; lockedOut?: string[] } = {},
  ) {
    super(message);
    this.reason = reason;
    this.since = since;
    this.lockedOut = lockedOut;
  }
}

/** What the administration of tenants takes of the process. */
export type ManagementContext = Configured &
  Databases &
  Sealing &
  OnPlatform &
  AuditOutputs & {
    /** The default tenant. */
    tenant: Tenant;
    tenants: Tenants;
  };

/** A tenant as an operator describes it. */
export interface TenantDescription {
  name: string;
  hosts: string[];
  settings: Tree;
}

const MAX_NAME_CHARACTERS = 200;

/** Of all settings of a tenant as JSON; many small changes could make them grow without end. */
export const MAX_SETTINGS_CHARACTERS = 256 * 1024;

/** RFC 1123, 2.1, with at least one dot. */
const hostName = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/;

/** A tenant with its row. */
export interface ReadTenant {
  row: TenantRow;
  /** Null if its settings are invalid. */
  tenant: Tenant | null;
  /** The entries of its settings that are not used, invalid settings included. */
  ignored: readonly IgnoredEntry[];
}

/** Lists all tenants, oldest first. */
export async function listTenants(context: ManagementContext): Promise<ReadTenant[]> {
  const rows = await context.database.read.select().from(tenants).orderBy(tenants.createdAt, tenants.id);
  return Promise.all(rows.map((row) => withTenant(context, row)));
}

/**
 * Lists one page of the tenants, oldest first, with the number of all.
 *
 * @param only the id of the one tenant that is listed; default: all
 */
export async function pageOfTenants(
  context: ManagementContext,
  { number, size, only }: { number: number; size: number; only?: string },
): Promise<{ found: ReadTenant[]; total: number }> {
  const { read } = context.database;
  const where = only === undefined ? undefined : eq(tenants.id, only);
  const rows = await read
    .select()
    .from(tenants)
    .where(where)
    .orderBy(tenants.createdAt, tenants.id)
    .offset((number - 1) * size)
    .limit(size);
  const total = await read.$count(tenants, where);
  return { found: await Promise.all(rows.map((row) => withTenant(context, row))), total };
}

async function withTenant(context: ManagementContext, row: TenantRow): Promise<ReadTenant> {
  const { database, vault, tenant: defaultTenant } = context;
  if (row.id === defaultTenant.id)
    return { row, tenant: defaultTenant, ignored: defaultTenant.config.ignored };
  let stored: Tenant;
  try {
    stored = tenantOf(defaultTenant, vault, row);
  } catch (error) {
    return { row, tenant: null, ignored: error instanceof ConfigError ? error.ignored : [] };
  }
  const foreign = await foreignParties(database.read, defaultTenant.config, stored);
  const tenant = withoutForeign(stored, foreign);
  return { row, tenant, ignored: tenant.config.ignored };
}

/** Reads a tenant; null if it does not exist. */
export async function readTenant(context: ManagementContext, id: string): Promise<ReadTenant | null> {
  const [row] = await context.database.read.select().from(tenants).where(eq(tenants.id, id));
  return row ? withTenant(context, row) : null;
}

/** Reads a tenant. @throws TenantError if it does not exist */
export async function existingTenant(context: ManagementContext, id: string): Promise<ReadTenant> {
  const found = await readTenant(context, id);
  if (!found) throw new TenantError("there is no such tenant", "not_found");
  return found;
}

/**
 * Creates a tenant. The log of the default tenant records it.
 *
 * @param id default: a new one
 * @param by default: the command line
 * @throws ConfigError if its settings are invalid; TenantError if its name or a host name is invalid, or its id or a host
 *   name is taken
 */
export async function createTenant(
  context: ManagementContext,
  { id = context.platform.uuid(), ...description }: TenantDescription & { id?: string },
  by: Actor & Author = commandLine,
): Promise<Tenant> {
  rejectTooLong(description.settings);
  const { row, config } = prepare(context, id, description);
  const entry = await managementEntry(context, by, "tenant_created", id);
  await context.database.write.transaction(async (tx) => {
    await requireFreeHosts(tx, context, id, row.hosts);
    await rejectForeignParties(tx, context, { id, config }, {});
    const [inserted] = await tx
      .insert(tenants)
      .values({ id, ...row })
      .onConflictDoNothing()
      .returning({ at: tenants.updatedAt });
    if (!inserted) throw new TenantError(`tenant ${id} already exists`, "conflict");
    const { settings } = description;
    const told = { before: {}, after: settings };
    await recordSettings(tx, context, id, null, { settings, sealed: {}, told, at: inserted.at, by });
    await entry(tx);
  });
  context.tenants.forget();
  return { id, config };
}

/** The party that changes a tenant. `itself`: whether the tenant acts, not the operator. */
export type Party = Actor & Author & { itself?: boolean };

/** A change of a tenant. Absent members stay as they are. */
export interface TenantChange {
  name?: string | undefined;
  hosts?: string[] | undefined;
  /** Returns the new settings for the present ones, secrets included; may throw TenantError. */
  settings?: (current: Tree) => Tree;
  /** `updated_at` of the tenant as the change was made of it: with another one, the change is a conflict. */
  ifUnchangedSince?: Date | undefined;
  /** The version whose settings the change restores. */
  restores?: string | undefined;
  /** Settings that are sealed even if this version holds them for no secrets. */
  sealed?: Tree;
  /** Judges the change in its transaction; may throw TenantError. */
  judge?: (tx: Transaction, change: JudgedChange) => Promise<void>;
}

/** A valid change of the settings of a tenant. */
export interface JudgedChange {
  tenantId: string;
  /** The configuration in force; null if it is invalid, so that the tenant is not served. */
  former: Config | null;
  changed: Config;
}

/**
 * Changes a tenant. Concurrent changes run one after the other, each on the result of the one before. The tenant's own
 * log records it, with the names of the changed settings.
 *
 * @param by default: the command line
 * @throws as `createTenant` does; TenantError if the tenant does not exist or is the default one, or may not make this
 *   change itself
 */
export async function updateTenant(
  context: ManagementContext,
  id: string,
  change: TenantChange,
  by: Party = commandLine,
): Promise<Tenant> {
  rejectDefault(context, id);
  const now = await currentTime(context);
  const config = await context.database.write.transaction(async (tx) => {
    const [row] = await tx.select().from(tenants).where(eq(tenants.id, id)).for("update");
    if (!row) throw unknownTenant(id);
    const { ifUnchangedSince } = change;
    if (ifUnchangedSince && row.updatedAt.getTime() !== ifUnchangedSince.getTime())
      throw new TenantError(
        `the tenant was changed at ${row.updatedAt.toISOString()}, after the version that the change was made of`,
        "conflict",
        { since: await versionsSince(tx, context.tenant, id, ifUnchangedSince) },
      );
    const { current, settings, sealed, changed, told } = await judgedChange(tx, context, row, change, by);
    await requireFreeHosts(tx, context, id, changed.row.hosts);
    await change.judge?.(tx, {
      tenantId: id,
      former: configOf(context, row, current),
      changed: changed.config,
    });
    // Always later than before: other processes detect a change by it.
    const later = new Date(row.updatedAt.getTime() + 1).toISOString();
    const updatedAt = sql`greatest(statement_timestamp(), ${later}::timestamptz)`;
    const [updated] = await tx
      .update(tenants)
      .set({ ...changed.row, updatedAt })
      .where(eq(tenants.id, id))
      .returning({ at: tenants.updatedAt });
    if (updated)
      await recordSettings(tx, context, id, row, {
        settings,
        sealed,
        told,
        at: updated.at,
        by,
        restores: change.restores,
      });
    const details = {
      ...(changed.row.name === row.name ? {} : { name: changed.row.name }),
      ...(String(changed.row.hosts) === String(row.hosts) ? {} : { hosts: changed.row.hosts }),
      settings: changesBetween(current, settings, told).map(({ path }) => path.join(".")),
      ...(change.restores === undefined ? {} : { restored: change.restores }),
    };
    const tenant = { id, config: changed.config };
    await audit({ runtime: context, tenant, client: by, now }, "tenant_changed", details)(tx);
    return changed.config;
  });
  context.tenants.forget();
  return { id, config };
}

/**
 * Makes the settings of a tenant those of a version again. It is a change like any other.
 *
 * @throws as `updateTenant` does; TenantError if there is no such version
 */
export async function restoreSettings(
  context: ManagementContext,
  id: string,
  version: string,
  conditions: Pick<TenantChange, "ifUnchangedSince" | "judge">,
  by: Party,
): Promise<Tenant> {
  const found = await settingsOfVersion(context.database.read, context, id, version);
  if (!found) throw new TenantError(`there is no version ${version} of the settings`, "not_found");
  const { settings, sealed } = found;
  return updateTenant(
    context,
    id,
    { ...conditions, settings: () => settings, sealed, restores: version },
    by,
  );
}

/**
 * Validates a change of a tenant as it is.
 *
 * @throws as `updateTenant` does
 */
async function judgedChange(
  db: Pick<Queryable, "select">,
  context: ManagementContext,
  row: TenantRow,
  change: Pick<TenantChange, "name" | "hosts" | "settings" | "sealed" | "restores">,
  by: Party,
) {
  const { id } = row;
  const current = openSettings(context.vault, id, row);
  const stored = { id, name: row.name, hosts: row.hosts, settings: current };
  const known = ignoredEntries(context.config, stored);
  const settings = changedSettings(context.config, stored, known, change, by);
  const { name = row.name, hosts = row.hosts } = change;
  // A later version may have stored the version that is restored.
  const restored = change.restores === undefined ? [] : unknownIn(context.config, { ...stored, settings });
  const sealed = merge(openSealed(context.vault, id, row), change.sealed ?? {});
  const before = { sealed, known: [...known, ...restored] };
  const operators = hosts === row.hosts ? changedOperatorSetting(current, settings) : "hosts";
  if (by.itself && operators) throw setByOperator(operators);
  const changed = prepare(context, id, { name, hosts, settings }, before);
  const addresses = { server: context.config, baseUrl: changed.config.base_url };
  const own = by.itself && changedByTenant(stored, { name: name.trim(), settings }, addresses);
  if (own) throw setByOperator(own);
  await rejectForeignParties(db, context, { id, config: changed.config }, current);
  const told = {
    before: withoutUnknown(current, known),
    after: withoutUnknown(settings, changed.config.ignored),
  };
  return { current, settings, sealed, changed, told };
}

/**
 * Returns the settings after a change. What this version does not know stays: all of it where the tenant changes them
 * itself. An operator removes what has a name of its own, and an item of a list with all that it has.
 *
 * @param known the entries of the present settings that are not used
 */
function changedSettings(
  server: Config,
  stored: TenantSettings,
  known: readonly IgnoredEntry[],
  { settings: change, restores }: Pick<TenantChange, "settings" | "restores">,
  by: Party,
): Tree {
  if (!change) return stored.settings;
  const isRestored = restores !== undefined;
  if (isRestored && !by.itself) return change(stored.settings);
  const isHidden = ({ unknown }: IgnoredEntry) =>
    unknown !== undefined && (by.itself === true || unknown.some((part) => typeof part === "number"));
  const visible = withoutUnknown(stored.settings, known.filter(isHidden));
  const asked = change(visible);
  // A former version of the settings may have what the present ones do not, and the other way round.
  if (!isRestored) rejectTooLong(withoutUnknown(asked, known), withoutUnknown(stored.settings, known));
  const stated = unknownIn(server, { ...stored, settings: asked }).filter(isHidden);
  if (!isRestored) rejectAdded({ ignored: stated }, []);
  return withUnknown({ stored: stored.settings, visible, changed: withoutUnknown(asked, stated) }, (path) => {
    if (by.itself) throw setByOperator(path);
  });
}

/** @param present the settings before the change: an earlier version may have let them have more characters */
function rejectTooLong(settings: Tree, present: Tree = {}): void {
  const [length, before] = [settings, present].map((tree) => JSON.stringify(tree).length) as [number, number];
  if (length > Math.max(MAX_SETTINGS_CHARACTERS, before))
    throw new TenantError(
      `a tenant's settings must not have more than ${MAX_SETTINGS_CHARACTERS} characters`,
    );
}

/** The configuration of a stored tenant; null if its settings are no longer valid. */
function configOf({ config: server }: ManagementContext, row: TenantRow, settings: Tree): Config | null {
  try {
    return tenantConfig(server, { ...row, settings });
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/**
 * Validates a change of settings without making it. Of the default tenant, it is one of the server's configuration, of which a
 * party that is no operator changes what a tenant may set itself.
 *
 * @param settings returns the new settings for the present ones, secrets included; may throw TenantError
 * @returns `updatedAt`: that of the tenant which it was judged by
 * @throws as `updateTenant` does, but for the default tenant
 */
export async function judgeSettings(
  context: ManagementContext,
  id: string,
  settings: (current: Tree) => Tree,
  by: Party,
): Promise<JudgedChange & { updatedAt: Date }> {
  const [row] = await context.database.read.select().from(tenants).where(eq(tenants.id, id));
  if (!row) throw unknownTenant(id);
  const { updatedAt } = row;
  if (id === context.tenant.id) {
    const { config: former } = context.tenant;
    const { mode: _mode, data_dir: _directory, ignored: _ignored, sources: _sources, ...current } = former;
    const tried = settings(current);
    const operators = by.itself && changedOperatorSetting(current, tried);
    if (operators) throw setByOperator(operators);
    return { tenantId: id, former, changed: serverConfig(former, tried), updatedAt };
  }
  const { current, changed } = await judgedChange(context.database.read, context, row, { settings }, by);
  return { tenantId: id, former: configOf(context, row, current), changed: changed.config, updatedAt };
}

/** The configuration of the server with other settings. @throws ConfigError if it is invalid */
function serverConfig({ mode, data_dir, ignored }: Config, settings: Tree): Config {
  const config = parseConfig({ base: {}, over: { ...settings, data_dir } }, { mode, directory: data_dir });
  rejectAdded(config, ignored);
  checkMailServer(config);
  checkWords(config);
  return config;
}

/** Rejects an entry that is not used and not known. @throws ConfigError */
function rejectAdded({ ignored }: Pick<Config, "ignored">, known: readonly IgnoredEntry[]): void {
  const entries = new Set(known.map(({ entry }) => entry));
  const added = ignored.find(({ entry }) => !entries.has(entry));
  if (!added) return;
  const hasNoName = added.unknown && !isServerSetting(added.unknown.map(String));
  throw new ConfigError(added.unknown && hasNoName ? unknownAt(added.unknown) : added.fault);
}

/** Rows of a table that one transaction deletes, and that the one which deletes the tenant may find. */
const BATCH_ROWS = 5_000;

/**
 * Deletes a tenant with all its data. The log of the default tenant records it. One transaction deletes a tenant; of a
 * large one, others have deleted most rows before, so that none takes long. An interrupted call leaves a tenant that lacks
 * some of its users and entries, and can be repeated.
 *
 * @param withUsers whether to delete its accounts too
 * @throws TenantError if the tenant does not exist or is the default one, or has accounts and `withUsers` is false
 */
export async function deleteTenant(
  context: ManagementContext,
  id: string,
  { withUsers }: { withUsers: boolean },
  by: Actor = commandLine,
): Promise<void> {
  rejectDefault(context, id);
  const { write } = context.database;
  const check = async (db: Pick<Queryable, "select">) => {
    const [accounts] = await db.select({ count: count() }).from(users).where(eq(users.tenantId, id));
    if (!accounts?.count || withUsers) return;
    const message = `tenant ${id} has ${accounts.count} users, who would be deleted: pass --with-users`;
    throw new TenantError(message, "conflict");
  };
  const entry = await managementEntry(context, by, "tenant_deleted", id);
  await check(write);
  await deleteMostRows(context.database, id);
  await write.transaction(async (tx) => {
    // The lock blocks registrations until the tenant is deleted.
    const [row] = await tx.select().from(tenants).where(eq(tenants.id, id)).for("update");
    if (!row) throw unknownTenant(id);
    await check(tx);
    await tx.delete(tenants).where(eq(tenants.id, id));
    for (const { table, tenantId } of tablesOfTenants) await tx.delete(table).where(eq(tenantId, id));
    await entry(tx);
  });
  context.tenants.forget();
}

/**
 * Deletes the rows of a tenant beyond the first `BATCH_ROWS` of each table. In a distributed database rows have no place by
 * which they are found, and all of them are deleted with the tenant.
 */
async function deleteMostRows(database: ManagementContext["database"], id: string): Promise<void> {
  if (await isDistributed(database)) return;
  const { write } = database;
  for (const { table, tenantId } of tablesOfTenants)
    for (let deleted: number | null = BATCH_ROWS; deleted === BATCH_ROWS; ) {
      const batch: SQL = sql`select ctid from ${table} where ${eq(tenantId, id)} offset ${BATCH_ROWS} limit ${BATCH_ROWS}`;
      ({ rowCount: deleted } = await write.execute(
        sql`delete from ${table} where ctid = any (array(${batch}))`,
      ));
    }
}

/** Makes the entry about a tenant in the log of the default tenant. */
async function managementEntry(
  context: ManagementContext,
  client: Actor,
  type: "tenant_created" | "tenant_deleted",
  id: string,
) {
  const now = await currentTime(context);
  return audit({ runtime: context, tenant: context.tenant, client, now }, type, { tenant: id });
}

/** Tables whose rows belong to tenants, those that refer to others first. Foreign keys already delete the rows of most. */
const tablesOfTenants: readonly { table: PgTable; tenantId: PgColumn }[] = tables
  .flatMap((table) => {
    if (rulesOf(table).owner === "deployment" || table === schema.tenants) return [];
    return { table, tenantId: columnOf(table, "tenantId"), depth: depthOf(table) };
  })
  .toSorted((a, b) => b.depth - a.depth);

/** The length of the longest chain of references from a table. */
function depthOf(table: PgTable): number {
  const referred = getTableConfig(table).foreignKeys.map((key) => depthOf(key.reference().foreignTable));
  return Math.max(0, ...referred.map((depth) => depth + 1));
}

/**
 * Validates a description of a tenant, and returns its row and its configuration.
 *
 * @param before of the present settings: the sealed part, and the entries that are not used, which may stay
 */
function prepare(
  { config: server, vault }: ManagementContext,
  id: string,
  { name, hosts, settings }: TenantDescription,
  before?: { sealed: Tree; known: readonly IgnoredEntry[] },
) {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_NAME_CHARACTERS)
    throw new TenantError(`a tenant's name must have 1 to ${MAX_NAME_CHARACTERS} characters`);
  const names = [...new Set(hosts.map((host) => host.toLowerCase()))];
  const own = ownHosts(server);
  for (const host of names) {
    if (!hostName.test(host)) throw new TenantError(`${host} is not a host name like login.example.com`);
    if (own.includes(host)) throw new TenantError(`${host} is the server's own host name`);
  }
  const config = tenantConfig(server, { id, name: trimmed, hosts: names, settings });
  rejectAdded(config, before?.known ?? []);
  checkMailServer(config);
  checkWords(config);
  const stored = sealSettings(vault, id, settings, before?.sealed ?? {});
  return { row: { name: trimmed, hosts: names, ...stored }, config };
}

/** Returns the entries of stored settings that are not used. */
function ignoredEntries(server: Config, stored: TenantSettings): readonly IgnoredEntry[] {
  try {
    return tenantConfig(server, stored).ignored;
  } catch (error) {
    if (error instanceof ConfigError) return error.ignored;
    throw error;
  }
}

/** Returns the entries of stored settings that this version does not know. */
const unknownIn = (server: Config, settings: TenantSettings) =>
  ignoredEntries(server, settings).filter(({ unknown }) => unknown);

/** Rejects a host name of another tenant. Locks the default tenant's row, so that concurrent claims run in turn. */
async function requireFreeHosts(
  tx: Transaction,
  { tenant }: ManagementContext,
  id: string,
  hosts: string[],
): Promise<void> {
  if (hosts.length === 0) return;
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenant.id)).for("update");
  const [taken] = await tx
    .select({ id: tenants.id, hosts: tenants.hosts })
    .from(tenants)
    .where(and(ne(tenants.id, id), arrayOverlaps(tenants.hosts, hosts)));
  const host = taken?.hosts.find((name) => hosts.includes(name));
  if (taken) throw new TenantError(`${host} is the host name of tenant ${taken.id}`, "conflict");
}

/**
 * Rejects tokens that would name another tenant. What the settings named before is ignored, and stays.
 *
 * @param current the present settings
 */
async function rejectForeignParties(
  db: Pick<Queryable, "select">,
  { config: server }: ManagementContext,
  tenant: Tenant,
  current: Tree,
): Promise<void> {
  const { issuer, audience } = subtree(current, "session");
  const relyingParty = valueAt(current, ["webauthn", "relying_party", "id"]);
  const known = new Set<unknown>([issuer, audience, relyingParty].flat());
  const foreign = await foreignParties(db, server, tenant);
  const added = foreign.find(({ value }) => !known.has(value));
  if (added) throw new TenantError(foreignFault(added));
}

const setByOperator = (setting: string) =>
  new TenantError(`${setting} is set by the operator: a tenant cannot set it itself`, "forbidden");

function rejectDefault({ tenant }: ManagementContext, id: string): void {
  if (id !== tenant.id) return;
  throw new TenantError("the default tenant is defined by the server's configuration", "conflict");
}

function unknownTenant(id: string): TenantError {
  return new TenantError(`there is no tenant ${id}`, "not_found");
}
