import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { FlowState } from "../../flow/wire.ts";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** Flows of components that stand in pages of applications: an authorization code in place of the session. */

const runtime = await runtimeForTests();

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = { code_challenge: codeChallengeOf(verifier) };
const newAddress = () => `${randomUUID()}@example.com`;

/** Signs in by password, with a code challenge. */
async function signIn(
  email: string,
  { as = visitor(runtime), on = runtime }: { as?: Visitor; on?: TestRuntime } = {},
): Promise<FlowState> {
  const walk = await restWalk(on, "login", as, challenge);
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  await walk.act("continue_to_password_login");
  return walk.act("password_login", { password });
}

async function newAccount(): Promise<string> {
  const email = newAddress();
  await restRegistration(runtime, email);
  return email;
}

const codeOf = ({ payload }: FlowState) => String(payload.authorization_code);
const redeem = (code: string, { codeVerifier = verifier, as = visitor(runtime) } = {}) =>
  as.post("/token", { code, code_verifier: codeVerifier });

describe("a flow that is started with a code challenge", () => {
  test("ends with a code that the application's server redeems, and with no session in the browser", async () => {
    const email = await newAccount();
    const browser = visitor(runtime);
    const walk = await restWalk(runtime, "login", browser, challenge);
    await walk.act("register_client_capabilities");
    await walk.act("continue_with_login_identifier", { email });
    await walk.act("continue_to_password_login");
    const state = await walk.act("password_login", { password });
    expect(state).toMatchObject({
      name: "success",
      payload: { authorization_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
    });
    expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^stile-marks-/)]);
    for (const header of ["x-auth-token", "x-session-lifetime", "x-session-retention"])
      expect(walk.response.headers.get(header)).toBeNull();

    const answer = await redeem(codeOf(state));
    expect(answer.status).toBe(200);
    const { session_token, user_id, expiration_time } = await answer.json();
    const { claims } = state.payload as { claims: { subject: string; session_id: string } };
    expect(user_id).toBe(claims.subject);
    expect(Date.parse(expiration_time)).toBeGreaterThan(Date.now());
    const validated = await visitor(runtime).post("/sessions/validate", { session_token });
    expect(await validated.json()).toMatchObject({
      is_valid: true,
      claims: { session_id: claims.session_id },
    });
  });

  test("passes a registration on", async () => {
    const email = newAddress();
    const walk = await restWalk(runtime, "registration", visitor(runtime), challenge);
    await walk.act("register_client_capabilities");
    await walk.act("register_login_identifier", { email });
    await walk.act("verify_passcode", { code: mailedCode(runtime, email) });
    const state = await walk.act("register_password", { new_password: password });
    expect(walk.visitor.cookies.has("service")).toBe(false);
    expect((await redeem(codeOf(state))).status).toBe(200);
  });

  test("sends no token in a header where the tenant sends tokens in headers", async () => {
    const configured = runtime.configured({ STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" });
    const walk = await restWalk(configured, "login", visitor(configured), challenge);
    await walk.act("register_client_capabilities");
    await walk.act("continue_with_login_identifier", { email: await newAccount() });
    await walk.act("continue_to_password_login");
    await walk.act("password_login", { password });
    expect(walk.response.headers.get("x-auth-token")).toBeNull();
    expect(walk.state.payload.authorization_code).toBeDefined();
  });

  test("keeps the session that the browser had", async () => {
    const { visitor: browser } = await restRegistration(runtime, newAddress());
    const before = browser.cookies.get("service");
    await signIn(await newAccount(), { as: browser });
    expect(browser.cookies.get("service")).toBe(before);
    expect((await browser.request("/me")).status).toBe(200);
  });

  test("stores its code as a hash, and nowhere in the flow", async () => {
    const state = await signIn(await newAccount());
    const { claims } = state.payload as { claims: { session_id: string } };
    const flows = await runtime.database.read
      .select()
      .from(schema.flows)
      .where(eq(schema.flows.sessionId, claims.session_id));
    expect(flows).toHaveLength(1);
    expect(JSON.stringify(flows)).not.toContain(codeOf(state));
  });

  test.each([
    "code_challenge=",
    "code_challenge=short",
    `code_challenge=${"x".repeat(44)}`,
    `code_challenge=${challenge.code_challenge}&code_challenge=${challenge.code_challenge}`,
    `code_challenge=${challenge.code_challenge}&code_challenge_method=plain`,
  ])("A47 is refused for a malformed challenge: %s", async (query) => {
    for (const path of ["/login", "/registration"]) {
      const response = await visitor(runtime).post(`${path}?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        name: "error",
        actions: {},
        error: { code: "form_data_invalid_error" },
      });
    }
  });
});

describe("A47 a code of a flow", () => {
  test("is consumed by a wrong verifier", async () => {
    const code = codeOf(await signIn(await newAccount()));
    expect((await redeem(code, { codeVerifier: "x".repeat(43) })).status).toBe(400);
    expect((await redeem(code)).status).toBe(400);
  });

  test("is redeemed once", async () => {
    const code = codeOf(await signIn(await newAccount()));
    expect((await redeem(code)).status).toBe(200);
    expect((await redeem(code)).status).toBe(400);
  });

  test("is redeemed by one of twenty requests at once", async () => {
    const code = codeOf(await signIn(await newAccount()));
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("expires after sixty seconds", async () => {
    const [early, late] = [await newAccount(), await newAccount()];
    const inTime = codeOf(await signIn(early));
    runtime.advanceClock(58);
    expect((await redeem(inTime)).status).toBe(200);
    const code = codeOf(await signIn(late));
    runtime.advanceClock(60);
    expect((await redeem(code)).status).toBe(400);
  });

  test("is unknown to another tenant", async () => {
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const other = await runtime.tenants.byId(id);
    if (!other) throw new Error("the created tenant was not found");
    const code = codeOf(await signIn(await newAccount()));
    expect((await redeem(code, { as: tenantVisitor(runtime, other) })).status).toBe(400);
    expect((await redeem(code)).status).toBe(200);
  });

  test("was sent to no address, so one that names an address is refused", async () => {
    const code = codeOf(await signIn(await newAccount()));
    const named = await visitor(runtime).post("/token", {
      code,
      code_verifier: verifier,
      redirect_to: "https://evil.example/",
    });
    expect(named.status).toBe(400);
  });
});

test("a flow without a code challenge ends with the session cookie and no code", async () => {
  const { state, visitor: browser } = await restRegistration(runtime, newAddress());
  expect(state.payload).not.toHaveProperty("authorization_code");
  expect(browser.cookies.get("service")).toBeDefined();
});
