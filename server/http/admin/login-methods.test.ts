import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import type { loginMethodsSchema } from "../../admin/user-login-methods.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_MFA_SECURITY_KEYS_ENABLED: "false",
});
const { call } = await adminOperator(runtime);

type Told = Record<string, { usable: boolean; reasons: string[] }>;

async function methodsOf(userId: string): Promise<{ can_sign_in: boolean; told: Told }> {
  const { status, body } = await call("GET", `/users/${userId}/login_methods`);
  expect(status).toBe(200);
  const { can_sign_in, methods } = body as z.output<typeof loginMethodsSchema>;
  const told = methods.map(({ method, used_as, usable, reasons }) => [
    `${method} as ${used_as}`,
    { usable, reasons: reasons.map(({ sentence }) => sentence) },
  ]);
  return { can_sign_in, told: Object.fromEntries(told) };
}

describe("the login methods of a user", () => {
  test("say what each is usable for, or what is missing", async () => {
    const { userId } = await accountOwner(runtime, { password: true, passkeys: 1, totp: true });
    expect(await methodsOf(userId)).toMatchObject({
      can_sign_in: true,
      told: {
        "password as first_factor": { usable: true },
        "passkey as first_factor": { usable: false, reasons: ["`passkey.enabled` is off."] },
        "totp as second_factor": { usable: true },
        "security_key as second_factor": {
          usable: false,
          reasons: [
            "`mfa.security_keys.enabled` is off.",
            "The account has no security keys as a second factor.",
          ],
        },
      },
    });
  });

  test("name the settings and facts that have decided, for programs", async () => {
    const { userId } = await accountOwner(runtime, { passkeys: 1 });
    const { body } = await call("GET", `/users/${userId}/login_methods`);
    const { methods } = body as z.output<typeof loginMethodsSchema>;
    const passkey = methods.find(({ method }) => method === "passkey");
    expect(passkey?.reasons).toEqual([
      { kind: "setting", of: "passkey.enabled", sentence: "`passkey.enabled` is off." },
    ]);
  });

  test("are none for a blocked user, whatever the account has", async () => {
    const { userId } = await accountOwner(runtime, { password: true });
    await call("POST", `/users/${userId}/block`);
    const { can_sign_in, told } = await methodsOf(userId);
    expect(can_sign_in).toBe(false);
    for (const { usable, reasons } of Object.values(told)) {
      expect(usable).toBe(false);
      expect(reasons).toContain("The user is blocked.");
    }
  });

  test("are those of the tenant's own user alone, and never change it", async () => {
    expect((await call("GET", `/users/${randomUUID()}/login_methods`)).status).toBe(404);
    const { userId } = await accountOwner(runtime, { emails: 0, username: "ada", password: true });
    const before = (await call("GET", `/users/${userId}`)).body;
    expect(await methodsOf(userId)).toMatchObject({
      can_sign_in: false,
      told: {
        "password as first_factor": {
          usable: false,
          reasons: ["The account has no identifier that is enabled for signing in."],
        },
      },
    });
    expect((await call("GET", `/users/${userId}`)).body).toEqual(before);
  });
});
