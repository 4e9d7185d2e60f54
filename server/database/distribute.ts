import { getTableColumns, getTableName } from "drizzle-orm";
import type pg from "pg";
import { rulesOf } from "#db/schema/table";
import { tenants } from "#db/schema/tenants";
import { tables } from "#db/tables";
import { StartError } from "../config/errors.ts";

/** Distributes a database over the nodes of a Citus cluster: the rows of a tenant lie together on one node (decision 92). */

/**
 * Where the rows of a table lie in a distributed database. `everywhere`: on each node, so that rows of the others can refer to
 * them; a write needs all nodes. `coordinator`: there alone; the other nodes ask it.
 */
export type Placement = "with_tenant" | "everywhere" | "coordinator";

/** The tables with the places of their rows, by name. */
export const placements: ReadonlyMap<string, Placement> = new Map(
  tables.map((table) => {
    const isOfTenant = "tenantId" in getTableColumns(table) && !rulesOf(table).atCoordinator;
    const name = getTableName(table);
    return [name, isOfTenant ? "with_tenant" : name === getTableName(tenants) ? "everywhere" : "coordinator"];
  }),
);

/** Tables of the coordinator that a server reads at its start, beside those of the schema: what has been migrated. */
const migrationTables = ["drizzle.__drizzle_migrations", "drizzle.__stile_migration_units"];

/** What exists while a database is being distributed: foreign keys that were set aside. */
export const KEPT_CONSTRAINTS = "drizzle.__stile_kept_constraints";

/** Told of each step before it begins. */
type Progress = (step: string) => Promise<void>;

/**
 * Distributes the tables that are not distributed yet. Each step is a transaction: after an interruption a further call goes
 * on where it stopped. No server may run, because a table that is moved to its nodes takes no writes.
 *
 * @param client a connection to the coordinator, as the owner of the tables
 * @throws StartError if this is no coordinator with nodes, or a server runs
 */
export async function distribute(client: pg.ClientBase, progress: Progress): Promise<void> {
  await refuseUnready(client);
  await client.query(`create table if not exists ${KEPT_CONSTRAINTS}
    (name text, relation text, definition text not null, primary key (relation, name))`);
  // A server that starts from now on sees the table.
  await refuseServers(client);
  await setForeignKeysAside(client, progress);
  for (const [name, placement] of placements) await place(client, name, placement, progress);
  for (const name of migrationTables) await place(client, name, "coordinator", progress);
  await addForeignKeys(client, progress);
  await client.query(`drop table ${KEPT_CONSTRAINTS}`);
}

async function refuseUnready(client: pg.ClientBase): Promise<void> {
  const { rows: extensions } = await client.query("select 1 from pg_extension where extname = 'citus'");
  if (extensions.length === 0)
    throw new StartError("the database has no extension citus: a superuser creates it on every node");
  const { rows: nodes } = await client.query<{ isCoordinator: boolean; workers: number }>(
    `select citus_is_coordinator() as "isCoordinator",
      (select count(*)::int from pg_dist_node where isactive and shouldhaveshards) as workers`,
  );
  const [node] = nodes;
  if (!node?.isCoordinator) throw new StartError("this node is not the coordinator of the cluster");
  if (node.workers === 0)
    throw new StartError("the cluster has no node for shards: add one with citus_add_node");
}

async function refuseServers(client: pg.ClientBase): Promise<void> {
  const { rows: leases } = await client.query("select 1 from instances where leased_until > now() limit 1");
  if (leases.length === 0) return;
  const { rows: kept } = await client.query(`select 1 from ${KEPT_CONSTRAINTS} limit 1`);
  if (kept.length === 0) await client.query(`drop table ${KEPT_CONSTRAINTS}`);
  throw new StartError(
    "a server runs on this database: stop all of them, and wait a minute after one was killed",
  );
}

/** Citus moves no table that others refer to. What is set aside is stored until it is added again. */
async function setForeignKeysAside(client: pg.ClientBase, progress: Progress): Promise<void> {
  const { rows } = await client.query<{ name: string; relation: string }>(`
    select c.conname as name, c.conrelid::regclass::text as relation from pg_constraint c
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.conparentid = 0
      and not exists (select 1 from pg_dist_partition p where p.logicalrelid = c.conrelid
        and exists (select 1 from pg_dist_partition r where r.logicalrelid = c.confrelid))
    order by 2, 1`);
  if (rows.length > 0) await progress(`setting ${rows.length} foreign keys aside`);
  for (const { name, relation } of rows)
    await inTransaction(client, async () => {
      await client.query(
        `insert into ${KEPT_CONSTRAINTS}
        select conname, conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint
        where conname = $1 and conrelid = $2::regclass
        on conflict (relation, name) do update set definition = excluded.definition`,
        [name, relation],
      );
      await client.query(`alter table ${relation} drop constraint "${name}"`);
    });
}

async function place(
  client: pg.ClientBase,
  name: string,
  placement: Placement,
  progress: Progress,
): Promise<void> {
  const { rows } = await client.query("select 1 from pg_dist_partition where logicalrelid = $1::regclass", [
    name,
  ]);
  if (placement === "coordinator") {
    if (rows.length === 0) await client.query("select citus_add_local_table_to_metadata($1)", [name]);
    return;
  }
  if (rows.length > 0) {
    await truncateLocal(client, name);
    return;
  }
  await progress(placement === "everywhere" ? `${name}: to every node` : `${name}: by tenant`);
  await inTransaction(client, async () => {
    if (placement === "everywhere") {
      await client.query("select create_reference_table($1)", [name]);
      return;
    }
    await dropTriggers(client, name);
    await addTenantToUniqueIndexes(client, name);
    const { rows: others } = await client.query<{ name: string }>(
      "select logicalrelid::text as name from pg_dist_partition where partmethod = 'h' limit 1",
    );
    await client.query("select create_distributed_table($1, 'tenant_id', colocate_with => $2)", [
      name,
      others[0]?.name ?? "default",
    ]);
  });
  await truncateLocal(client, name);
}

/** Deletes what is still in the table of the coordinator after it was copied to the nodes. */
async function truncateLocal(client: pg.ClientBase, name: string): Promise<void> {
  await client.query("select truncate_local_data_after_distributing_table($1)", [name]);
}

/** Distributed tables have no triggers. The only one refuses writes of release 0.2, which knows no such database. */
async function dropTriggers(client: pg.ClientBase, name: string): Promise<void> {
  const { rows } = await client.query<{ trigger: string }>(
    "select tgname as trigger from pg_trigger where tgrelid = $1::regclass and not tgisinternal",
    [name],
  );
  for (const { trigger } of rows) await client.query(`drop trigger "${trigger}" on "${name}"`);
}

/**
 * A unique index of a distributed table has to contain the tenant. Those that do not are of random values, so that each is
 * still unique.
 */
async function addTenantToUniqueIndexes(client: pg.ClientBase, name: string): Promise<void> {
  const { rows } = await client.query<{ index: string; definition: string }>(
    `select c.relname as index, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = $1::regclass and i.indisunique and not exists (
      select 1 from pg_attribute a where a.attrelid = i.indrelid and a.attname = 'tenant_id' and a.attnum = any (i.indkey))`,
    [name],
  );
  for (const { index, definition } of rows) {
    await client.query(`drop index "${index}"`);
    await client.query(definition.replace(/\)(?=[^)]*$)/, ", tenant_id)"));
  }
}

async function addForeignKeys(client: pg.ClientBase, progress: Progress): Promise<void> {
  const { rows } = await client.query<{ name: string; relation: string; definition: string }>(
    `select name, relation, definition from ${KEPT_CONSTRAINTS} order by relation, name`,
  );
  // Citus takes none that sets a column null. The one that does is that of `openid_sign_ins`, see `server/openid/logouts.ts`.
  const supported = rows.filter(({ definition }) => !definition.includes("ON DELETE SET NULL"));
  if (supported.length > 0) await progress(`adding ${supported.length} foreign keys again`);
  for (const { name, relation, definition } of supported)
    await inTransaction(client, async () => {
      await client.query(`alter table ${relation} add constraint "${name}" ${definition}`);
      await client.query(`delete from ${KEPT_CONSTRAINTS} where relation = $1 and name = $2`, [
        relation,
        name,
      ]);
    });
}

async function inTransaction(client: pg.ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
