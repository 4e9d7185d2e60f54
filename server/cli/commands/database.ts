import type pg from "pg";
import { isDistributed } from "#db/distribution";
import { distribute, placements } from "../../database/distribute.ts";
import { distributionStatus } from "../../database/distribution-status.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { CommandError, command } from "../command.ts";
import { printTable } from "../table.ts";

async function withConnection<Result>(
  { database }: CliRuntime,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await database.write.$client.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}

export const databaseDistribute = command({
  name: "database distribute",
  summary: "Distribute the tenants of the database over the nodes of its Citus cluster.",
  details:
    "DATABASE_URL names the coordinator. No server may run. Prints each step; after an interruption, run it again: it goes\non where it stopped. Running it on a distributed database distributes the tables that later versions have added.",
  async run(cli) {
    await cli.withRuntime((runtime) =>
      withConnection(runtime, (client) => distribute(client, (step) => cli.print(step))),
    );
    await cli.print("OK");
  },
});

const MEBIBYTE = 1024 * 1024;

/** A tenant with a greater part of all users than this is worth a shard of its own. */
const ISOLATED_PART = 0.1;

const percent = (part: number) => `${Math.round(part * 100)} %`;

export const databaseStatus = command({
  name: "database status",
  summary: "Show the nodes of a distributed database, their sizes, and the largest tenants.",
  options: { json: { description: "The same as JSON." } },
  async run(cli, { json }) {
    const status = await cli.withRuntime(async (runtime) => {
      if (!(await isDistributed(runtime.database)))
        throw new CommandError("the database is not distributed: see stile database distribute");
      return withConnection(runtime, (client) => distributionStatus(client, placements));
    });
    if (json) {
      await cli.print(JSON.stringify(status));
      return;
    }
    await printTable(cli, status.nodes, {
      node: "node",
      active: ({ active }) => (active ? "yes" : "no"),
      shards: "shards",
      MiB: ({ bytes }) => (bytes / MEBIBYTE).toFixed(1),
    });
    await cli.print(
      `\n${status.byTenant} tables by tenant, ${status.everywhere} on every node, ${status.atCoordinator} at the coordinator; the fullest node is ${percent(status.imbalance)} above the mean`,
    );
    if (status.missing.length > 0)
      await cli.print(`not distributed: ${status.missing.join(", ")} (run stile database distribute)`);
    await cli.print("");
    await printTable(cli, status.largest, {
      tenant: "tenantId",
      users: "users",
      "of all": ({ part }) => percent(part),
    });
    const [largest] = status.largest;
    if (largest && status.largest.length > 1 && largest.part > ISOLATED_PART)
      await cli.print(
        `\na shard of its own: select isolate_tenant_to_new_shard('users', '${largest.tenantId}', 'CASCADE', shard_transfer_mode => 'force_logical')`,
      );
  },
});
