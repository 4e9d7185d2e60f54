import { expect, test } from "vitest";
import type { Language } from "#words/language-tags";
import { authenticatorNotice } from "../../authenticator/security-notice.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress, password } from "../../testing/people.ts";
import { testClient } from "../../testing/runtime.ts";

const runtime = await runtimeForTests({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" });

const newest = (address: string) => {
  const job = runtime.enqueued.findLast(({ to }) => to === address);
  if (!job) throw new Error(`no mail to ${address}`);
  return job;
};

const codeOf = (address: string) => {
  const { mail } = newest(address);
  return "code" in mail ? mail.code : "";
};

/** A flow of a client whose requests name a language, or none. */
async function begin(type: "login" | "registration", language: Language | null): Promise<Walk> {
  const flow = await walk(runtime, type, { client: { ...testClient, language } });
  await flow.act("register_client_capabilities", {});
  return flow;
}

async function register(language: Language | null): Promise<{ email: string; userId: string }> {
  const email = newAddress();
  const flow = await begin("registration", language);
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: codeOf(email) });
  await flow.act("register_password", { new_password: password });
  expect(flow.state.name).toBe("success");
  return { email, userId: (flow.state.payload.user as { user_id: string }).user_id };
}

async function signIn(email: string, language: Language | null): Promise<void> {
  const flow = await begin("login", language);
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeOf(email) });
  expect(flow.state.name).toBe("success");
}

test("a request that names no language has mails in the language of the last sign-in", async () => {
  const { email } = await register("fr");
  await signIn(email, null);
  expect(newest(email).language).toBe("fr");
  await signIn(email, "bn");
  await signIn(email, null);
  expect(newest(email).language).toBe("bn");
});

test("an account whose sign-ins named no language has mails in English", async () => {
  const { email } = await register(null);
  await signIn(email, null);
  expect(newest(email).language).toBe("en");
});

test("an unknown address has mails in English if the request names no language", async () => {
  const email = newAddress();
  const flow = await begin("login", null);
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  expect(newest(email)).toMatchObject({ language: "en", mail: { type: "email_login_attempted" } });
});

test("a change that an application makes is reported in the owner's language, not in the application's", async () => {
  const { email, userId } = await register("pt-BR");
  const context = { runtime, tenant: runtime.tenant, client: { ...testClient, language: "de" as const } };
  expect(await authenticatorNotice(context, "mfa_create", userId)).toMatchObject([
    { to: email, language: "pt-BR" },
  ]);
});
