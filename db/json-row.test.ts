import { expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { schema } from "./client.ts";
import { insertOfJson, type JsonRow, jsonOfRow, rowOfJson } from "./json-row.ts";

const test = await openForTests(testDatabase());

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

it("inserts a row as it was, with bytes, moments, lists, JSON and what is missing", async () => {
  const table = schema.authenticatorRequests;
  const row: typeof table.$inferSelect = {
    tenantId: "00000000-0000-4000-8000-000000000001",
    id: "one",
    operation: "AUTH",
    status: "PENDING",
    userId: "ada",
    username: 'Ada "\\x00" Zoë',
    displayName: null,
    transaction: "5 €",
    clientData: { userAgent: "it's" },
    location: null,
    isSecondFactorOnly: false,
    challenge: "c",
    deviceIds: ["6f1c1e0e-7a0b-4a1c-9a53-0c1f0f9a0001", "6f1c1e0e-7a0b-4a1c-9a53-0c1f0f9a0002"],
    message: "[]",
    deviceTokenHash: Buffer.from("005c41ff", "hex"),
    sealedDeviceToken: null,
    error: { code: 1, reason: "why" },
    deviceId: null,
    flowId: null,
    answeredAt: null,
    createdAt: new Date("2021-06-05T04:03:02.001Z"),
    validUntil: new Date("2021-06-05T04:05:02.001Z"),
  };
  const { write } = test.database;
  await write.$client.query(insertOfJson(table), [jsonOfRow(table, row)]);
  expect(await write.select().from(table)).toEqual([row]);
});
