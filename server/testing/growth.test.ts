import pg from "pg";
import { expect, test } from "vitest";
import { checkSealingKeys } from "../keys/sealed-columns.ts";
import { grow } from "./growth.ts";
import { runtimeForTests } from "./open-for-tests.ts";

test("a server starts on generated rows: their sealed values name the key that it has", async () => {
  const runtime = await runtimeForTests();
  await runtime.signingKeys.of(runtime.tenant, "passkeys").ready;
  const { connectionString } = runtime.database.write.$client.options;
  const client = new pg.Client({ connectionString });
  await client.connect();
  await grow(client, runtime.tenant.id, { users: 3, flows: 3, sessions: 3, auditEntries: 3, others: 3 });
  await client.end();
  await expect(checkSealingKeys(runtime.database, runtime.vault)).resolves.toBeUndefined();
});
