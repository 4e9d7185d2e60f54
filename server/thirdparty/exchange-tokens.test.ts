import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { codeChallengeOf } from "../lib/pkce.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { acmePerson, returnFromProvider } from "../testing/provider-people.ts";
import { testClient } from "../testing/runtime.ts";
import { findExchangeToken, isValidVerifier, takeExchangeToken } from "./exchange-tokens.ts";

const runtime = await runtimeForTests();

const scope = (tenant = runtime.tenant) => ({
  runtime,
  tenant,
  client: testClient,
  now: new Date(Date.now() + runtime.platform.clockShift()),
});

const take = async (token: string, tenant = runtime.tenant) =>
  runtime.database.write.transaction(takeExchangeToken(scope(tenant), token)).then(
    () => "taken",
    (error: { reason?: string }) => error.reason,
  );

test("a token can be read any number of times until it is taken", async () => {
  const facts = acmePerson();
  const about = {
    flowId: randomUUID(),
    codeChallenge: codeChallengeOf("v".repeat(43)),
    userId: randomUUID(),
  };
  const token = await returnFromProvider(runtime, { ...about, facts });
  expect(token).toMatch(/^[\w-]{43}$/);
  for (let reads = 0; reads < 2; reads += 1)
    expect(await findExchangeToken(scope(), token)).toEqual({ ...about, facts });
  expect(await take(token)).toBe("taken");
  expect(await findExchangeToken(scope(), token)).toBeNull();
});

test("A49 one of fifty concurrent takes gets the token", async () => {
  const token = await returnFromProvider(runtime, { facts: acmePerson() });
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => take(token)));
  expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "exchange_token")).toHaveLength(49);
});

test("a token expires after sixty seconds", async () => {
  const token = await returnFromProvider(runtime, { facts: acmePerson() });
  runtime.advanceClock(61);
  expect(await findExchangeToken(scope(), token)).toBeNull();
  expect(await take(token)).toBe("exchange_token");
});

test("A68 another tenant can neither read nor take a token, and does not use it up", async () => {
  const token = await returnFromProvider(runtime, { facts: acmePerson() });
  const other = { id: randomUUID(), config: runtime.config };
  expect(await findExchangeToken(scope(other), token)).toBeNull();
  expect(await take(token, other)).toBe("exchange_token");
  expect(await take(token)).toBe("taken");
});

test("sealed facts open only with their own token", async () => {
  const [first, second] = [
    await returnFromProvider(runtime, { facts: acmePerson() }),
    await returnFromProvider(runtime, { facts: acmePerson() }),
  ];
  const { exchangeTokens } = schema;
  const rows = await runtime.database.read.select().from(exchangeTokens);
  expect(rows.length).toBeGreaterThan(1);
  // An attacker with write access to the database swaps the facts of two tokens.
  await runtime.database.write.update(exchangeTokens).set({ sealed: rows.at(-1)?.sealed ?? Buffer.of() });
  const opened = await Promise.allSettled([first, second].map((token) => findExchangeToken(scope(), token)));
  expect(opened.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("A47 a verifier matches only its own challenge, by S256", () => {
  const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  // RFC 7636, appendix B
  const codeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
  expect(codeChallengeOf(verifier)).toBe(codeChallenge);
  expect(isValidVerifier({ codeChallenge }, verifier)).toBe(true);
  for (const wrong of [undefined, "", codeChallenge, verifier.slice(1), `${verifier}=`, "v".repeat(43)])
    expect(isValidVerifier({ codeChallenge }, wrong)).toBe(false);
  // The plain method of RFC 7636, 4.2.
  expect(isValidVerifier({ codeChallenge: verifier }, verifier)).toBe(false);
  expect(isValidVerifier({}, undefined)).toBe(true);
});
