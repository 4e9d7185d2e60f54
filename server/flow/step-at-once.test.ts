import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { password, restRegistration, restWalk } from "../testing/rest-walk.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import type { StateName } from "./names.ts";
import { createRememberedFlows } from "./remembered-flows.ts";
import { states } from "./states/index.ts";

const runtime = await runtimeForTests({ STILE_MFA_ENABLED: "false" });
const { database } = runtime;
const { flows, emails, users } = schema;

/** A login of an account that is asked how it wants to sign in. */
async function choosing(server: TestRuntime = runtime, as = visitor(server)) {
  const email = `${randomUUID()}@example.com`;
  await restRegistration(runtime, email);
  const login = await restWalk(server, "login", as);
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  const choice = login.state.actions.continue_to_password_login?.href ?? "";
  const id = new URL(choice, "http://stile.test").searchParams.get("action")?.split("@")[1] ?? "";
  return {
    email,
    login,
    id,
    choice,
    /** Presses the button with the token that the page holds. */
    press: (other: TestRuntime = server) =>
      visitor(other).post(choice, { csrf_token: login.state.csrf_token, input_data: {} }),
    stored: async () => {
      const [row] = await database.read.select().from(flows).where(eq(flows.id, id));
      return { state: row?.state, version: row?.version, claim: row?.claim };
    },
  };
}

/** The same server, whose statements of flows are recorded by their names. */
function recording() {
  const sent: string[] = [];
  const recorded = { ...runtime, rememberedFlows: createRememberedFlows() };
  const { recall } = recorded.rememberedFlows;
  recorded.rememberedFlows.recall = (tokenHash, key) => {
    const flow = recall(tokenHash, key);
    sent.push(flow ? "remembered" : "forgotten");
    return flow;
  };
  return { recorded, sent };
}

// After a verified factor they are performed as any other step.
test("the choices are these, and which of them lead to a state that prepares nothing", () => {
  const choices = Object.values(states).flatMap(({ name, actions }) =>
    Object.entries(actions)
      .filter(([, action]) => action.chooses)
      .map(([action, { to }]) => {
        const preparesNothing = to.every((target) => !states[target as StateName].enter);
        return `${name} ${action}${preparesNothing ? " prepares nothing" : ""}`;
      }),
  );
  expect(choices.toSorted()).toEqual([
    "account_choice account_other",
    "login_authenticator continue_to_login_otp prepares nothing",
    "login_authenticator continue_to_login_security_key",
    "login_method_chooser continue_to_passcode_confirmation",
    "login_method_chooser continue_to_password_login prepares nothing",
    "login_method_chooser continue_to_phone_confirmation",
    "login_otp continue_to_login_authenticator",
    "login_otp continue_to_login_security_key",
    "login_password continue_to_passcode_confirmation_recovery",
    "login_security_key continue_to_login_authenticator",
    "login_security_key continue_to_login_otp prepares nothing",
    "login_sms continue_to_login_authenticator",
    "login_sms continue_to_login_otp prepares nothing",
    "login_sms continue_to_login_security_key",
  ]);
});

test("A202 fifty presses of one choice take one step", async () => {
  const { press, stored } = await choosing();
  const { version = 0 } = await stored();
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await press()).status));
  expect(statuses.filter((status) => status !== 403)).toEqual([200]);
  expect(await stored()).toEqual({ state: "login_password", version: version + 1, claim: null });
});

test("A202 a choice is refused while another step has claimed its flow", async () => {
  const { press, stored, id } = await choosing();
  const claim = { claim: randomUUID(), claimedBy: null, claimedUntil: new Date(Date.now() + 60_000) };
  await database.write.update(flows).set(claim).where(eq(flows.id, id));
  const before = await stored();
  expect((await press()).status).toBe(403);
  expect(await stored()).toEqual(before);
});

test("A202 a choice is refused with a token that another server has replaced, at the server that remembers it", async () => {
  const { press, stored } = await choosing();
  const other = { ...runtime, rememberedFlows: createRememberedFlows() };
  expect((await press(other)).status).toBe(200);
  const before = await stored();
  expect((await press()).status).toBe(403);
  expect(await stored()).toEqual(before);
});

test("A202 the token of a login steps no flow of another type", async () => {
  const { login, choice, stored } = await choosing();
  const before = await stored();
  for (const type of ["registration", "token_exchange"]) {
    const path = choice.replace("/login", `/${type}`);
    const body = { csrf_token: login.state.csrf_token, input_data: {} };
    expect((await visitor(runtime).post(path, body)).status).toBe(403);
  }
  expect(await stored()).toEqual(before);
});

test("a choice of a flow that has expired meanwhile is answered as any step of it", async () => {
  const { press, id } = await choosing();
  await database.write
    .update(flows)
    .set({ expiresAt: new Date(0) })
    .where(eq(flows.id, id));
  const answer = await press();
  expect([answer.status, await answer.json()]).toMatchObject([
    410,
    { error: { code: "flow_expired_error" } },
  ]);
});

test("A202 choices count towards the budget of their source, and wait when it is used up", async () => {
  const refusedIn = new Set<string>();
  // With one of two budgets in succession the step beyond it is a choice, with the other one the way back.
  for (const budget of [30, 31]) {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STEPS_PER_SOURCE: String(budget),
    });
    const { login } = await choosing(limited, visitor(limited, `198.51.100.${budget}`));
    let steps = 0;
    for (; login.response.status === 200 && steps < budget; steps += 1)
      await login.act(login.state.name === "login_password" ? "back" : "continue_to_password_login");
    expect(login.state.error?.code).toBe("rate_limit_exceeded");
    expect(steps).toBeGreaterThan(5);
    refusedIn.add(login.state.name);
  }
  expect(refusedIn).toEqual(new Set(["login_method_chooser", "login_password"]));
});

test("a choice after the account was deleted goes on as for an unknown one", async () => {
  const { press, email } = await choosing();
  const [owned] = await database.read.select().from(emails).where(eq(emails.address, email));
  await database.write.delete(users).where(eq(users.id, owned?.userId ?? ""));
  const unknown = await restWalk(runtime, "login");
  await unknown.act("register_client_capabilities");
  await unknown.act("continue_with_login_identifier", { email: `${randomUUID()}@example.com` });
  await unknown.act("continue_to_password_login");
  const answer = await press();
  const state = (await answer.json()) as typeof unknown.state;
  expect([answer.status, state.name, Object.keys(state.actions)]).toEqual([
    unknown.response.status,
    unknown.state.name,
    Object.keys(unknown.state.actions),
  ]);
});

test("the password is verified after choices back and forth, whose flow the server remembers", async () => {
  const { recorded, sent } = recording();
  const { login } = await choosing(recorded);
  await login.act("continue_to_password_login");
  await login.act("back");
  await login.act("continue_to_password_login");
  expect((await login.act("password_login", { password })).name).toBe("success");
  expect(sent).toEqual(["forgotten", "remembered", "remembered", "remembered", "remembered", "remembered"]);
});
