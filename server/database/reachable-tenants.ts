import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { isNodeUnreachable } from "#db/errors";

/**
 * Does work of all tenants. While a node of a distributed database is down, it is done for the tenants of the others.
 *
 * @param work runs statements. `within` returns the condition that a row is of a tenant whose work is done, to add to theirs
 * @throws what `work` throws
 */
export async function forReachableTenants<Result>(
  database: Pick<Database, "claim">,
  work: (within: (tenant: SQL) => SQL) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(() => sql`true`);
  } catch (error) {
    if (!isNodeUnreachable(error)) throw error;
    const reachable = sql.param(await reachableTenants(database));
    return work((tenant) => sql`${tenant} = any (${reachable}::uuid[])`);
  }
}

/** Returns the tenants whose node answers. The coordinator asks each node. */
async function reachableTenants({ claim }: Pick<Database, "claim">): Promise<string[]> {
  const { rows } = await claim.execute<{ id: string }>(sql`
    with shards as materialized (
      select s.shardid, n.nodename, n.nodeport from pg_dist_shard s
      join pg_dist_placement p on p.shardid = s.shardid
      join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      where s.logicalrelid = 'users'::regclass),
    reachable as materialized (
      select nodename, nodeport from (select distinct nodename, nodeport from shards) nodes
      where citus_check_connection_to_node(nodename, nodeport))
    select t.id from tenants t
    join shards on shards.shardid = get_shard_id_for_distribution_column('users', t.id)
    join reachable using (nodename, nodeport)`);
  return rows.map(({ id }) => id);
}
