import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { smsCharges } from "./sms-limits.ts";

const postgres = await openForTests(testDatabase());

const limits = () => createRateLimits(loadConfig({}, "/nowhere"), postgres.database);

const tenants = new Map<string, string>();

/** The id of a tenant of these tests. */
function idOf(tenant: string): string {
  const id = tenants.get(tenant) ?? randomUUID();
  tenants.set(tenant, id);
  return id;
}

/** The SMS that are admitted, one after another. */
async function admitted(
  tenant: string,
  sms: { number: string; source: string; apart?: "second factor" | "reserve" }[],
): Promise<number> {
  const rates = limits();
  let count = 0;
  for (const one of sms) {
    const verdict = await rates.consumeAll(idOf(tenant), smsCharges({ identifier: one.number, ...one }));
    if (verdict.ok && verdict.exceeded.length === 0) count++;
  }
  return count;
}

const numbered = (beginning: string, index: number, digits = 4) =>
  `${beginning}${String(index).padStart(digits, "0")}`;

/** Numbers of ranges of their own, in many countries. */
const scattered = (index: number) => {
  const beginnings = ["+491511", "+3361", "+4479", "+3461", "+3247"];
  return `${beginnings[index % beginnings.length]}${String(index).padStart(3, "0")}0000`;
};

test("A171 a source that asks for 200 numbers gets ten SMS", async () => {
  const sms = Array.from({ length: 200 }, (_, index) => ({ number: scattered(index), source: "192.0.2.1" }));
  expect(await admitted("one source", sms)).toBe(10);
});

test("A171 adjacent numbers get ten SMS together, however many sources ask", async () => {
  const sms = Array.from({ length: 200 }, (_, index) => ({
    number: numbered("+49151123450", index, 3),
    source: `source-${index}`,
  }));
  expect(await admitted("one range", sms)).toBe(10);
});

test("A171 second factors and the reserve of an account have limits of their own, and as few", async () => {
  const sms = (apart?: "second factor" | "reserve") =>
    Array.from({ length: 20 }, (_, index) => ({
      number: "+4915112345600",
      source: `${apart}-${index}`,
      ...(apart ? { apart } : {}),
    }));
  expect(await admitted("apart", sms())).toBe(5);
  expect(await admitted("apart", sms("second factor"))).toBe(5);
  expect(await admitted("apart", sms("reserve"))).toBe(5);
});

test("A177 an SMS without a recipient is charged as many limits", () => {
  const of = { identifier: "ada@example.com", source: "192.0.2.1" };
  const names = (number: string | null) =>
    smsCharges({ ...of, number }).map(({ name, quiet }) => [name, quiet]);
  expect(names(null)).toEqual(names("+4915112345678"));
});

test("A171 a number gets five SMS, however many sources ask", async () => {
  const sms = Array.from({ length: 50 }, (_, index) => ({
    number: "+4915112345678",
    source: `source-${index}`,
  }));
  expect(await admitted("one number", sms)).toBe(5);
});

test("A171 the numbers of a country get 300 SMS together, and those of its neighbour with the same calling code theirs", async () => {
  const american = Array.from({ length: 320 }, (_, index) => ({
    number: numbered("+1201", 5_550_000 + index * 1000, 7),
    source: `american-${index}`,
  }));
  expect(await admitted("one country", american)).toBe(300);
  expect(await admitted("one country", [{ number: "+18762101234", source: "jamaican" }])).toBe(1);
});

test("a quiet limit of a number rejects nothing, and says that the SMS is withheld", async () => {
  const rates = limits();
  const charges = (source: string) =>
    smsCharges({ number: "+4915112345678", identifier: "ada@example.com", source });
  for (let index = 0; index < 5; index++) await rates.consumeAll(idOf("quiet"), charges(`source-${index}`));
  expect(await rates.consumeAll(idOf("quiet"), charges("another"))).toEqual({
    ok: true,
    exceeded: ["sms_number", "sms_range", "sms_country"],
  });
  for (let index = 0; index < 10; index++) await rates.consumeAll(idOf("quiet"), charges("the same"));
  expect(await rates.consumeAll(idOf("quiet"), charges("the same"))).toMatchObject({
    ok: false,
    reason: "rate_limited",
  });
});
