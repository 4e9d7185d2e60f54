import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { type TestDatabase, testDatabase } from "./postgres.ts";

describe("testDatabase", () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([testDatabase(), testDatabase()]);
  });

  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
  });

  it("is migrated and has the default tenant", async () => {
    const tenants = await first.database.read.select().from(schema.tenants);
    expect(tenants.map((tenant) => tenant.name)).toEqual(["Stile"]);
  });

  it("is not shared with other tests", async () => {
    await first.database.write
      .insert(schema.instances)
      .values({ id: crypto.randomUUID(), leasedUntil: new Date(), version: "1.0.0" });
    expect(await first.database.read.$count(schema.instances)).toBe(1);
    expect(await second.database.read.$count(schema.instances)).toBe(0);
  });

  it("rejects writes of the read pool", async () => {
    const write = first.database.read
      .insert(schema.instances)
      .values({ id: crypto.randomUUID(), leasedUntil: new Date(), version: "1.0.0" });
    await expect(write).rejects.toMatchObject({ cause: { code: "25006" } });
  });
});
