import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { FlowState } from "../flow/wire.ts";
import { createTenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { createVault } from "../keys/vault.ts";
import { createApiKey } from "../tenants/api-keys.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { createTenants } from "../tenants/tenants.ts";
import { authenticatorApp } from "../testing/authenticator-app.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { mailedCode, password } from "../testing/rest-walk.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import { openThirdPartyRequest } from "../thirdparty/authorization-requests.ts";

/** Two servers of one database while the operator replaces the key of the configuration. */

const [old, fresh] = ["the key of last year", "the key of this year"];

const base = await runtimeForTests({
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_PASSKEY_ENABLED: "false",
});

interface Server extends TestRuntime {
  logged: string[];
}

/** A server with these keys. */
function serverWith(...secretKeys: string[]): Server {
  const logged: string[] = [];
  const { database, platform, tenant } = base;
  const log = pino({ level: "info" }, { write: (line: string) => logged.push(line) });
  const vault = createVault(secretKeys);
  const tenants = createTenants({ defaultTenant: tenant, database, vault });
  const signingKeys = createTenantSigningKeys({ database, vault, platform, log });
  return { ...base, vault, log, logged, tenants, signingKeys };
}

/** A flow over REST, each step at a server of choice. A refused step leaves the flow as it was. */
async function flowAt(server: Server, type: "login" | "registration") {
  let state = (await (await visitor(server).post(`/${type}`)).json()) as FlowState;
  return {
    get state() {
      return state;
    },
    async act(server: Server, action: string, input: Record<string, unknown> = {}) {
      const href = state.actions[action]?.href;
      if (!href) throw new Error(`${state.name} does not offer ${action}`);
      const response = await visitor(server).post(href, { csrf_token: state.csrf_token, input_data: input });
      const next = (await response.json()) as FlowState;
      if (next.name !== "error") state = next;
      return {
        status: response.status,
        code: next.error?.code,
        retryAfter: response.headers.get("retry-after"),
      };
    },
  };
}

type Flow = Awaited<ReturnType<typeof flowAt>>;

const newAddress = () => `${randomUUID()}@example.com`;
const unavailable = { status: 503, code: "technical_error", retryAfter: "1" };

/** Every attempt and failure that the database counts. */
async function counted(): Promise<number> {
  const { rows } = await base.database.read.$client.query(
    `select (select coalesce(sum(tries), 0) from passcodes)::int
       + (select coalesce(sum(window_count + consecutive), 0) from failures)::int as attempts`,
  );
  return rows[0].attempts;
}

async function upToCode(server: Server): Promise<{ flow: Flow; email: string }> {
  const email = newAddress();
  const flow = await flowAt(server, "registration");
  await flow.act(server, "register_client_capabilities");
  await flow.act(server, "register_login_identifier", { email });
  return { flow, email };
}

/** An account with a password, an authenticator app and recovery codes. */
async function withApp(server: Server) {
  const { flow, email } = await upToCode(server);
  await flow.act(server, "verify_passcode", { code: mailedCode(base, email) });
  await flow.act(server, "register_password", { new_password: password });
  await flow.act(server, "continue_to_otp_secret_creation");
  const app = authenticatorApp(String(flow.state.payload.otp_secret));
  await flow.act(server, "otp_code_verify", { otp_code: app.code(Date.now() + base.platform.clockShift()) });
  const codes = flow.state.payload.recovery_codes as string[];
  base.advanceClock(90);
  return { email, app, codes };
}

async function upToSecondFactor(server: Server, email: string): Promise<Flow> {
  const flow = await flowAt(server, "login");
  await flow.act(server, "register_client_capabilities");
  await flow.act(server, "continue_with_login_identifier", { email });
  await flow.act(server, "continue_to_password_login");
  await flow.act(server, "password_login", { password });
  expect(flow.state.name).toBe("login_otp");
  return flow;
}

/** The address of the QR code of an authenticator request that a server has made. */
async function pictureAt(server: Server): Promise<string> {
  const { key } = await createApiKey(server, base.tenant, { interface: "authenticator", name: "app" });
  const created = await visitor(server).post(
    "/authenticator/v1/uaf/requests",
    { operation: "REG", userId: "ada", username: "ada@example.com" },
    { authorization: `secret ${key}` },
  );
  const { links } = await created.json();
  const { href } = links.find(({ rel }: { rel: string }) => rel === "qrcode");
  return href.replace(base.config.base_url, "");
}

const now = () => Date.now() + base.platform.clockShift();

describe("A133 servers that both have both keys, each with another one first", () => {
  const [one, two] = [() => serverWith(fresh, old), () => serverWith(old, fresh)];

  test("accept each other's mailed codes", async () => {
    const { flow, email } = await upToCode(one());
    expect(await flow.act(two(), "verify_passcode", { code: mailedCode(base, email) })).toMatchObject({
      status: 200,
    });
    expect(flow.state.name).toBe("password_creation");
  });

  test("count the tries at a code together", async () => {
    const { flow, email } = await upToCode(one());
    const code = mailedCode(base, email) === "000000" ? "111111" : "000000";
    const tries: unknown[] = [];
    for (const server of [one(), two(), one(), two()])
      tries.push((await flow.act(server, "verify_passcode", { code })).code);
    expect(tries).toEqual([
      "form_data_invalid_error",
      "form_data_invalid_error",
      "passcode_max_attempts_reached",
      "passcode_max_attempts_reached",
    ]);
  });

  test("keep one code when the other one sends again", async () => {
    const { flow, email } = await upToCode(one());
    const first = mailedCode(base, email);
    base.advanceClock(120);
    await flow.act(two(), "resend_passcode");
    const second = mailedCode(base, email);
    expect((await flow.act(one(), "verify_passcode", { code: first })).status).toBe(
      first === second ? 200 : 400,
    );
    await flow.act(one(), "verify_passcode", { code: second });
    expect(flow.state.name).toBe("password_creation");
  });

  /** The hosted page in browsers with the same cookies, each at a server of its own. */
  async function sharedPage() {
    const [first, second] = [visitor(one()), visitor(two())];
    const ask = async (browser: typeof first, procedure: string, input: object) =>
      (await (await browser.mutate(`flow.${procedure}`, { type: "login", ...input })).json()).result.data
        .state;
    const step = { version: 1, action: "register_client_capabilities", input: {} };
    await ask(first, "start", {});
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
    return {
      first,
      second,
      step: () => ask(first, "act", step),
      current: (of: typeof first) => ask(of, "current", {}),
    };
  }

  test("give a tab that missed an answer the same secret that the other server gave", async () => {
    const { first, second, step, current } = await sharedPage();
    expect((await step()).name).toBe("login_init");
    expect(await current(second)).toMatchObject({ name: "login_init", status: 200 });
    expect(await current(first)).toMatchObject({ name: "login_init", status: 200 });
    expect(await current(second)).toMatchObject({ name: "login_init", status: 200 });
  });

  test("keep both tabs that ask for the state in the same moment", async () => {
    const { first, second, current } = await sharedPage();
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([current(first), current(second)]);
      expect(both.map(({ name }) => name)).toEqual(["preflight", "preflight"]);
    }
  });

  test("show each other's QR codes of authenticator requests", async () => {
    const picture = await pictureAt(one());
    expect((await visitor(two()).request(picture)).status).toBe(200);
    expect((await visitor(two()).request(`${picture.slice(0, -4)}AAAA`)).status).toBe(401);
  });

  test("accept each other's apps and recovery codes", async () => {
    const { email, app, codes } = await withApp(one());
    const byApp = await upToSecondFactor(two(), email);
    expect((await byApp.act(two(), "otp_code_validate", { otp_code: app.code(now()) })).status).toBe(200);
    const byCode = await upToSecondFactor(two(), email);
    const used = { recovery_code: codes[0] };
    expect((await byCode.act(two(), "recovery_code_validate", used)).status).toBe(200);
    const again = await upToSecondFactor(one(), email);
    expect((await again.act(one(), "recovery_code_validate", used)).status).toBe(400);
  });
});

describe("A133 a server that lacks the key of another one", () => {
  test("leaves a mailed code to the server that has it, and counts no try", async () => {
    const behind = serverWith(old);
    const { flow, email } = await upToCode(serverWith(fresh, old));
    const before = await counted();
    const code = mailedCode(base, email);
    for (let time = 0; time < 4; time++)
      expect(await flow.act(behind, "verify_passcode", { code })).toEqual(unavailable);
    expect(await counted()).toBe(before);
    expect(behind.logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 50, key: createVault([fresh]).keyIds[0] }),
    ]);
    expect((await flow.act(serverWith(fresh, old), "verify_passcode", { code })).status).toBe(200);
    expect(flow.state.name).toBe("password_creation");
  });

  test("sends no second code for one that it does not know", async () => {
    const ahead = serverWith(fresh, old);
    const { flow, email } = await upToCode(ahead);
    const mails = () => base.enqueued.filter(({ to }) => to === email).length;
    expect(await flow.act(ahead, "back")).toMatchObject({ status: 200 });
    expect(await flow.act(serverWith(old), "register_login_identifier", { email })).toEqual(unavailable);
    expect(mails()).toBe(1);
  });

  test("judges neither apps nor recovery codes, and counts no attempt", async () => {
    const [ahead, behind] = [serverWith(fresh, old), serverWith(old)];
    const { email, app, codes } = await withApp(ahead);
    const flow = await upToSecondFactor(behind, email);
    const before = await counted();
    for (let time = 0; time < 4; time++) {
      expect(await flow.act(behind, "otp_code_validate", { otp_code: app.code(now()) })).toEqual(unavailable);
      expect(await flow.act(behind, "otp_code_validate", { otp_code: app.wrongCode(now()) })).toEqual(
        unavailable,
      );
      const recovery_code = codes[time];
      expect(await flow.act(behind, "recovery_code_validate", { recovery_code })).toEqual(unavailable);
    }
    expect(await counted()).toBe(before);
    expect(behind.logged).toHaveLength(1);
    expect((await flow.act(ahead, "otp_code_validate", { otp_code: app.code(now()) })).status).toBe(200);
  });

  test("leaves the page's flow as it is", async () => {
    const server = serverWith(old);
    const [ahead, behind] = [visitor(serverWith(fresh, old)), visitor(server)];
    const ask = async (browser: typeof ahead, procedure: string, input: object) =>
      (await (await browser.mutate(`flow.${procedure}`, { type: "login", ...input })).json()).result.data;
    await ask(ahead, "start", {});
    for (const [name, value] of ahead.cookies) behind.cookies.set(name, value);
    const step = { version: 1, action: "register_client_capabilities", input: {} };
    for (const refused of [await ask(behind, "act", step), await ask(behind, "current", {})]) {
      expect(refused.state).toMatchObject({ status: 503, error: { detail_code: "temporarily_unavailable" } });
    }
    expect(behind.setCookies).toEqual([]);
    // Any client can present such a cookie, so it is no proof that something stored is out of reach.
    expect(server.logged.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: 40 })]);
    const { flow, email } = await upToCode(serverWith(fresh, old));
    await flow.act(server, "verify_passcode", { code: mailedCode(base, email) });
    expect(server.logged.map((line) => JSON.parse(line).level)).toEqual([40, 50]);
    expect((await ask(ahead, "act", step)).state).toMatchObject({ name: "login_init", status: 200 });
  });

  test("leaves a provider's answer to the server that has it, however often it is brought", async () => {
    const [ahead, behind] = [serverWith(fresh, old), serverWith(old)];
    const { database, tenant } = base;
    const request = {
      flowId: null,
      provider: "custom_acme",
      redirectTo: base.config.base_url,
      privateState: {},
    };
    const opened = openThirdPartyRequest({ runtime: ahead, tenant, now: new Date() }, request);
    await database.write.transaction(opened.write);
    for (let time = 0; time < 3; time++) {
      const refused = await visitor(behind).request(`/thirdparty/callback?state=${opened.state}&code=x`);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect(behind.logged).toHaveLength(1);
    const judged = await visitor(ahead).request(`/thirdparty/callback?state=${opened.state}&code=x`);
    expect(judged.status).toBe(303);
    expect(judged.headers.get("location")).not.toContain("expired");
  });

  test("does not judge the token of an authenticator request's page", async () => {
    const ahead = serverWith(fresh, old);
    const picture = await pictureAt(ahead);
    expect((await visitor(ahead).request(picture)).status).toBe(200);
    const refused = await visitor(serverWith(old)).request(picture);
    expect([refused.status, await refused.json()]).toEqual([503, expect.objectContaining({ code: 503 })]);
  });

  test("answers the passkey server's requests with 503 for a tenant whose secrets it cannot read", async () => {
    const [ahead, behind] = [serverWith(fresh, old), serverWith(old)];
    const settings = { third_party: { providers: { google: { client_id: "acme", secret: "hush" } } } };
    const acme = await createTenant(ahead, { name: "Acme", hosts: [], settings });
    const asked = [1, 2].map(() => visitor(behind).post(`/passkeys/${acme.id}/login/initialize`, {}));
    for (const refused of await Promise.all(asked))
      expect([refused.status, await refused.json()]).toEqual([503, expect.objectContaining({ status: 503 })]);
    expect(behind.logged).toHaveLength(1);
  });
});
