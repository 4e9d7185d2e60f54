import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { schema } from "./client.ts";
import { type JsonRow, rowOfJson } from "./json-row.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase();
});
afterAll(() => test.close());

it.each(["hex", "escape"])("reads bytes and moments of a database whose bytea_output is %s", async (form) => {
  const client = await test.database.read.$client.connect();
  try {
    await client.query(`set bytea_output = ${form}; set timezone = 'Asia/Kolkata'`);
    const { rows } = await client.query<{ json: JsonRow }>(
      `select row_to_json(r) as json from (select decode('005c41ff0a5c5c', 'hex') as public_key,
        timestamptz '2021-06-05 04:03:02.001Z' as created_at, 4294967295::bigint as sign_count, array['usb'] as transports) r`,
    );
    expect(rowOfJson(schema.webauthnCredentials, rows[0]?.json ?? {})).toMatchObject({
      publicKey: Buffer.from("005c41ff0a5c5c", "hex"),
      createdAt: new Date("2021-06-05T04:03:02.001Z"),
      signCount: 4_294_967_295,
      transports: ["usb"],
      userHandle: null,
    });
  } finally {
    client.release(true);
  }
});
