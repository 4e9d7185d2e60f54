import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Walk, walk } from "../testing/flow-walk.ts";
import { mailedCode } from "../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import type { FlowType } from "./names.ts";

/** Detours by which a stranger might learn whether an address has an account. */

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime();
});

afterAll(() => runtime.close());

const origin = "http://localhost:3000";
const newAddress = () => `${randomUUID()}@example.com`;

async function begin(of: TestRuntime, type: FlowType, webauthn_available = false): Promise<Walk> {
  const flow = await walk(of, type);
  await flow.act("register_client_capabilities", { webauthn_available });
  return flow;
}

async function register(authenticator?: ReturnType<typeof softwareAuthenticator>): Promise<string> {
  const email = newAddress();
  const flow = await begin(runtime, "registration", authenticator !== undefined);
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: mailedCode(runtime, email) });
  await flow.act("register_password", { new_password: "correct horse battery" });
  if (authenticator) {
    await flow.act("webauthn_generate_creation_options");
    const public_key = authenticator.create(flow.state.payload.creation_options, { origin });
    await flow.act("webauthn_verify_attestation_response", { public_key });
  }
  expect(flow.state.name).toBe("success");
  return email;
}

describe("somebody's name and nobody's look the same", () => {
  test("A1 to whoever answers for it with a passkey of their own", async () => {
    const own = softwareAuthenticator();
    await register(own);
    const seen: unknown[] = [];
    for (const email of [await register(), newAddress()]) {
      const flow = await begin(runtime, "login", true);
      await flow.act("continue_with_login_identifier", { email });
      await flow.act("webauthn_generate_request_options");
      const assertion_response = own.get(flow.state.payload.request_options, { origin });
      const { name, status } = await flow.act("webauthn_verify_assertion_response", { assertion_response });
      seen.push([name, status, flow.errors()]);
    }
    expect(seen[0]).toEqual(["login_passkey", 401, ["passkey_invalid"]]);
    expect(seen[1]).toEqual(seen[0]);
  });

  test("A5 to whoever uses up tries at registration and looks for the effect at sign-in", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_WRONG_PASSCODES_PER_HOUR: "3",
    });
    const seen: unknown[] = [];
    for (const email of [await register(), newAddress()]) {
      const statuses: number[] = [];
      const registration = await begin(limited, "registration");
      await registration.act("register_login_identifier", { email });
      for (const _try of [1, 2, 3])
        statuses.push((await registration.act("verify_passcode", { code: "000000" })).status);
      const login = await begin(limited, "login");
      await login.act("continue_with_login_identifier", { email });
      await login.act("continue_to_passcode_confirmation");
      statuses.push((await login.act("verify_passcode", { code: "000000" })).status);
      seen.push(statuses);
    }
    expect(seen[0]).toEqual([400, 400, 401, 400]);
    expect(seen[1]).toEqual(seen[0]);
  });
});
