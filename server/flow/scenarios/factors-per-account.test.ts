import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode } from "../../testing/rest-walk.ts";

/** A factor counts only for the account that it was verified for. */

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });

const password = "correct horse battery";
const newAddress = () => `${randomUUID()}@example.com`;
const newName = () => `u${randomUUID().replaceAll("-", "").slice(0, 16)}`;

/** Registers a user up to the password. */
async function registerUpToPassword(person: { email: string; username?: string }) {
  const flow = await walk(runtime, "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", person);
  await flow.act("verify_passcode", { code: mailedCode(runtime, person.email) });
  expect(flow.state.name).toBe("password_creation");
  return flow;
}

describe("A36 another identifier", () => {
  test("cannot be entered after a factor was verified at login", async () => {
    const [own, victim] = [newAddress(), newAddress()];
    for (const email of [own, victim])
      await (await registerUpToPassword({ email })).act("register_password", { new_password: password });
    const flow = await walk(runtime, "login");
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { identifier: own });
    await flow.act("continue_to_password_login");
    expect((await flow.act("password_login", { password })).name).toBe("onboarding_username");
    for (const [action, input] of [
      ["back", {}],
      ["continue_with_login_identifier", { identifier: victim }],
    ] as const) {
      expect(await flow.act(action, input)).toMatchObject({ name: "error", status: 403 });
    }
    await flow.act("skip");
    expect(flow.state.payload).toMatchObject({ user: { emails: [{ address: own }] } });
  });

  test("must be verified itself at registration", async () => {
    const username = newName();
    const flow = await registerUpToPassword({ email: newAddress(), username });
    const first = await registerUpToPassword({ email: newAddress(), username });
    await first.act("register_password", { new_password: password });
    // The username was taken concurrently, so the flow asks for both again.
    expect((await flow.act("register_password", { new_password: password })).name).toBe("registration_init");
    const another = { email: newAddress(), username: newName() };
    expect((await flow.act("register_login_identifier", another)).name).toBe("passcode_confirmation");
  });
});
