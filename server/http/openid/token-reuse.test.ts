import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { decodeJwt } from "jose";
import { beforeEach, expect, test } from "vitest";
import { endSession } from "../../sessions/sessions.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { storedEvents, storeWebhook } from "../../testing/emitted-events.ts";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restRegistration } from "../../testing/rest-walk.ts";
import { testClient } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** What is told of a code or refresh token that is presented a second time. */

const returnTo = "https://shop.example.com/callback";
const client = { redirect_uris: [returnTo], scopes: ["openid", "email"] };
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { ...client, name: "Shop" },
    other: { ...client, name: "Other" },
  }),
});
await storeWebhook(runtime);

let before = 0;
beforeEach(async () => {
  before = (await storedEvents(runtime)).at(-1)?.sequence ?? 0;
});

const refusals = async () =>
  (await storedEvents(runtime, before)).flatMap(({ name, data }) =>
    name === "oauth.token.refused" ? [data] : [],
  );

/** A code for the shop. */
async function newCode(): Promise<{ code: string; browser: Visitor }> {
  const { visitor: browser } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  const query = new URLSearchParams({
    client_id: "shop",
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  const { searchParams } = new URL(answer.headers.get("location") ?? "");
  return { code: searchParams.get("code") ?? "", browser };
}

async function call(form: Record<string, string>) {
  const answer = await visitor(runtime).submit("/oauth/token", { client_id: "shop", ...form });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

const redeem = (code: string, more = {}) =>
  call({
    grant_type: "authorization_code",
    code,
    redirect_uri: returnTo,
    code_verifier: "v".repeat(43),
    ...more,
  });

const refresh = (refresh_token = "", more = {}) =>
  call({ grant_type: "refresh_token", refresh_token, ...more });

test("A208 a refresh token that is used a second time is told once, with the user and the client", async () => {
  const { code } = await newCode();
  const { body } = await redeem(code);
  expect((await refresh(body.refresh_token)).status).toBe(200);
  expect(await refusals()).toEqual([]);
  for (let time = 0; time < 3; time += 1) expect((await refresh(body.refresh_token)).status).toBe(400);
  const [told, ...more] = await refusals();
  expect(more).toEqual([]);
  expect(told).toEqual({
    user_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    client_id: "shop",
    kind: "refresh_token",
    reason: "reused",
  });
  const trail = await auditTrail(runtime, String(told?.user_id));
  expect(trail.filter(([type]) => type === "token_reused")).toEqual([
    ["token_reused", { client_id: "shop", kind: "refresh_token" }],
  ]);
});

test("A209 a code that is redeemed a second time is told", async () => {
  const { code } = await newCode();
  expect((await redeem(code)).status).toBe(200);
  expect((await redeem(code)).status).toBe(400);
  expect(await refusals()).toMatchObject([{ client_id: "shop", kind: "authorization_code" }]);
});

test("A208 a refresh token that is used twenty times at once is told, however many lose", async () => {
  const { code } = await newCode();
  const { body } = await redeem(code);
  await Promise.all(Array.from({ length: 20 }, () => refresh(body.refresh_token)));
  const told = await refusals();
  expect(told.length).toBeGreaterThanOrEqual(1);
  expect(new Set(told.map((one) => one?.kind))).toEqual(new Set(["refresh_token"]));
});

test("a refresh token whose session ends meanwhile is refused, and no reuse is told", async () => {
  const { code, browser } = await newCode();
  const { body } = await redeem(code);
  const { session_id } = decodeJwt(browser.cookies.get("service") ?? "");
  const client = { runtime, tenant: runtime.tenant, client: testClient };
  let renewal: ReturnType<typeof refresh> | undefined;
  await runtime.database.write.transaction(async (tx) => {
    await tx.execute(sql`select from sessions where id = ${session_id} for update`);
    renewal = refresh(body.refresh_token);
    await eventually(async () => {
      const { rowCount } = await runtime.database.read.execute(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      if (!rowCount) throw new Error("the refresh does not wait for the session yet");
    });
    await endSession(client, String(session_id), "session.delete.explicit.logout")(tx);
  });
  const answer = await renewal;
  expect(answer).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect(await refusals()).toEqual([]);
});

test("a pushed request that is used six times at once gives one code, and refusals give none", async () => {
  const { browser } = await newCode();
  const pushed = await visitor(runtime).submit("/oauth/par", {
    client_id: "shop",
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
  });
  const { request_uri } = (await pushed.json()) as { request_uri: string };
  const query = new URLSearchParams({ client_id: "shop", request_uri });
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => browser.request(`/oauth/authorize?${query}`)),
  );
  const codes = answers.flatMap(({ headers }) => {
    const location = headers.get("location");
    return (location && new URL(location).searchParams.get("code")) ?? [];
  });
  expect(codes).toHaveLength(1);
  expect((await redeem(codes[0] ?? "")).status).toBe(200);
});

test("what another client presents, and what no one knows, is not told", async () => {
  const { code } = await newCode();
  const { body } = await redeem(code);
  await refresh(body.refresh_token);
  for (const answer of [
    await refresh(body.refresh_token, { client_id: "other" }),
    await redeem("unknown"),
    await refresh("unknown"),
  ])
    expect(answer.status).toBe(400);
  expect(await refusals()).toEqual([]);
});
