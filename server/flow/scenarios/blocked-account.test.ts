import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { blockAccount } from "../../account/blocking.ts";
import type { SigningKeys } from "../../keys/signing-keys.ts";
import { issueSession } from "../../sessions/sessions.ts";
import { trustDevice } from "../../sessions/trusted-devices.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { eventually } from "../../testing/eventually.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress, origin, password, people } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { requestContext } from "../../testing/request-context.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

/** No login method gives a session to a blocked account, and none tells a stranger that it is blocked. */

const { begin, register, signIn } = people();

const base = await runtimeForTests({ STILE_SAML_ENABLED: "true", ...acme() });

/** A sign-in up to its last step, which proves the last factor. */
interface LastStep {
  userId: string;
  flow: Walk;
  finish(as?: TestRuntime): Promise<unknown>;
}

const userIdOf = async (address: string) => {
  const { emails } = schema;
  const [row] = await base.database.read.select().from(emails).where(eq(emails.address, address));
  if (!row) throw new Error(`no account has ${address}`);
  return row.userId;
};

const act = (flow: Walk, action: string, input: object) => (runtime?: TestRuntime) =>
  flow.act(action, { ...input }, runtime ? { runtime } : {});

async function signInByPassword(): Promise<LastStep> {
  const { email } = await register(base);
  const flow = await begin(base, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  return { userId: await userIdOf(email), flow, finish: act(flow, "password_login", { password }) };
}

/** Every way to a session; each leaves the last step to the test. */
const ways: Record<string, () => Promise<LastStep>> = {
  password: signInByPassword,
  async "a mailed code"() {
    const { email } = await register(base);
    const flow = await begin(base, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    const code = codeFor(base, email);
    return { userId: await userIdOf(email), flow, finish: act(flow, "verify_passcode", { code }) };
  },
  async "a passkey from the first state"() {
    const authenticator = softwareAuthenticator();
    const { email } = await register(base, { authenticator });
    const flow = await begin(base, "login");
    const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
    const finish = act(flow, "webauthn_verify_assertion_response", { assertion_response });
    return { userId: await userIdOf(email), flow, finish };
  },
  async "a passkey after the identifier"() {
    const authenticator = softwareAuthenticator();
    const { email } = await register(base, { authenticator });
    const flow = await begin(base, "login");
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("webauthn_generate_request_options");
    const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
    const finish = act(flow, "webauthn_verify_assertion_response", { assertion_response });
    return { userId: await userIdOf(email), flow, finish };
  },
  "a provider": () => byProvider("login"),
  "a provider, in a registration": () => byProvider("registration"),
  async "a SAML provider that starts by itself"() {
    const { userId, facts } = await accountAtProvider();
    const state = randomUUID();
    const flow = await walk(base, "token_exchange", {
      client: { ...testClient, thirdPartyStates: [state] },
    });
    const token = await returnFromProvider(base, { flowId: null, facts });
    return { userId, flow, finish: act(flow, "exchange_token", { token }) };
  },
  async "a trusted browser"() {
    const owner = await accountOwner(base, { totp: true, password: true });
    const trusted = trustDevice(requestContext(base), { userId: owner.userId, cookie: null });
    await base.database.write.transaction(trusted.write);
    const deviceCookie = trusted.cookieChanges.device.value;
    const flow = await walk(base, "login", { client: { ...testClient, deviceCookie } });
    await flow.act("register_client_capabilities", {});
    await flow.act("continue_with_login_identifier", { email: owner.addresses[0] });
    await flow.act("continue_to_password_login");
    return { userId: owner.userId, flow, finish: act(flow, "password_login", { password }) };
  },
};

async function accountAtProvider() {
  const owner = await accountOwner(base);
  const facts = acmePerson();
  const { provider, subject } = facts;
  const own = { tenantId: base.tenant.id, userId: owner.userId };
  await base.database.write
    .insert(schema.identities)
    .values({ ...own, id: randomUUID(), provider, subject, createdAt: new Date() });
  return { userId: owner.userId, facts };
}

async function byProvider(type: "login" | "registration"): Promise<LastStep> {
  const { userId, facts } = await accountAtProvider();
  const flow = await begin(base, type, {});
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: `${origin}/` });
  const token = await returnFromProvider(base, { flowId: flow.flowId, facts });
  return { userId, flow, finish: act(flow, "exchange_token", { token }) };
}

const block = (userId: string) =>
  base.database.write.transaction((tx) => blockAccount(tx, requestContext(base), userId));

/** Blocks without the end of running sign-ins, as a block that commits just before the last step identifies the account. */
const blockAlone = (userId: string) =>
  base.database.write.$client.query("update users set blocked_at = now() where id = $1", [userId]);

const rowsOf = async (table: "sessions" | "trustedDevices", userId: string) => {
  const rows = await base.database.read.select().from(schema[table]).where(eq(schema[table].userId, userId));
  return rows.length;
};

/** The same runtime, where `meanwhile` runs once after a session's token is signed and before anything is written. */
function interrupted(meanwhile: () => Promise<unknown>): TestRuntime {
  let pending: (() => Promise<unknown>) | null = meanwhile;
  return {
    ...base,
    signingKeys: {
      of(tenant, purpose): SigningKeys {
        const keys = base.signingKeys.of(tenant, purpose);
        return {
          ...keys,
          async sign(claims, options) {
            const signed = await keys.sign(claims, options);
            const run = pending;
            pending = null;
            await run?.();
            return signed;
          },
        };
      },
    },
  };
}

describe.each(Object.entries(ways))("signing in by %s", (_, prepare) => {
  test("succeeds", async () => {
    const { flow, userId, finish } = await prepare();
    const before = await rowsOf("sessions", userId);
    await finish();
    expect(flow.state.name).toBe("success");
    expect(await rowsOf("sessions", userId)).toBe(before + 1);
  });

  test("gives a blocked account no session, and tells the person who has proved the factor", async () => {
    const { flow, userId, finish } = await prepare();
    await base.database.write.$client.query("delete from sessions where user_id = $1", [userId]);
    await blockAlone(userId);
    const { name } = flow.state;
    await finish();
    expect(flow.state).toMatchObject({ name, status: 401, error: { code: "account_blocked" } });
    expect(flow.answer.session).toBeUndefined();
    expect(await rowsOf("sessions", userId)).toBe(0);
  });

  test("that was begun before the block cannot finish after it", async () => {
    const { flow, userId, finish } = await prepare();
    await block(userId);
    const answer = (await finish()) as Walk["state"];
    expect(answer.error?.code).toMatch(/^(account_blocked|operation_not_permitted_error)$/);
    expect(flow.answer.session).toBeUndefined();
    expect(await rowsOf("sessions", userId)).toBe(0);
  });

  test("gives no session to an account that is blocked between the proof and the write", async () => {
    const { flow, userId, finish } = await prepare();
    let signed = false;
    const answer = (await finish(
      interrupted(async () => {
        signed = true;
        await block(userId);
      }),
    )) as Walk["state"];
    expect(signed).toBe(true);
    expect(answer.error?.code).toMatch(/^(account_blocked|operation_not_permitted_error)$/);
    expect(flow.answer.session).toBeUndefined();
    expect(await rowsOf("sessions", userId)).toBe(0);
  });
});

test("a block ends sessions at once, for the check of a session too, and trusted browsers", async () => {
  const owner = await accountOwner(base, { totp: true });
  const trusted = trustDevice(requestContext(base), { userId: owner.userId, cookie: null });
  await base.database.write.transaction(trusted.write);
  const { issued, write } = await issueSession(requestContext(base), {
    userId: owner.userId,
    factors: [],
    amr: [],
    rememberMe: false,
  });
  await base.database.write.transaction(write);
  const isValid = async () => {
    const answer = await visitor(base).post("/sessions/validate", { session_token: issued.token });
    return ((await answer.json()) as { is_valid: boolean }).is_valid;
  };
  expect(await isValid()).toBe(true);
  await block(owner.userId);
  expect(await isValid()).toBe(false);
  expect([await rowsOf("sessions", owner.userId), await rowsOf("trustedDevices", owner.userId)]).toEqual([
    0, 0,
  ]);
});

test("a session that is written while the account is blocked waits for the block, and is not written", async () => {
  const { userId } = await accountOwner(base);
  const made = await issueSession(requestContext(base), { userId, factors: [], amr: [], rememberMe: false });
  let written: Promise<unknown> = Promise.resolve();
  await base.database.write.transaction(async (tx) => {
    await blockAccount(tx, requestContext(base), userId);
    written = base.database.write.transaction(made.write);
    written.catch(() => {});
  });
  await expect(written).rejects.toThrow("conflict: account_blocked");
  expect(await rowsOf("sessions", userId)).toBe(0);
});

describe("a block from the administration interface at the moment of the last step", () => {
  /** Transactions of this database that wait for a lock of another one. */
  const waiting = async () => {
    const { rows } = await base.database.read.$client.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length;
  };

  /** The two arrive while the account is locked, so that they wait for it in the given order. */
  async function meet(first: "block" | "step") {
    const { flow, userId, finish } = await signInByPassword();
    const operator = await adminOperator(base);
    const calls = {
      block: () => operator.call("POST", `/users/${userId}/block`).then(({ status }) => status),
      step: finish,
    };
    const second = first === "block" ? "step" : "block";
    const running: Promise<unknown>[] = [];
    const freeFlows = await base.database.write.transaction(async (tx) => {
      await tx.select().from(schema.users).where(eq(schema.users.id, userId)).for("update");
      for (const [index, name] of [first, second].entries()) {
        running.push((calls as Record<string, () => Promise<unknown>>)[name]?.() ?? Promise.reject());
        await eventually(async () => expect(await waiting()).toBe(index + 1));
      }
      const { flows } = schema;
      return tx.select().from(flows).where(eq(flows.userId, userId)).for("update", { skipLocked: true });
    });
    const results = await Promise.all(running);
    expect(results).toContain(200);
    const answer = results[first === "block" ? 1 : 0] as Walk["state"];
    return { flow, userId, freeFlows, answer };
  }

  test.each(["block", "step"] as const)(
    "leaves no session and waits without a deadlock, if the %s comes first",
    async (first) => {
      const { flow, userId, freeFlows, answer } = await meet(first);
      // A step that held its flow while it waits for the account would stop a block that has the account.
      expect(freeFlows.map(({ id }) => id)).toContain(flow.flowId);
      expect(await rowsOf("sessions", userId)).toBe(0);
      const token = flow.answer.session?.token;
      const checked = await visitor(base).post("/sessions/validate", { session_token: token ?? "none" });
      expect(await checked.json()).toMatchObject({ is_valid: false });
      const rejected = /^(account_blocked|operation_not_permitted_error)$/;
      if (first === "block") expect(answer.error?.code).toMatch(rejected);
    },
  );
});

describe("a stranger", () => {
  /** What an answer shows, without what differs between any two flows. */
  const shown = ({ state: { name, status, error, actions } }: Walk) => [
    name,
    status,
    error?.code,
    Object.keys(actions),
  ];

  const wrongPassword = async (email: string) => {
    const flow = await begin(base, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    const before = shown(flow);
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "not the password" });
    return [before, shown(flow)];
  };

  const wrongCode = async (email: string) => {
    const flow = await begin(base, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("verify_passcode", { code: codeFor(base, email) === "000000" ? "000001" : "000000" });
    return shown(flow);
  };

  test("gets the same answers for a blocked account as for any other", async () => {
    const [blocked, other] = [await register(base), await register(base)];
    await block(await userIdOf(blocked.email));
    expect(await wrongPassword(blocked.email)).toEqual(await wrongPassword(other.email));
    expect(await wrongPassword(blocked.email)).toEqual(await wrongPassword(newAddress()));
    expect(await wrongCode(blocked.email)).toEqual(await wrongCode(other.email));
  });
});

test("a blocked account keeps its password when its owner proves the mailbox to recover it", async () => {
  const { email } = await register(base);
  const userId = await userIdOf(email);
  const { passwords } = schema;
  const hash = async () =>
    (await base.database.read.select().from(passwords).where(eq(passwords.userId, userId)))[0]?.hash;
  const before = await hash();
  await blockAlone(userId);
  const flow = await begin(base, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  await flow.act("continue_to_passcode_confirmation_recovery");
  await flow.act("verify_passcode", { code: codeFor(base, email) });
  expect(flow.state).toMatchObject({ name: "passcode_confirmation", error: { code: "account_blocked" } });
  expect(await hash()).toBe(before);
});

test("an account whose block has ended signs in again", async () => {
  const { email } = await register(base);
  const userId = await userIdOf(email);
  await block(userId);
  expect((await signIn(base, { email })).state.error?.code).toBe("account_blocked");
  await base.database.write.$client.query("update users set blocked_at = null where id = $1", [userId]);
  expect((await signIn(base, { email })).state.name).toBe("success");
});
