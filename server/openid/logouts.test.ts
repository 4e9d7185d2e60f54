import { eq, sql } from "drizzle-orm";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { accountOwner } from "../testing/account-owner.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { createLogouts } from "./logouts.ts";
import { recordSignIn } from "./sign-ins.ts";

const address = "https://shop.example.com/logout";
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: {
      name: "Shop",
      redirect_uris: ["https://shop.example.com/callback"],
      backchannel_logout_uri: address,
    },
  }),
});
const context = { runtime, tenant: runtime.tenant };
const logouts = createLogouts(runtime);

/** A session that has signed its user in to the shop. */
async function signIn(sid: string) {
  const { userId, sessionId } = await accountOwner(runtime);
  await recordSignIn(context, { clientId: "shop", sid, sessionId, userId });
  const end = () => runtime.database.write.delete(schema.sessions).where(eq(schema.sessions.id, sessionId));
  return { userId, sessionId, end };
}

const eventsOf = (sid: string) =>
  runtime.database.read.select().from(schema.events).where(sql`${schema.events.data} ->> 'sid' = ${sid}`);

test("nothing is delivered while a session lasts, and one delivery is made of its end, however many look for it", async () => {
  const { userId, end } = await signIn("one");
  expect(await logouts.deliver()).toBe(0);
  await end();
  const made = await Promise.all(Array.from({ length: 10 }, () => logouts.deliver()));
  expect(made.reduce((sum, count) => sum + count, 0)).toBe(1);
  const [event, ...others] = await eventsOf("one");
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    name: "oauth.logout",
    subjectId: null,
    data: { client_id: "shop", sub: userId, sid: "one" },
  });
  const deliveries = await runtime.database.read
    .select()
    .from(schema.webhookDeliveries)
    .where(eq(schema.webhookDeliveries.eventId, event?.id ?? ""));
  expect(deliveries).toMatchObject([{ webhook: "config:client:shop", state: "waiting", attempts: 0 }]);
});

test("the end of many sessions at once is delivered in parts, and none is lost", async () => {
  const { userId, sessionId, end } = await signIn("first of many");
  const row = { tenantId: runtime.tenant.id, clientId: "shop", sessionId, userId };
  const rows = Array.from({ length: 600 }, (_, index) => ({ ...row, sid: `many ${index}` }));
  await runtime.database.write.insert(schema.openidSignIns).values(rows);
  await end();
  const parts = [];
  for (let part = 0; part < 8; part += 1) parts.push(await logouts.deliver());
  expect(parts).toEqual([100, 100, 100, 100, 100, 100, 1, 0]);
});

test("a session that has ended meanwhile signs no user in to a client", async () => {
  const { userId, sessionId, end } = await signIn("ended");
  await end();
  await expect(recordSignIn(context, { clientId: "shop", sid: "late", sessionId, userId })).rejects.toThrow();
});

test("a client that is not configured any more, or of a provider that is off, is not told", async () => {
  const data = { client_id: "shop", sub: "user", sid: "session" };
  const now = new Date();
  const request = (settings: Record<string, string>) =>
    logouts.request(runtime.configured(settings).tenant, data, now);
  expect(await request({ STILE_OPENID_CLIENTS: "{}" })).toBeNull();
  expect(await request({ STILE_OPENID_ENABLED: "false" })).toBeNull();
  const made = await request({});
  expect(made?.callback).toBe(address);
  const token = new URLSearchParams(made?.body).get("logout_token") ?? "";
  expect(decodeJwt(token)).toMatchObject({ aud: "shop", sub: "user", sid: "session" });
});
