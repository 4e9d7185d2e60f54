import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { schema } from "#db/client";
import { failureSubject } from "../limits/failure-counters.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration, restWalk } from "../testing/rest-walk.ts";
import { visitor } from "../testing/visitor.ts";
import { createRememberedFlows, type RememberedFlow } from "./remembered-flows.ts";

const runtime = await runtimeForTests({ STILE_MFA_ENABLED: "false" });
const { database, tenant, vault } = runtime;

/** Another server on the same database. */
const anotherServer = () => ({ ...runtime, rememberedFlows: createRememberedFlows() });

const newAddress = () => `${randomUUID()}@example.com`;

/** A login that waits for the password of an account. */
async function waitingForPassword(server = runtime) {
  const email = newAddress();
  await restRegistration(runtime, email);
  const { emails } = schema;
  const [owned] = await database.read.select().from(emails).where(eq(emails.address, email));
  const userId = owned?.userId ?? "";
  const login = await restWalk(server, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_password_login");
  return { login, userId };
}

/** How many failures of a password are counted for an account, of all sources. */
async function failuresOf(userId: string): Promise<number> {
  const { failures } = schema;
  const [subject = Buffer.alloc(0)] = failureSubject(vault, tenant.id, { userId });
  const rows = await database.read
    .select()
    .from(failures)
    .where(and(eq(failures.subject, subject), eq(failures.source, "")));
  return rows[0]?.consecutive ?? 0;
}

describe("remembered flows", () => {
  const flow = (id: string) => ({ record: { id } }) as unknown as RememberedFlow;
  const token = (number: number) => Buffer.from(`token ${number}`);

  const key = { tenantId: "acme", flowId: "a", type: "login" } as const;

  test("are recalled once, by the token, the tenant, the id and the type together", () => {
    const flows = createRememberedFlows();
    flows.remember(token(1), key, flow("a"));
    expect(flows.recall(token(2), key)).toBeNull();
    for (const other of [{ tenantId: "other" }, { flowId: "b" }, { type: "profile" as const }])
      expect(flows.recall(token(1), { ...key, ...other })).toBeNull();
    expect(flows.recall(token(1), key)).toEqual(flow("a"));
    expect(flows.recall(token(1), key)).toBeNull();
  });

  test("are the last two thousand", () => {
    const flows = createRememberedFlows();
    for (let number = 0; number <= 2000; number += 1) flows.remember(token(number), key, flow("a"));
    expect(flows.recall(token(0), key)).toBeNull();
    expect(flows.recall(token(1), key)).not.toBeNull();
  });
});

test("a step at a server that has not saved the flow is judged as at the one that has", async () => {
  for (const server of [runtime, anotherServer()]) {
    const { login } = await waitingForPassword();
    const as = visitor(server);
    const post = async (state: typeof login.state, input: object) =>
      (await (
        await as.post(state.actions.password_login?.href ?? "", {
          csrf_token: state.csrf_token,
          input_data: input,
        })
      ).json()) as typeof login.state;
    const wrong = await post(login.state, { password: "a wrong password" });
    expect(wrong).toMatchObject({ name: "login_password", error: { code: "form_data_invalid_error" } });
    expect(await post(wrong, { password })).toMatchObject({ name: "success" });
  }
});

test("A198 fifty passwords for one token count as one attempt", async () => {
  const { login, userId } = await waitingForPassword();
  const { href } = login.state.actions.password_login ?? { href: "" };
  const body = { csrf_token: login.state.csrf_token, input_data: { password: "a wrong password" } };
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => (await visitor(runtime).post(href, body)).status),
  );
  expect(answers.filter((status) => status !== 403)).toEqual([400]);
  expect(await failuresOf(userId)).toBe(1);
});

test("A198 an attempt with another token, or one that the state does not take, is not counted", async () => {
  const { login, userId } = await waitingForPassword();
  const { href } = login.state.actions.password_login ?? { href: "" };
  const { csrf_token } = login.state;
  const foreign = { csrf_token: csrf_token.replace(/^./, (first) => (first === "a" ? "b" : "a")) };
  const wrong = { password: "a wrong password" };
  expect((await visitor(runtime).post(href, { ...foreign, input_data: wrong })).status).toBe(403);
  expect((await visitor(runtime).post(href, { csrf_token, input_data: {} })).status).toBe(400);
  expect(await failuresOf(userId)).toBe(0);
});

test("a code that expires after the flow was saved is refused, and works before", async () => {
  const { addresses } = await accountOwner(runtime, { password: true });
  const [email = ""] = addresses;
  for (const [seconds, name] of [
    [1, "success"],
    [tenant.config.email.passcode_ttl + 1, "passcode_confirmation"],
  ] as const) {
    const login = await restWalk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email });
    await login.act("continue_to_passcode_confirmation");
    runtime.advanceClock(seconds);
    await login.act("verify_passcode", { code: mailedCode(runtime, email) });
    expect(login.state.name).toBe(name);
  }
});

/** A login at a server that waits for the code which was mailed for it. */
async function waitingForCode(server = runtime) {
  const { addresses } = await accountOwner(runtime, { password: true });
  const [email = ""] = addresses;
  const login = await restWalk(server, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_passcode_confirmation");
  return { login, code: mailedCode(runtime, email) };
}

test("A199 a code that expires while its step waits for a turn is refused", async () => {
  let waitedSeconds = 0;
  const turns: typeof runtime.turns = {
    take(...of) {
      if (waitedSeconds > 0) runtime.advanceClock(waitedSeconds);
      waitedSeconds = 0;
      return runtime.turns.take(...of);
    },
  };
  const { login, code } = await waitingForCode({ ...runtime, turns });
  waitedSeconds = tenant.config.email.passcode_ttl + 1;
  await login.act("verify_passcode", { code });
  expect(login.state.name).toBe("passcode_confirmation");
});

test("A199 a code that has expired is refused by a process whose clock was set back", async () => {
  const { login, code } = await waitingForCode();
  runtime.advanceClock(tenant.config.email.passcode_ttl + 1);
  const { now } = Date;
  const setBack = vi.spyOn(Date, "now").mockImplementation(() => now() - 3_600_000);
  onTestFinished(() => setBack.mockRestore());
  await login.act("verify_passcode", { code });
  expect(login.state.name).toBe("passcode_confirmation");
});
