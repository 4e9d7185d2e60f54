import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { chooseMethod, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** What is stored of the clients that a session has signed its user in to, which are told when it ends. */

const returnTo = "https://shop.example.com/callback";
const client = { redirect_uris: [returnTo], scopes: ["openid", "email"] };
const told = { ...client, backchannel_logout_uri: "https://shop.example.com/signed-out" };
const clientsOf = (shop: object) => ({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_DEVICE_FLOW: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { ...shop, name: "Shop" },
    reader: { ...told, name: "A reader", first_party: false },
    tv: { name: "TV", grants: ["device_code"], scopes: ["openid"] },
  }),
});
const runtime = await runtimeForTests(clientsOf(told));

async function newVisitor() {
  const email = `${randomUUID()}@example.com`;
  return { email, browser: (await restRegistration(runtime, email)).visitor };
}

/** Sends a browser to a client's request. */
async function ask(browser: Visitor, client_id: string): Promise<URL> {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  return new URL(answer.headers.get("location") ?? "");
}

const signIn = async (browser: Visitor, clientId: string) =>
  expect((await ask(browser, clientId)).searchParams.get("code")).not.toBeNull();

const at = (other: TestRuntime, browser: Visitor): Visitor => {
  const same = visitor(other);
  for (const [name, value] of browser.cookies) same.cookies.set(name, value);
  return same;
};

/** The rows that are there beside those of before. */
async function rowsSince<Result>(act: () => Promise<Result>) {
  const all = () => runtime.database.read.select().from(schema.openidSignIns);
  const before = new Set((await all()).map(({ sid }) => sid));
  await act();
  return (await all()).filter(({ sid }) => !before.has(sid));
}

test("a session has one row for a client, however often and from however many tabs it signs in", async () => {
  const { browser } = await newVisitor();
  const rows = await rowsSince(async () => {
    await Promise.all(Array.from({ length: 10 }, () => ask(browser, "shop")));
    await signIn(browser, "shop");
  });
  expect(rows).toMatchObject([{ clientId: "shop", sessionId: expect.any(String) }]);
});

test("access that is ended and allowed again adds no row", async () => {
  const { browser } = await newVisitor();
  const rows = await rowsSince(async () => {
    for (let time = 0; time < 3; time += 1) {
      const page = await ask(browser, "reader");
      const request = page.searchParams.get("request") ?? "";
      const flow = await restWalk(runtime, "consent", browser, { request });
      await flow.act("consent_allow");
      await browser.request(new URL(String(flow.state.payload.redirect_url)).pathname);
      const account = await restWalk(runtime, "profile", browser);
      await account.act("register_client_capabilities");
      await account.act("application_revoke", { application_id: "reader" });
    }
  });
  expect(rows).toHaveLength(1);
});

test("a client that is to be told from now on is told of a session that it was signed in by before", async () => {
  const { browser } = await newVisitor();
  const before = runtime.configured(clientsOf(client));
  expect(await rowsSince(() => signIn(at(before, browser), "shop"))).toEqual([]);
  expect(await rowsSince(() => signIn(browser, "shop"))).toMatchObject([{ clientId: "shop" }]);
});

test("a user who signs in again in the same browser stays signed in to the clients, by the same name", async () => {
  const { email, browser } = await newVisitor();
  const [row] = await rowsSince(() => signIn(browser, "shop"));
  const login = await restWalk(runtime, "login", browser);
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await chooseMethod(login, "continue_to_password_login");
  expect((await login.act("password_login", { password })).name).toBe("success");
  expect(await rowsSince(() => signIn(browser, "shop"))).toEqual([]);
  const ofClient = await runtime.database.read
    .select()
    .from(schema.openidSignIns)
    .where(eq(schema.openidSignIns.sid, row?.sid ?? ""));
  expect(ofClient).toMatchObject([{ sessionId: expect.any(String) }]);
  expect(ofClient[0]?.sessionId).not.toBe(row?.sessionId);
});

test("another user who signs in in the same browser is signed in to none, and the clients are told", async () => {
  const [first, second] = [await newVisitor(), await newVisitor()];
  const [row] = await rowsSince(() => signIn(first.browser, "shop"));
  const login = await restWalk(runtime, "login", first.browser);
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email: second.email });
  await chooseMethod(login, "continue_to_password_login");
  expect((await login.act("password_login", { password })).name).toBe("success");
  const [left] = await runtime.database.read
    .select()
    .from(schema.openidSignIns)
    .where(eq(schema.openidSignIns.sid, row?.sid ?? ""));
  expect(left).toMatchObject({ sessionId: null });
});

describe("the account page", () => {
  async function applications(browser: Visitor) {
    const account = await restWalk(runtime, "profile", browser);
    await account.act("register_client_capabilities");
    return account.state.payload.applications as { id: string }[];
  }

  test("names no device that has never asked for its tokens", async () => {
    const { browser } = await newVisitor();
    const codes = await visitor(runtime).submit("/oauth/device", { client_id: "tv", scope: "openid" });
    const { user_code } = (await codes.json()) as { user_code: string };
    const flow = await restWalk(runtime, "consent", browser);
    await flow.act("device_code_verify", { user_code });
    await flow.act("consent_allow");
    expect(await applications(browser)).toMatchObject([{ id: "tv" }]);
    await runtime.database.write
      .delete(schema.openidArtifacts)
      .where(eq(schema.openidArtifacts.kind, "DeviceCode"));
    expect(await applications(browser)).toEqual([]);
  });

  test("names an application of the operator's own for as long as its user is signed in", async () => {
    const { browser } = await newVisitor();
    await signIn(browser, "shop");
    expect(await applications(browser)).toMatchObject([{ id: "shop" }]);
  });
});
