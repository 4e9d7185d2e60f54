import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restWalk } from "../../testing/rest-walk.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();

test("A27 the address of a flow without its token neither reveals nor disturbs the flow", async () => {
  const victim = await restWalk(runtime, "login");
  await victim.act("register_client_capabilities");
  await victim.act("continue_with_login_identifier", { email: `${randomUUID()}@example.com` });
  const attacker = visitor(runtime, "198.51.100.7");
  const addresses = Object.values(victim.state.actions).map(({ href }) => href);
  expect(addresses.length).toBeGreaterThan(1);
  for (let tries = 0; tries < 50; tries += 1) {
    const token = randomUUID().replaceAll("-", "");
    const href = addresses[tries % addresses.length] ?? "";
    const response = await attacker.post(href, { csrf_token: token, input_data: {} });
    expect(response.status).toBe(403);
    const state = (await response.json()) as FlowState;
    expect(state).toMatchObject({ name: "error", actions: {}, csrf_token: "", payload: {} });
  }
  expect(attacker.cookies.size).toBe(0);
  expect((await victim.act("continue_to_password_login")).name).toBe("login_password");
});
