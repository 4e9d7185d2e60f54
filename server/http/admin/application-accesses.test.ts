import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** What operators see of the accesses of applications to accounts, and how they end them. */

const returnTo = "https://app.example.com/callback";
const verifier = "v".repeat(43);
const client = {
  redirect_uris: [returnTo],
  scopes: ["openid", "email", "offline_access"],
};
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_REGISTRATION: "open",
  STILE_OPENID_CLIENTS: JSON.stringify({
    own: { ...client, name: "Our own" },
    reader: { ...client, name: "A reader", first_party: false },
  }),
});
const { call } = await adminOperator(runtime);

/** A new user with the browser that is signed in. */
async function newUser(): Promise<{ id: string; email: string; browser: Visitor }> {
  const email = `${randomUUID()}@example.com`;
  const { visitor: browser, state } = await restRegistration(runtime, email);
  return { id: (state.payload.claims as { subject: string }).subject, email, browser };
}

/** Signs a user on to an application, who allows what it asks for. */
async function signOn(browser: Visitor, client_id: string): Promise<{ refresh_token: string }> {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email offline_access",
    prompt: "consent",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  let to = new URL(answer.headers.get("location") ?? "");
  if (to.pathname === "/consent") {
    const flow = await restWalk(runtime, "consent", browser, {
      request: to.searchParams.get("request") ?? "",
    });
    await flow.act("consent_allow");
    const resume = new URL(String(flow.state.payload.redirect_url)).pathname;
    to = new URL((await browser.request(resume)).headers.get("location") ?? "");
  }
  const code = to.searchParams.get("code") ?? "";
  return redeem({
    client_id,
    grant_type: "authorization_code",
    code,
    redirect_uri: returnTo,
    code_verifier: verifier,
  });
}

async function redeem(parameters: Record<string, string>) {
  const answer = await visitor(runtime).submit("/oauth/token", parameters);
  return { status: answer.status, ...(await answer.json()) };
}

const applicationsOf = async (id: string) => (await call("GET", `/users/${id}/applications`)).body;

describe("an operator", () => {
  test("sees what a user has allowed an application, and the tokens that it holds", async () => {
    const user = await newUser();
    expect(await applicationsOf(user.id)).toEqual([]);
    await signOn(user.browser, "reader");
    const [shown, ...more] = await applicationsOf(user.id);
    expect(more).toEqual([]);
    expect(shown).toEqual({
      id: "reader",
      name: "A reader",
      origin: "listed",
      consent: {
        scopes: ["openid", "email", "offline_access"],
        claims: [],
        resources: {},
        expires_at: null,
      },
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      access_tokens: 1,
      refresh_tokens: 1,
    });
    await signOn(user.browser, "own");
    const both: { id: string; consent: unknown }[] = await applicationsOf(user.id);
    expect(both.map(({ id, consent }) => [id, consent === null])).toEqual([
      ["own", true],
      ["reader", false],
    ]);
  });

  test("ends the access of an application, whose tokens are rejected from then on and which has to ask again", async () => {
    const user = await newUser();
    const { refresh_token } = await signOn(user.browser, "reader");
    const other = await signOn(user.browser, "own");
    expect((await call("DELETE", `/users/${user.id}/applications/reader`)).status).toBe(204);
    expect((await applicationsOf(user.id)).map(({ id }: { id: string }) => id)).toEqual(["own"]);
    const refresh = { grant_type: "refresh_token", client_id: "reader", refresh_token };
    expect(await redeem(refresh)).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(await redeem({ ...refresh, client_id: "own", refresh_token: other.refresh_token })).toMatchObject({
      status: 200,
    });
    expect((await call("DELETE", `/users/${user.id}/applications/reader`)).status).toBe(404);
    const trail = await auditTrail(runtime, user.id);
    expect(trail.filter(([type]) => type === "consent_withdrawn")).toEqual([
      ["consent_withdrawn", expect.objectContaining({ by: "admin", client_id: "reader" })],
    ]);
  });

  test("sees the users of an application in pages, newest first", async () => {
    const users = [];
    for (const _ of Array(3)) {
      const user = await newUser();
      await signOn(user.browser, "reader");
      users.push(user);
    }
    const first = await call("GET", "/openid/clients/reader/grants?per_page=2");
    const newest: { user_id: string; email: string }[] = first.body;
    expect(newest.map(({ user_id }) => user_id)).toEqual([users[2]?.id, users[1]?.id]);
    expect(newest[0]?.email).toBe(users[2]?.email);
    const total = Number(first.headers.get("x-total-count"));
    expect(total).toBeGreaterThanOrEqual(4);
    const last = await call(
      "GET",
      `/openid/clients/reader/grants?per_page=2&page=${Math.ceil(total / 2) + 1}`,
    );
    expect([last.body, last.headers.get("x-total-count")]).toEqual([[], String(total)]);
    const byId = await call("GET", `/tenants/${runtime.tenant.id}/openid/clients/reader/grants`);
    expect(Number(byId.headers.get("x-total-count"))).toBe(total);
  });

  test("sees the applications that have registered themselves, also one of a former version, whose id is not stored", async () => {
    const metadata = { client_name: "Notes", redirect_uris: [returnTo], token_endpoint_auth_method: "none" };
    const register = async () =>
      (await (await visitor(runtime).post("/oauth/register", metadata)).json()).client_id;
    const ids = [await register(), await register()];
    await runtime.database.write
      .update(schema.openidArtifacts)
      .set({ clientId: null })
      .where(eq(schema.openidArtifacts.clientId, ids[0]));
    const listed = await call("GET", "/openid/unlisted_clients");
    expect(listed.headers.get("x-total-count")).toBe("2");
    expect(listed.body.map(({ id }: { id: string | null }) => id)).toEqual([ids[1], null]);
    expect(listed.body[0]).toMatchObject({
      origin: "registration",
      name: "Notes",
      redirect_uris: [returnTo],
      token_endpoint_auth_method: "none",
    });
    expect(listed.text).not.toContain("secret");
  });
});

test("A353 accesses are not shown or ended through another user or tenant, nor by a hostile client id", async () => {
  const [user, stranger] = [await newUser(), await newUser()];
  await signOn(user.browser, "reader");
  const other = await adminOperator(
    runtime,
    await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
  );
  expect((await other.call("GET", `/users/${user.id}/applications`)).status).toBe(404);
  expect((await other.call("DELETE", `/users/${user.id}/applications/reader`)).status).toBe(404);
  expect((await other.call("GET", "/openid/clients/reader/grants")).body).toEqual([]);
  expect((await other.call("GET", "/openid/unlisted_clients")).body).toEqual([]);
  for (const path of ["openid/clients/reader/grants", "openid/unlisted_clients"])
    expect((await other.call("GET", `/tenants/${runtime.tenant.id}/${path}`)).status).toBe(404);
  expect((await call("DELETE", `/users/${stranger.id}/applications/reader`)).status).toBe(404);
  for (const id of ["%00", "a%0ab", "%C3%A9", "x".repeat(513), "%27%3B--", "%25", "..%2Freader"]) {
    for (const [method, path] of [
      ["DELETE", `/users/${user.id}/applications/${id}`],
      ["GET", `/openid/clients/${id}/grants`],
    ] as const) {
      const { status, body } = await call(method, path);
      expect([path, status === 400 || status === 404 || (status === 200 && body.length === 0)]).toEqual([
        path,
        true,
      ]);
    }
  }
  expect(await applicationsOf(user.id)).toHaveLength(1);
});

test("A353 an access that is ended while its tokens are issued leaves none", async () => {
  const user = await newUser();
  await signOn(user.browser, "reader");
  const [{ refresh_token }] = await Promise.all([
    signOn(user.browser, "reader").catch(() => ({ refresh_token: "none" })),
    call("DELETE", `/users/${user.id}/applications/reader`),
    call("DELETE", `/users/${user.id}/applications/reader`),
  ]);
  // The later of both: the user may have allowed it again after the end.
  const again = await redeem({
    grant_type: "refresh_token",
    client_id: "reader",
    refresh_token: refresh_token ?? "none",
  });
  expect(again.status === 200).toBe((await applicationsOf(user.id)).length === 1);
});
