import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
const { $client: sql } = runtime.database.write;

const password = "correct horse battery staple";
const email = `${randomUUID()}@example.com`;

const rowOf = async ({ flowId }: Walk) =>
  (await sql.query("select data, history, payload, user_id from flows where id = $1", [flowId])).rows[0];

const replace = ({ flowId }: Walk, { data, history }: { data: object; history: object[] }) =>
  sql.query("update flows set data = $2, history = $3 where id = $1", [
    flowId,
    JSON.stringify(data),
    JSON.stringify(history),
  ]);

const registered = await walk(runtime, "registration");
await registered.act("register_client_capabilities");
await registered.act("register_login_identifier", { email });
await registered.act("register_password", { new_password: password });

/** A login that asks for the password. */
async function beforePassword(): Promise<Walk> {
  const flow = await walk(runtime, "login");
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  if (flow.state.name === "login_method_chooser") await flow.act("continue_to_password_login");
  expect(flow.state.name).toBe("login_password");
  return flow;
}

test("a flow that has ended keeps its account, and nothing that was entered", async () => {
  const { user_id, ...row } = await rowOf(registered);
  expect(row).toMatchObject({ data: { userId: user_id, format: 3 }, history: [] });
  expect(Object.keys(row.data).toSorted()).toEqual(["format", "userId"]);
});

test("a row has no empty lists, and its history nothing that going back does not restore", async () => {
  const { data, history } = await rowOf(await beforePassword());
  expect(data).not.toHaveProperty("factors");
  expect(data).not.toHaveProperty("pending");
  expect(history[0]).toEqual({ state: "preflight", data: {} });
  for (const entry of history) expect(entry.data).not.toHaveProperty("capabilities");
});

test("a step that changes neither history nor payload leaves both as they are stored", async () => {
  const flow = await beforePassword();
  const { data, history } = await rowOf(flow);
  // This version reads no such member, so it would not write it.
  const marked = [...history.slice(0, -1), { ...history.at(-1), mark: true }];
  await replace(flow, { data, history: marked });
  await flow.act("password_login", { password: "not the password" });
  expect((await rowOf(flow)).history).toEqual(marked);
  await flow.act("back");
  expect((await rowOf(flow)).history).toEqual(marked.slice(0, -1));
});

test("a row of release 0.2 is converted as a whole by a step that changes only its error", async () => {
  const flow = await beforePassword();
  const { data, history } = await rowOf(flow);
  const { completedStates, format, readableFrom, ...of02 } = { ...data, factors: [], pending: {} };
  const passcode = { purpose: "login", recipient: email };
  const historyOf02 = history.map((entry: { state: string }) => ({
    state: entry.state,
    data: { ...data, factors: [], passcode: { ...passcode, genuine: true } },
  }));
  await replace(flow, { data: of02, history: historyOf02 });
  await flow.act("password_login", { password: "not the password" });
  expect((await rowOf(flow)).history.at(-1).data.passcode).toEqual({ ...passcode, decoy: false });
  expect((await flow.act("back")).status).toBe(200);
});

test("a row of release 0.3 goes on, and ends in the present form", async () => {
  const flow = await beforePassword();
  const { data, history } = await rowOf(flow);
  const empty = { factors: [], answered: [], completedStates: [] };
  const { capabilities } = data;
  await replace(flow, {
    data: { ...empty, pending: {}, readableFrom: 1, ...data, format: 2 },
    history: history.map(({ state, data: restored }: { state: string; data: object }) => ({
      state,
      data: { ...empty, capabilities, ...restored },
    })),
  });
  expect((await flow.act("back")).status).toBe(200);
  while (flow.state.name !== "login_password") await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  expect(flow.state.name).toBe("success");
  expect(Object.keys((await rowOf(flow)).data).toSorted()).toEqual(["format", "userId"]);
});
