import { randomUUID } from "node:crypto";
import { desc, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { lockUser } from "../../identity/lock-user.ts";
import { endOtherSessions } from "../../sessions/sessions.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** Devices without a browser, and what is stored of their users' answers. */

const scopes = ["openid", "email"];
const settings = {
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_DEVICE_FLOW: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    tv: { name: "TV", grants: ["device_code"], scopes },
    reader: { name: "A reader", grants: ["device_code"], scopes, first_party: false },
  }),
};
const runtime = await runtimeForTests({
  ...settings,
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_RATE_LIMITER_DEVICE_CODES_PER_HOUR: "3",
});

interface Codes {
  device_code: string;
  user_code: string;
}

async function ask(client_id: string, scope = "openid email"): Promise<Codes> {
  const answer = await visitor(runtime).submit("/oauth/device", { client_id, scope });
  return (await answer.json()) as Codes;
}

const newVisitor = async () => (await restRegistration(runtime, `${randomUUID()}@example.com`)).visitor;

/** The question about a device. */
async function enter(browser: Visitor, { user_code }: Codes) {
  const flow = await restWalk(runtime, "consent", browser);
  await flow.act("device_code_verify", { user_code });
  return flow;
}

async function poll(client_id: string, { device_code }: Codes) {
  const form = { client_id, device_code, grant_type: "urn:ietf:params:oauth:grant-type:device_code" };
  const answer = await visitor(runtime).submit("/oauth/token", form);
  return (await answer.json()) as { error?: string; access_token?: string };
}

const consents = () => runtime.database.read.select().from(schema.openidConsents);

test("what a device of others was allowed is stored with its user, and that of the operator's own is not", async () => {
  const browser = await newVisitor();
  for (const client of ["tv", "reader"]) {
    const codes = await ask(client);
    await (await enter(browser, codes)).act("consent_allow");
    expect((await poll(client, codes)).access_token).toEqual(expect.any(String));
  }
  expect(await consents()).toMatchObject([{ clientId: "reader", allowed: { scopes } }]);
  const [{ userId = "" } = {}] = await consents();
  const trail = await auditTrail(runtime, userId);
  expect(trail.filter(([type]) => type === "consent_given")).toEqual([
    ["consent_given", { client_id: "tv", scopes, claims: [], device: true }],
    ["consent_given", { client_id: "reader", scopes, claims: [], device: true }],
  ]);
});

test("A229 a device is answered once: an answer after it changes nothing", async () => {
  const codes = await ask("tv");
  const [one, other] = [await enter(await newVisitor(), codes), await enter(await newVisitor(), codes)];
  expect((await one.act("consent_deny")).name).toBe("consent_answered");
  expect((await other.act("consent_allow")).name).toBe("error");
  expect((await poll("tv", codes)).error).toBe("access_denied");
});

test("A229 of five users who answer a device at once, one has answered", async () => {
  const codes = await ask("tv");
  const flows = [];
  for (let user = 0; user < 5; user += 1) flows.push(await enter(await newVisitor(), codes));
  const states = await Promise.all(flows.map((flow) => flow.act("consent_allow")));
  expect(states.filter(({ name }) => name === "consent_answered")).toHaveLength(1);
  expect(states.filter(({ name }) => name === "error")).toHaveLength(4);
});

test("A229 a user may enter as many codes as the limit says, wrong ones included, and other users theirs", async () => {
  const flow = await restWalk(runtime, "consent", await newVisitor());
  for (let tries = 0; tries < 3; tries += 1)
    expect((await flow.act("device_code_verify", { user_code: "BCDF-GHJK" })).status).toBe(400);
  const { user_code } = await ask("tv");
  expect((await flow.act("device_code_verify", { user_code })).status).toBe(429);
  expect((await enter(await newVisitor(), { user_code, device_code: "" })).state.name).toBe("consent");
});

test("A218 a device is not signed in by a session that ends while its user answers", async () => {
  const codes = await ask("tv");
  const flow = await enter(await newVisitor(), codes);
  const [session] = (await runtime.database.read.select().from(schema.sessions)).toSorted(
    (one, other) => other.createdAt.getTime() - one.createdAt.getTime(),
  );
  const { userId = "" } = session ?? {};
  let answered: Promise<unknown> | undefined;
  await runtime.database.write.transaction(async (tx) => {
    await lockUser(tx, runtime.tenant.id, userId);
    answered = flow.act("consent_allow");
    // It has been judged, and its write waits for the account.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const end = endOtherSessions({ runtime, tenant: runtime.tenant }, userId, "session.delete.admin.revoke");
    await end(tx);
  });
  expect(await answered).toMatchObject({ name: "error" });
  expect((await poll("tv", codes)).error).toBe("authorization_pending");
});

test("a code that has expired while its question was shown is not answered", async () => {
  const codes = await ask("tv");
  const flow = await enter(await newVisitor(), codes);
  await runtime.database.write
    .update(schema.openidArtifacts)
    .set({ expiresAt: new Date(Date.now() - 1) })
    .where(eq(schema.openidArtifacts.kind, "DeviceCode"));
  expect((await flow.act("consent_allow")).name).toBe("error");
  const again = await restWalk(runtime, "consent", flow.visitor);
  expect((await again.act("device_code_verify", { user_code: codes.user_code })).status).toBe(400);
});

test("A260 a device that asks too soon is told to slow down, and that its pause is longer from then on", async () => {
  const codes = await ask("tv");
  const errors: (string | undefined)[] = [];
  for (const pause of [0, 0, 6, 15, 4, 20]) {
    runtime.advanceClock(pause);
    errors.push((await poll("tv", codes)).error);
  }
  const [pending, slower] = ["authorization_pending", "slow_down"];
  // After each `slow_down` the pause is five seconds longer: 5, 10, 15, 20.
  expect(errors).toEqual([pending, slower, slower, pending, slower, pending]);
});

test("A260 of fifty requests of a device at once one is answered, and after a minute the next one", async () => {
  const codes = await ask("tv");
  const answers = await Promise.all(Array.from({ length: 50 }, () => poll("tv", codes)));
  const errors = answers.map(({ error }) => error);
  expect(errors.filter((error) => error === "authorization_pending")).toHaveLength(1);
  expect(errors.filter((error) => error === "slow_down")).toHaveLength(49);
  runtime.advanceClock(60);
  expect((await poll("tv", codes)).error).toBe("authorization_pending");
});

test("A292 a device that asks more than twenty times in a minute costs nothing more, and is heard after it", async () => {
  const codes = await ask("tv");
  const asks = (times: number) => Promise.all(Array.from({ length: times }, () => poll("tv", codes)));
  const moved = async () => {
    const { openidArtifacts } = schema;
    const [row] = await runtime.database.read
      .select({ version: sql`xmin::text`, polledAt: openidArtifacts.polledAt })
      .from(openidArtifacts)
      .where(eq(openidArtifacts.kind, "DeviceCode"))
      .orderBy(desc(openidArtifacts.createdAt))
      .limit(1);
    return row;
  };
  await asks(20);
  const before = await moved();
  expect((await asks(30)).every(({ error }) => error === "slow_down")).toBe(true);
  expect(await moved()).toEqual(before);
  runtime.advanceClock(60);
  await (await enter(await newVisitor(), codes)).act("consent_allow");
  expect((await poll("tv", codes)).access_token).toEqual(expect.any(String));
});

test("A260 a device whose user has answered is not told to slow down, and another device neither", async () => {
  const [codes, others] = [await ask("tv"), await ask("tv")];
  expect((await poll("tv", codes)).error).toBe("authorization_pending");
  expect((await poll("tv", others)).error).toBe("authorization_pending");
  await (await enter(await newVisitor(), codes)).act("consent_allow");
  expect((await poll("tv", codes)).access_token).toEqual(expect.any(String));
});

test("the grant of a device ends with its code until it has fetched its tokens, and lasts for a year then", async () => {
  const codes = await ask("tv");
  await (await enter(await newVisitor(), codes)).act("consent_allow");
  const { openidArtifacts } = schema;
  const rowOf = async (kind: string) => {
    const rows = await runtime.database.read
      .select()
      .from(openidArtifacts)
      .where(eq(openidArtifacts.kind, kind))
      .orderBy(desc(openidArtifacts.createdAt));
    return rows[0];
  };
  const before = await rowOf("Grant");
  expect(before?.expiresAt).toEqual((await rowOf("DeviceCode"))?.expiresAt);
  expect((await poll("tv", codes)).access_token).toEqual(expect.any(String));
  const after = await rowOf("Grant");
  expect(after?.idHash).toBe(before?.idHash);
  expect(Number(after?.expiresAt) - Number(after?.createdAt)).toBe(365 * 86_400_000);
});

test("the code that a device shows is in the database as a hash alone", async () => {
  const { user_code, device_code } = await ask("tv");
  const rows = await runtime.database.read.select().from(schema.openidArtifacts);
  const text = JSON.stringify(rows.map((row) => ({ ...row, payload: row.payload.toString("latin1") })));
  expect(text).not.toContain(user_code.replace("-", ""));
  expect(text).not.toContain(device_code);
});

test("where it is off, no device gets a code and no user is asked for one", async () => {
  const off = runtime.configured({ STILE_OPENID_DEVICE_FLOW: "false" });
  const answer = await visitor(off).submit("/oauth/device", { client_id: "tv" });
  expect(answer.status).toBe(404);
  const browser = visitor(off);
  for (const [name, value] of (await newVisitor()).cookies) browser.cookies.set(name, value);
  expect((await browser.post("/consent")).status).toBe(410);
  const page = await browser.request("/device", { headers: { accept: "text/html" } });
  expect(page.headers.get("location")).toBe("/");
});
