import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";

type Counted = { server: Pick<Config["server"], "workers">; database: Pick<Config["database"], "pool_size"> };

/** Connections of each pool that a worker has at least if `auto` decides their number. */
const AUTO_CONNECTIONS = 2;

/**
 * The number of processes that serve.
 *
 * @param cores what `auto` stands for, unless `database.pool_size` is too small for as many
 */
export function countWorkers({ server, database }: Counted, cores = availableParallelism()): number {
  if (server.workers !== "auto") return server.workers;
  const affordable = Math.floor((database.pool_size - ownersShare(database.pool_size)) / AUTO_CONNECTIONS);
  return Math.max(1, Math.min(cores, affordable));
}

/**
 * Divides the connections of each pool: few for the owner, whose jobs and purges write in batches, the others in equal
 * parts. Together they are at most `database.pool_size`.
 *
 * @param workers more than one
 */
export function shareConnections(poolSize: number, workers: number): { owner: number; worker: number } {
  const owner = ownersShare(poolSize);
  const rest = Math.max(workers, poolSize - owner);
  return { owner: Math.max(1, Math.min(owner, poolSize - workers)), worker: Math.floor(rest / workers) };
}

const ownersShare = (poolSize: number) => (poolSize >= 10 ? 2 : 1);
