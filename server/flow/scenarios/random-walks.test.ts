import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { errors } from "../errors.ts";
import { statesOf } from "../graph.ts";
import { flowTypes, isOfSession, stateNames } from "../names.ts";
import { states } from "../states/index.ts";

const runtime = await runtimeForTests({
  STILE_USERNAME_ENABLED: "true",
  STILE_EMAIL_OPTIONAL: "true",
  STILE_PASSWORD_OPTIONAL: "true",
  STILE_SESSION_COOKIE_RETENTION: "prompt",
  STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
  STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_MFA_ACQUIRE_ON_LOGIN: "true",
  STILE_ACCOUNT_ALLOW_DELETION: "true",
  STILE_SAML_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "stile",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "a secret for tests alone",
});

const actions = [...new Set(stateNames.flatMap((name) => Object.keys(states[name].actions)))];

/** Valid and invalid values for any input. */
const value = fc.oneof(
  fc.constantFrom<unknown>(true, false, null, "", 0, -1, [], {}, "ada", "ada@example.com", "bob_1", "000000"),
  fc.constantFrom<unknown>(
    "correct horse battery",
    "x".repeat(70_000),
    "\0",
    "\ud800",
    "１２３４５６",
    "' or 1=1 --",
    { id: "a" },
  ),
  fc.string(),
  fc.jsonValue(),
);

const members = [
  "email",
  "username",
  "identifier",
  "code",
  "password",
  "new_password",
  "remember_me",
  "public_key",
  "assertion_response",
  "otp_code",
  "recovery_code",
  "token",
  "code_verifier",
  "provider",
  "redirect_to",
  "patch_metadata",
  "email_id",
  "passkey_id",
  "session_id",
  "webauthn_available",
  "__proto__",
];

/** Most moves take an offered action with valid input, so that walks progress; the rest are arbitrary. */
const move = fc.record({
  pick: fc.nat(),
  offered: fc.integer({ min: 0, max: 7 }).map((number) => number > 0),
  input: fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 3 }),
  isCooperative: fc.integer({ min: 0, max: 3 }).map((number) => number > 0),
});

/** Valid input of a cooperative user. */
function cooperativeInput(email: string, code: string | undefined): Record<string, unknown> {
  return {
    email,
    identifier: email,
    username: `u${email.slice(0, 8)}`,
    code: code ?? "000000",
    password: "correct horse battery",
    new_password: "correct horse battery",
    remember_me: true,
    webauthn_available: true,
    webauthn_conditional_mediation_available: true,
    webauthn_platform_authenticator_available: true,
  };
}

/** A user with an account, for flows that need one. */
async function signUp(email: string): Promise<string> {
  const flow = await walk(runtime, "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", { email });
  const job = runtime.enqueued.findLast(({ to }) => to === email);
  await flow.act("verify_passcode", { code: job && "code" in job.mail ? job.mail.code : "" });
  await flow.act("register_password", { new_password: "correct horse battery" });
  await flow.act("skip");
  if (flow.state.name !== "success") throw new Error(`the registration ended at ${flow.state.name}`);
  return flow.answer.session?.id ?? "";
}

/** What an application asks a user for. */
const authorization = {
  request: "k3JmP0aQ5sT8uVwXyZ1bC",
  clientId: "shop",
  host: "shop.example.com",
  asked: { scopes: ["openid", "email"], claims: [], resources: {} },
};

test("any calls with any input answer with a state of the flow, and only success issues a session", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...flowTypes),
      fc.array(move, { minLength: 4, maxLength: 25 }),
      async (type, moves) => {
        const email = `${randomUUID()}@example.com`;
        const sessionId = isOfSession(type) ? await signUp(email) : undefined;
        const asked = type === "consent" ? { authorization } : {};
        const flow = await walk(runtime, type, { ...(sessionId ? { sessionId } : {}), ...asked });
        const inside: string[] = statesOf(type);
        for (const { pick, offered, input, isCooperative } of moves) {
          const { state } = flow;
          seen.add(`${type} ${state.name}`);
          const names = offered ? Object.keys(state.actions) : actions;
          const name = names[pick % Math.max(names.length, 1)] ?? "back";
          const wanted = Object.keys(state.actions[name]?.inputs ?? {});
          const recipient = type === "profile" ? `more-${email}` : email;
          const job = runtime.enqueued.findLast(({ to }) => to === recipient);
          const known = cooperativeInput(recipient, job && "code" in job.mail ? job.mail.code : undefined);
          const sent = isCooperative
            ? Object.fromEntries(wanted.map((key) => [key, known[key] ?? {}]))
            : input;
          const answer = await flow.act(name, sent);

          expect([...inside, "error"]).toContain(answer.name);
          expect(answer.status).toBeLessThan(500);
          if (answer.error) expect(errors).toHaveProperty(answer.error.code);
          if (answer.name === "error") {
            expect(answer).toMatchObject({ actions: {}, csrf_token: "" });
            // A profile flow ends with its session, which an action may have ended.
            expect(type === "profile" ? [401, 403] : [403]).toContain(answer.status);
          }
          if (answer.name !== "error") expect(answer.csrf_token).toMatch(/^[0-9A-Za-z]{32}$/);
          expect(Boolean(flow.answer.session)).toBe(flow.state.name === "success");
          expect(answer.payload).toBeTypeOf("object");
          for (const action of Object.values(answer.actions)) expect(action.inputs).toBeTypeOf("object");
          if (Object.keys(flow.state.actions).length === 0) break;
        }
      },
    ),
    // The walks are the same in every run; only their number limits them. A failing walk is not shrunk, because that
    // takes many more walks.
    { numRuns: 250, seed: 20_261_125, endOnFailure: true },
  );
  // Walks without progress would prove nothing.
  expect([...seen]).toEqual(
    expect.arrayContaining([
      "login login_method_chooser",
      "registration passcode_confirmation",
      "registration credential_onboarding_chooser",
      "registration mfa_otp_secret_creation",
      "profile profile_init",
      "profile passcode_confirmation",
      "token_exchange thirdparty",
    ]),
  );
});
