import { randomUUID } from "node:crypto";
import { eq, inArray, sum } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { failureSubject } from "../limits/failure-counters.ts";
import { counterRow } from "../limits/rate-limits.ts";
import { newTotpSecret, totpSealContext } from "../methods/totp/totp.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { authenticatorApp, toBase32 } from "../testing/authenticator-app.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { password } from "../testing/people.ts";
import { requestContext } from "../testing/request-context.ts";
import { mailedCode, restWalk } from "../testing/rest-walk.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import { createRememberedFlows } from "./remembered-flows.ts";

/** Choices that send a code, and TOTP codes: what they read and count is asked together with the claim. */

const runtime = await runtimeForTests({
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_RATE_LIMITER_STEPS_PER_SOURCE: "100000",
  STILE_RATE_LIMITER_STARTS_PER_MINUTE: "100000",
});
const { database, tenant, vault } = runtime;

const anotherServer = () => ({ ...runtime, rememberedFlows: createRememberedFlows() });

/** A login of an account that may have a code mailed. */
async function choosing(server: TestRuntime = runtime, as = visitor(server)) {
  const { addresses, userId } = await accountOwner(runtime, { password: true });
  const [email = ""] = addresses;
  const login = await restWalk(server, "login", as);
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  const { href = "" } = login.state.actions.continue_to_passcode_confirmation ?? {};
  return {
    email,
    userId,
    login,
    press: async (body: object = {}) => {
      const sent = { csrf_token: login.state.csrf_token, input_data: {}, ...body };
      return (await visitor(server).post(href, sent)).status;
    },
    mails: () => runtime.enqueued.filter(({ to }) => to === email).length,
    /** Tokens of the limits of codes for this address that were consumed in its hour and its day. */
    charged: async () => {
      const keys = [3600, 86_400].map((seconds) =>
        counterRow("passcode_identifier", seconds, `${tenant.id}/${email}`),
      );
      const { rateCounters } = schema;
      const [row] = await database.read
        .select({ points: sum(rateCounters.points).mapWith(Number) })
        .from(rateCounters)
        .where(inArray(rateCounters.key, keys));
      return row?.points ?? 0;
    },
  };
}

test("a choice that sends a code is answered alike by a server that has saved the flow and by another", async () => {
  for (const server of [runtime, anotherServer()]) {
    const { login, email, charged } = await choosing();
    const { href = "" } = login.state.actions.continue_to_passcode_confirmation ?? {};
    const body = { csrf_token: login.state.csrf_token, input_data: {} };
    const answer = await visitor(server).post(href, body);
    const waiting = (await answer.json()) as typeof login.state;
    expect([answer.status, waiting.name]).toEqual([200, "passcode_confirmation"]);
    expect(await charged()).toBe(2);
    const { href: verify = "" } = waiting.actions.verify_passcode ?? {};
    const entered = { csrf_token: waiting.csrf_token, input_data: { code: mailedCode(runtime, email) } };
    expect(await (await visitor(server).post(verify, entered)).json()).toMatchObject({ name: "success" });
  }
});

test("A204 fifty presses of a choice that sends a code send one, and are charged as one", async () => {
  const { press, mails, charged } = await choosing();
  const statuses = await Promise.all(Array.from({ length: 50 }, () => press()));
  expect(statuses.filter((status) => status !== 403)).toEqual([200]);
  expect([mails(), await charged()]).toEqual([1, 2]);
});

test("A204 a press with another token, or with an input that the choice does not take, is charged nothing", async () => {
  const { press, mails, charged, login } = await choosing();
  const { csrf_token } = login.state;
  const foreign = csrf_token.replace(/^./, (first) => (first === "a" ? "b" : "a"));
  expect(await press({ csrf_token: foreign })).toBe(403);
  expect(await press({ input_data: { email: "eve@example.com" } })).toBe(400);
  expect([mails(), await charged()]).toEqual([0, 0]);
});

test("A204 a choice beyond the budget of steps sends no code, and is charged none", async () => {
  const answers: (string | undefined)[] = [];
  // The smallest budgets end before the choice, greater ones with it.
  for (let budget = 1; answers.at(-1) !== "sent"; budget += 1) {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STEPS_PER_SOURCE: String(budget),
    });
    const { login, mails, charged } = await choosing(limited, visitor(limited, `203.0.113.${budget}`));
    if (login.state.name !== "login_method_chooser") continue;
    await login.act("continue_to_passcode_confirmation");
    const reached: string = login.state.name;
    const isSent = reached === "passcode_confirmation";
    answers.push(isSent ? "sent" : login.state.error?.code);
    expect([mails(), await charged()]).toEqual(isSent ? [1, 2] : [0, 0]);
  }
  expect(answers.length).toBeGreaterThan(1);
  expect(new Set(answers)).toEqual(new Set(["rate_limit_exceeded", "sent"]));
});

test("a choice after the current code sends no other one, and is charged none", async () => {
  const { login, mails, charged } = await choosing();
  await login.act("continue_to_passcode_confirmation");
  await login.act("back");
  await login.act("continue_to_passcode_confirmation");
  expect(login.state).toMatchObject({ name: "passcode_confirmation" });
  expect(login.state.error).toBeUndefined();
  expect([mails(), await charged()]).toEqual([1, 2]);
});

/** A login that waits for a code of TOTP. */
async function waitingForTotp(server: TestRuntime = runtime) {
  const { addresses, userId } = await accountOwner(runtime, { password: true, totp: true });
  const [email = ""] = addresses;
  const { totpSecrets } = schema;
  const sealedSecret = Buffer.from(newTotpSecret(requestContext(runtime), userId), "base64url");
  await database.write
    .update(totpSecrets)
    .set({ sealedSecret, lastStep: 0 })
    .where(eq(totpSecrets.userId, userId));
  const secret = vault.unseal(sealedSecret, totpSealContext(tenant.id, userId));
  const login = await restWalk(server, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_password_login");
  await login.act("password_login", { password });
  expect(login.state.name).toBe("login_otp");
  const { href = "" } = login.state.actions.otp_code_validate ?? {};
  return {
    login,
    code: () => authenticatorApp(toBase32(secret)).code(Date.now() + runtime.platform.clockShift()),
    enter: async (otp_code: string, as: TestRuntime = server) => {
      const body = { csrf_token: login.state.csrf_token, input_data: { otp_code } };
      const answer = await visitor(as).post(href, body);
      return { status: answer.status, state: (await answer.json()) as typeof login.state };
    },
    /** Failures of its second factors that are counted, of all sources. */
    failures: async () => {
      const { failures } = schema;
      const [subject = Buffer.alloc(0)] = failureSubject(vault, tenant.id, { secondFactorOf: userId });
      const rows = await database.read.select().from(failures).where(eq(failures.subject, subject));
      return rows.find(({ source }) => source === "")?.consecutive ?? 0;
    },
  };
}

test("a code of TOTP is judged alike by a server that has saved the flow and by another", async () => {
  for (const server of [runtime, anotherServer()]) {
    const { code, enter, failures } = await waitingForTotp();
    const { state } = await enter(code(), server);
    expect(["device_trust", "success"]).toContain(state.name);
    expect(await failures()).toBe(0);
  }
});

test("A205 fifty wrong codes of TOTP for one token count as one attempt", async () => {
  const { enter, failures } = await waitingForTotp();
  const answers = await Promise.all(Array.from({ length: 50 }, () => enter("000000")));
  expect(answers.map(({ status }) => status).filter((status) => status !== 403)).toEqual([400]);
  expect(await failures()).toBe(1);
});

test("A205 a text that is no code of TOTP, and one with another token, are not counted", async () => {
  const { enter, failures, login } = await waitingForTotp();
  login.state.csrf_token = randomUUID();
  expect((await enter("000000")).status).toBe(403);
  expect(await failures()).toBe(0);
  const other = await waitingForTotp();
  expect((await other.enter("abcdef")).status).toBe(400);
  expect(await other.failures()).toBe(0);
});
