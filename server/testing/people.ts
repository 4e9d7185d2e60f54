import { randomInt, randomUUID } from "node:crypto";
import type { Client } from "../context/client.ts";
import type { FlowCoverage } from "../flow/coverage.ts";
import { type Walk, walk } from "./flow-walk.ts";
import { type TestRuntime, testClient } from "./runtime.ts";
import type { softwareAuthenticator } from "./webauthn-authenticator.ts";

/** Origin of the pages of a test runtime. */
export const origin = "http://localhost:3000";

export const password = "correct horse battery";

const capabilities = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};

export const newAddress = () => `${randomUUID()}@example.com`;

export const newName = () => `u${randomUUID().replaceAll("-", "").slice(0, 16)}`;

export interface Person {
  email: string;
  username?: string;
}

/** A mobile number in Germany (E.164). */
export const newNumber = () => `+491511${String(randomInt(10_000_000)).padStart(7, "0")}`;

/** The newest code that was sent by SMS to a number. */
export function codeBySms(runtime: TestRuntime, number: string): string {
  const job = runtime.texted.findLast(({ to }) => to === number);
  if (!job) throw new Error(`no code was sent to ${number}`);
  return job.sms.code;
}

/** The purposes of all SMS to a number, oldest first. */
export function textsTo(runtime: TestRuntime, number: string): string[] {
  return runtime.texted.filter(({ to }) => to === number).map(({ sms }) => sms.type);
}

/** The newest code that was mailed to an address. */
export function codeFor(runtime: TestRuntime, address: string): string {
  const job = runtime.enqueued.findLast(({ to }) => to === address);
  if (!job || !("code" in job.mail)) throw new Error(`no code was mailed to ${address}`);
  return job.mail.code;
}

/** The client of a browser that has just signed in: it bears the mark of the account. */
export function markedClient({ answer }: Walk): Client {
  const mark = answer.cookieChanges?.mark?.value;
  if (!mark) throw new Error(`no account was marked at ${answer.state.name}`);
  return { ...testClient, markCookie: mark };
}

/** The types of all mails to an address, oldest first. */
export function mailsTo(runtime: TestRuntime, address: string): string[] {
  return runtime.enqueued.filter(({ to }) => to === address).map(({ mail }) => mail.type);
}

/** Walks of users; `taken` records the covered edges. */
export function people(taken?: FlowCoverage) {
  /** Starts a flow and registers client capabilities. */
  async function begin(
    runtime: TestRuntime,
    type: "login" | "registration",
    able: object = capabilities,
    client: Client = testClient,
  ): Promise<Walk> {
    const flow = await walk(runtime, type, { client, ...(taken ? { taken } : {}) });
    await flow.act("register_client_capabilities", { ...able });
    return flow;
  }

  /** Registers a user with a password, and with a passkey if an authenticator is given. */
  async function register(
    runtime: TestRuntime,
    person: Partial<Person> & { authenticator?: ReturnType<typeof softwareAuthenticator> } = {},
  ): Promise<Person> {
    const { authenticator, email = newAddress(), username } = person;
    const named = username ? { username } : {};
    const flow = await begin(runtime, "registration", authenticator ? capabilities : {});
    await flow.act("register_login_identifier", { email, ...named });
    if (flow.state.name === "passcode_confirmation") {
      await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    }
    if (flow.state.name === "password_creation") {
      await flow.act("register_password", { new_password: password });
    }
    if (flow.state.name === "onboarding_create_passkey" && authenticator) {
      const { payload } = await flow.act("webauthn_generate_creation_options");
      const public_key = authenticator.create(payload.creation_options, { origin });
      await flow.act("webauthn_verify_attestation_response", { public_key });
    }
    if (flow.state.name !== "success") throw new Error(`the registration ended at ${flow.state.name}`);
    return { email, ...named };
  }

  /** Signs in with identifier and password; the next state depends on the account. */
  async function signIn(
    runtime: TestRuntime,
    input: Record<string, string>,
    able: object = {},
  ): Promise<Walk> {
    const flow = await begin(runtime, "login", able);
    await flow.act("continue_with_login_identifier", input);
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    return flow;
  }

  return { begin, register, signIn };
}
