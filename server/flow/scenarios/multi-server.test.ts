import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import { verifySession } from "../../sessions/verify-session.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";

/** Several servers step one flow; `claims.test.ts` covers concurrent steps. The database and its clock decide. */

const one = await runtimeForTests();
const other = one.configured({});

const password = "correct horse battery";

/** Registers a user, each step on the next server of the list. */
async function register(...servers: TestRuntime[]): Promise<Walk> {
  const email = `${randomUUID()}@example.com`;
  const flow = await walk(one, "registration");
  let steps = 0;
  const act = (action: string, input: Record<string, unknown>) =>
    flow.act(action, input, { runtime: servers[steps++ % servers.length] as TestRuntime });
  await act("register_client_capabilities", {});
  await act("register_login_identifier", { email });
  await act("verify_passcode", { code: mailedCode(one, email) });
  await act("register_password", { new_password: password });
  return flow;
}

const isValid = async (server: TestRuntime, flow: Walk) =>
  (
    await verifySession(
      server,
      server.tenant,
      { bearer: flow.answer.session?.token, cookies: [], bound: [] },
      { touch: false },
    )
  ).ok;

test("A121 every step may run on another server, and every server accepts the session", async () => {
  // Both servers share one mailbox.
  const flow = await register({ ...other, jobs: one.jobs }, one);
  expect(flow.state.name).toBe("success");
  expect([await isValid(one, flow), await isValid(other, flow)]).toEqual([true, true]);
});

describe("A118 a server with a wrong clock", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([-2, 2])("expires nothing early or late if it is %i hours ahead", async (hours) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
    const flow = await register(one);
    expect(flow.state.name).toBe("success");
    expect(flow.answer.session?.lifetimeSeconds).toBeGreaterThan(43_190);
    expect(flow.answer.session?.lifetimeSeconds).toBeLessThanOrEqual(43_200);
    vi.useRealTimers();
    expect(await isValid(one, flow)).toBe(true);
    const { rows } = await one.database.read.$client.query(
      `select abs(extract(epoch from expires_at - now() - interval '12 hours')) < 10 as right
       from sessions where id = $1`,
      [flow.answer.session?.id],
    );
    expect(rows).toEqual([{ right: true }]);
  });
});
