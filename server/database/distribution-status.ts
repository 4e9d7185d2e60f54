import type pg from "pg";
import type { Placement } from "./distribute.ts";

/** A node of a distributed database. */
export interface NodeStatus {
  node: string;
  /** Whether it takes shards, and statements reach it. */
  active: boolean;
  /** Shards of the tenants, each of all tables. */
  shards: number;
  bytes: number;
}

export interface DistributionStatus {
  nodes: NodeStatus[];
  /** Tables whose rows lie with their tenants, tables that every node has, and those whose rows the coordinator has. */
  byTenant: number;
  everywhere: number;
  atCoordinator: number;
  /** Tables of this version that are not distributed yet. */
  missing: string[];
  /** By how much the fullest node is above the mean: 0.1 is a tenth. */
  imbalance: number;
  /** The tenants with the most users, with their part of all. */
  largest: { tenantId: string; users: number; part: number }[];
}

/** Tenants that are told of. */
const LARGEST = 5;

/**
 * Reads how a database is distributed. It counts users of all tenants.
 *
 * @param client a connection to any node
 * @param placements where the tables of this version lie
 */
export async function distributionStatus(
  client: pg.ClientBase,
  placements: ReadonlyMap<string, Placement>,
): Promise<DistributionStatus> {
  const { rows: distributed } = await client.query<{ name: string }>(
    "select table_name::text as name from citus_tables",
  );
  const placed = new Set(distributed.map(({ name }) => name));
  const namesOf = (placement: Placement) =>
    [...placements].flatMap(([name, own]) => (own === placement ? [name] : []));
  const { rows: nodes } = await client.query<NodeStatus>(`
    select n.nodename || ':' || n.nodeport as node, n.isactive and n.shouldhaveshards as active,
      count(s.shardid) filter (where s.table_name = 'users'::regclass)::int as shards,
      coalesce(sum(s.shard_size), 0)::float8 as bytes
    from pg_dist_node n
    left join citus_shards s on s.nodename = n.nodename and s.nodeport = n.nodeport and s.citus_table_type = 'distributed'
    group by 1, 2 order by 1`);
  const { rows: largest } = await client.query<{ tenantId: string; users: number }>(`
    select tenant_id as "tenantId", count(*)::int as users from users group by 1 order by 2 desc limit ${LARGEST}`);
  const { rows: totals } = await client.query<{ users: number }>("select count(*)::int as users from users");
  const sizes = nodes.filter(({ active }) => active).map(({ bytes }) => bytes);
  const mean = sizes.reduce((sum, bytes) => sum + bytes, 0) / Math.max(1, sizes.length);
  const users = totals[0]?.users ?? 0;
  return {
    nodes,
    byTenant: namesOf("with_tenant").filter((name) => placed.has(name)).length,
    everywhere: namesOf("everywhere").filter((name) => placed.has(name)).length,
    atCoordinator: namesOf("coordinator").filter((name) => placed.has(name)).length,
    missing: [...placements.keys()].filter((name) => !placed.has(name)),
    imbalance: mean > 0 ? Math.max(...sizes) / mean - 1 : 0,
    largest: largest.map((one) => ({ ...one, part: users > 0 ? one.users / users : 0 })),
  };
}
