import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import {
  openThirdPartyRequest,
  THIRD_PARTY_REQUEST_SECONDS,
  takeThirdPartyRequest,
} from "./authorization-requests.ts";

const runtime = await runtimeForTests();

const request = () => ({
  flowId: randomUUID(),
  provider: "google",
  redirectTo: "https://app.example/",
  codeChallenge: "c".repeat(43),
  userId: randomUUID(),
  privateState: { nonce: "n" },
});

async function open(about = request(), tenant = runtime.tenant): Promise<string> {
  const { state, write } = openThirdPartyRequest({ runtime, tenant, now: new Date() }, about);
  await runtime.database.write.transaction(write);
  return state;
}

const take = (state: string, { tenant = runtime.tenant, later = 0 } = {}) =>
  takeThirdPartyRequest(runtime, tenant, state, new Date(Date.now() + later * 1000));

test("a request can be taken once, with everything it was opened with", async () => {
  const about = request();
  const state = await open(about);
  expect(await take(state)).toEqual(about);
  expect(await take(state)).toBeNull();
});

test("a request without a flow, a challenge and a user is taken without them", async () => {
  const { codeChallenge, userId, ...bare } = request();
  const about = { ...bare, flowId: null };
  const { state, write } = openThirdPartyRequest({ ...runtime, runtime, now: new Date() }, about);
  await runtime.database.write.transaction(write);
  expect(await take(state)).toEqual(about);
});

test("A47 one of fifty concurrent takes gets the request", async () => {
  const state = await open();
  const taken = await Promise.all(Array.from({ length: 50 }, () => take(state)));
  expect(taken.filter((found) => found !== null)).toHaveLength(1);
});

test("a request expires after ten minutes, and a late take deletes it", async () => {
  const [early, late] = [await open(), await open()];
  expect(await take(early, { later: THIRD_PARTY_REQUEST_SECONDS - 1 })).not.toBeNull();
  expect(await take(late, { later: THIRD_PARTY_REQUEST_SECONDS + 1 })).toBeNull();
  expect(await take(late)).toBeNull();
});

test("A68 another tenant cannot take a request, and does not use it up", async () => {
  const state = await open();
  expect(await take(state, { tenant: { id: randomUUID(), config: runtime.config } })).toBeNull();
  expect(await take(state)).not.toBeNull();
});

test("an unknown or malformed state finds no request", async () => {
  for (const state of ["", "x", "\0", "x".repeat(43), "💥"]) expect(await take(state)).toBeNull();
});
