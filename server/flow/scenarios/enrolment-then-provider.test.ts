import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newName, password, people } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";

/** Factors of an abandoned registration do not count for another account (A36). */

const { begin } = people();

const runtime = await runtimeForTests({
  STILE_EMAIL_OPTIONAL: "true",
  STILE_EMAIL_ACQUIRE_ON_REGISTRATION: "false",
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_OPTIONAL: "true",
  STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always",
  STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "always",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  ...acme(),
});

/** A user with an authenticator app and an identity at Acme. */
async function victim(): Promise<AccountOwner & { facts: ProviderFacts }> {
  const owner = await accountOwner(runtime, { totp: true });
  const facts = acmePerson();
  const { provider, subject, email } = facts;
  await runtime.database.write.insert(schema.identities).values({
    tenantId: runtime.tenant.id,
    id: randomUUID(),
    userId: owner.userId,
    provider,
    subject,
    email,
    createdAt: new Date(),
  });
  return { ...owner, facts };
}

async function continueWithProvider(flow: Walk, facts: ProviderFacts): Promise<void> {
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: "http://localhost:3000/" });
  await flow.act("exchange_token", {
    token: await returnFromProvider(runtime, { flowId: flow.flowId, facts }),
  });
}

async function skipPasskey(flow: Walk): Promise<void> {
  if (flow.state.name === "onboarding_create_passkey") await flow.act("skip");
}

/** A registration up to the choice of a second factor. */
async function upToEnrolment(username: string): Promise<Walk> {
  const flow = await begin(runtime, "registration");
  await flow.act("register_login_identifier", { username });
  await flow.act("register_password", { new_password: password });
  await skipPasskey(flow);
  expect(flow.state.name).toBe("mfa_method_chooser");
  return flow;
}

describe("a registration that continues through an identity provider", () => {
  test("does not count a factor that was enrolled for the abandoned registration", async () => {
    const username = newName();
    const [slower, faster] = [await upToEnrolment(username), await upToEnrolment(username)];
    await faster.act("skip");
    expect(faster.state.name).toBe("success");

    await slower.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(slower.state.payload.otp_secret));
    await slower.act("otp_code_verify", { otp_code: app.code(Date.now()) });
    expect(slower.state.name).toBe("registration_init");
    const { facts } = await victim();
    await continueWithProvider(slower, facts);
    expect(slower.state.name).toBe("login_otp");
    expect(slower.answer.session).toBeUndefined();
  });

  test("does not count a provider that is trusted for another account", async () => {
    const flow = await begin(runtime, "registration", {});
    await continueWithProvider(flow, acmePerson({ satisfiesMfa: true }));
    expect(flow.state.name).toBe("onboarding_username");
    const username = newName();
    await upToEnrolment(username).then((other) => other.act("skip"));
    // The account exists already, so the flow asks for its missing username only.
    await flow.act("username_set", { username });
    expect(flow.state.name).toBe("onboarding_username");
    expect(flow.errors()).toEqual(["username_already_exists"]);
    expect(await flow.act("thirdparty_oauth")).toMatchObject({ name: "error", status: 403 });
  });
});
