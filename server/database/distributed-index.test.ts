import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { findCitus } from "../testing/citus-cluster.ts";
import { distributedDatabase } from "../testing/distributed-database.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { buildIndex, claimBuild, createBuildClaims, isLongBuild, newIndex } from "./index-builds.ts";
import { withConnection } from "./migrate.ts";

test.skipIf(findCitus() === null)(
  "A366 the index of a table that is long at the nodes of a cluster is built there while others write",
  async () => {
    const made = await distributedDatabase();
    const { url } = await openForTests(Promise.resolve({ ...made, close: made.drop }));
    const index = newIndex('CREATE INDEX "users_name_again" ON "users" USING btree ("tenant_id","name");');
    if (!index) throw new Error("no index was read");
    await withConnection(url, async (client) => {
      const { rows } = await client.query<{ id: string }>("select id from tenants");
      await client.query(
        `insert into users (tenant_id, id, name)
        select $1, gen_random_uuid(), repeat('name', 10) from generate_series(1, 100000)`,
        [rows[0]?.id],
      );
      expect(await isLongBuild(client, index)).toBe(true);
      await createBuildClaims(client);
      const builder = randomUUID();
      expect(await claimBuild(client, index, builder)).toBe(true);
      expect(await claimBuild(client, index, randomUUID())).toBe(false);
      const writing = withClient(url, async (writer) => {
        await writer.query("begin");
        await writer.query("update users set language = 'en' where tenant_id = $1", [rows[0]?.id]);
        await writer.query("commit");
      });
      await buildIndex(client, index, builder, (work) => withConnection(url, work));
      await writing;
      const { rows: valid } = await client.query<{ result: string }>(
        `select result from run_command_on_shards('users',
          $$select count(*) from pg_index where indrelid = '%s'::regclass and indexrelid::regclass::text ~ '^users_name_again_' and indisvalid$$)`,
      );
      expect(new Set(valid.map(({ result }) => result))).toEqual(new Set(["1"]));
    });
  },
);
