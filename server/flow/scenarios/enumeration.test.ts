import { describe, expect, test } from "vitest";
import type { Walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, mailsTo, newAddress, newName, origin, password, people } from "../../testing/people.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const { begin, register, signIn } = people();

const base = await runtimeForTests();

const configured = (settings: Record<string, string> = {}) => base.configured(settings);

describe("enumeration", () => {
  /** The visible state without its random parts and what was typed. */
  const seen = (walked: Walk, typed: string | undefined) =>
    JSON.stringify({ ...walked.state, csrf_token: "" })
      .replaceAll(walked.flowId, "flow")
      .replace(`"identifier":"${typed}"`, '"identifier":"typed"')
      .replaceAll(/"challenge":"[^"]+"/g, "");

  test.each([{}, { STILE_USERNAME_ENABLED: "true" }])(
    "A1 an unknown identifier leads through the same states as a known one (%o)",
    async (settings) => {
      const runtime = configured(settings);
      const input = "STILE_USERNAME_ENABLED" in settings ? "identifier" : "email";
      const { email, username } = await register(
        runtime,
        input === "identifier" ? { username: newName() } : {},
      );
      const pairs = [[email, newAddress()], ...(username ? [[username, newName()]] : [])];
      for (const [known, unknown] of pairs) {
        const flows = [await begin(runtime, "login"), await begin(runtime, "login")] as const;
        const steps: [string, Record<string, unknown>?][] = [
          ["continue_to_password_login"],
          ["password_login", { password: "wrong horse" }],
          ["continue_to_passcode_confirmation_recovery"],
          ["verify_passcode", { code: "000000" }],
          ["resend_passcode"],
          ["back"],
          ["back"],
          ["continue_to_passcode_confirmation"],
          ["verify_passcode", { code: "000000" }],
          ["verify_passcode", { code: "000000" }],
          ["verify_passcode", { code: "000000" }],
          ["back"],
          ["webauthn_generate_request_options"],
        ];
        await flows[0].act("continue_with_login_identifier", { [input]: known });
        await flows[1].act("continue_with_login_identifier", { [input]: unknown });
        expect(seen(flows[1], unknown)).toBe(seen(flows[0], known));
        expect(flows[1].state.payload).toEqual({ identifier: unknown });
        for (const [action, sentInput] of steps) {
          for (const flow of flows) await flow.act(action, sentInput ?? {});
          expect([action, seen(flows[1], unknown)]).toEqual([action, seen(flows[0], known)]);
        }
      }
    },
  );

  test("an unknown address receives a notice without a code", async () => {
    const runtime = configured();
    const email = newAddress();
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    expect(mailsTo(runtime, email)).toEqual(["email_login_attempted"]);
  });
});

describe("an attacker", () => {
  test("A1 cannot sign in with their own passkey to another account, or learn whether it exists", async () => {
    const runtime = configured();
    const authenticator = softwareAuthenticator();
    await register(runtime, { authenticator });
    const { email: known } = await register(runtime);
    for (const email of [known, newAddress()]) {
      const flow = await begin(runtime, "login");
      await flow.act("continue_with_login_identifier", { email });
      await flow.act("webauthn_generate_request_options");
      const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
      await flow.act("webauthn_verify_assertion_response", { assertion_response });
      expect([flow.state.name, flow.errors()]).toEqual(["login_passkey", ["passkey_invalid"]]);
    }
  });

  /** Sends at least `tries` incorrect codes in one flow, and requests a new code after every three. */
  async function spendCodes(flow: Walk, tries: number): Promise<void> {
    for (let sent = 0; sent < tries; sent += 3) {
      if (sent > 0) await flow.act("resend_passcode");
      for (let tried = 0; tried < 3; tried += 1) await flow.act("verify_passcode", { code: "000000" });
    }
  }

  const manyMails = {
    STILE_RATE_LIMITER_ENABLED: "true",
    STILE_RATE_LIMITER_PASSCODES_PER_MINUTE: "1000",
    STILE_RATE_LIMITER_PASSCODES_PER_HOUR: "1000",
    STILE_RATE_LIMITER_PASSCODES_PER_DAY: "1000",
    STILE_RATE_LIMITER_PASSCODES_PER_SOURCE: "1000",
    STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1000",
  };

  test("A5 cannot learn from the rate limits of a registration whether an address has an account", async () => {
    const runtime = configured(manyMails);
    const { email: known } = await register(runtime);
    const seen = [];
    for (const email of [known, newAddress()]) {
      const registration = await begin(runtime, "registration", {});
      await registration.act("register_login_identifier", { email });
      await spendCodes(registration, 12);
      await registration.act("resend_passcode");
      expect(registration.errors()).toEqual(["rate_limit_exceeded"]);
      const login = await begin(runtime, "login", {});
      await login.act("continue_with_login_identifier", { email });
      const { error } = await login.act("continue_to_passcode_confirmation");
      await login.act("verify_passcode", { code: "000000" });
      seen.push([error, login.errors()]);
    }
    expect(seen[1]).toEqual(seen[0]);
  });

  test("A20 cannot use up the hourly tries of an account with one repeated code", async () => {
    const runtime = configured(manyMails);
    const { email } = await register(runtime);
    const attacker = await begin(runtime, "login", {});
    await attacker.act("continue_with_login_identifier", { email });
    await attacker.act("continue_to_passcode_confirmation");
    for (let tries = 0; tries < 20; tries += 1) await attacker.act("verify_passcode", { code: "000000" });
    expect(attacker.errors()).toEqual(["passcode_max_attempts_reached"]);
    const owner = await begin(runtime, "login", {});
    await owner.act("continue_with_login_identifier", { email });
    await owner.act("continue_to_passcode_confirmation");
    expect((await owner.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("A20 cannot block every login method of an account", async () => {
    const runtime = configured({ ...manyMails, STILE_RATE_LIMITER_WRONG_PASSCODES_PER_HOUR: "1000" });
    const { email } = await register(runtime);
    const attacker = await begin(runtime, "login", {});
    await attacker.act("continue_with_login_identifier", { email });
    await attacker.act("continue_to_passcode_confirmation");
    await spendCodes(attacker, 120);
    const owner = await begin(runtime, "login", {});
    await owner.act("continue_with_login_identifier", { email });
    await owner.act("continue_to_passcode_confirmation");
    expect((await owner.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("A42 cannot keep access through a second, unverified address", async () => {
    const runtime = configured({
      STILE_USERNAME_ENABLED: "true",
      STILE_EMAIL_OPTIONAL: "true",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    });
    const username = newName();
    const registered = await begin(runtime, "registration", {});
    await registered.act("register_login_identifier", { username });
    await registered.act("register_password", { new_password: password });
    const signInAgain = () => signIn(runtime, { identifier: username });
    const [one, other] = [await signInAgain(), await signInAgain()];
    const [ownAddress, victimAddress] = [newAddress(), newAddress()];
    expect((await one.act("email_address_set", { email: ownAddress })).name).toBe("success");
    expect((await other.act("email_address_set", { email: victimAddress })).name).toBe("success");
    expect(other.state.payload).toMatchObject({ user: { emails: [{ address: ownAddress }] } });
  });
});
