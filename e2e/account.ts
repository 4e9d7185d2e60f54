import type { BrowserContext } from "@playwright/test";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import type { SmtpCatcher } from "../server/testing/smtp.ts";
import { type Authenticator, softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { type Codes, codesOf } from "./codes.ts";

export interface Account {
  address: string;
  password: string;
  /** Holds the account's passkey, if it has one. */
  authenticator: Authenticator;
  /** Codes of its authenticator app, if it has one. */
  codes: Codes | null;
  /** Recovery codes of the account. */
  recoveryCodes: string[];
}

interface SignUp {
  passkey?: boolean;
  /** With an authenticator app as second factor. */
  app?: boolean;
  /** The authenticator that creates the passkey. */
  authenticator?: Authenticator;
  /** The origin of the page that creates the passkey; default: the server's own. */
  origin?: string;
}

/** Registers a user over REST, for tests that begin with an account. */
export async function signUp(
  url: string,
  mailbox: SmtpCatcher,
  address: string,
  { passkey = false, app = false, authenticator = softwareAuthenticator(), origin = url }: SignUp = {},
): Promise<Account> {
  const password = `an unguessable password, ${crypto.randomUUID()}`;
  const client = flowClient(url);
  await client.start("registration");
  await client.act("register_client_capabilities", {
    webauthn_available: passkey,
    webauthn_conditional_mediation_available: false,
    webauthn_platform_authenticator_available: passkey,
  });
  const asked = mailbox.messages.length;
  await client.act("register_login_identifier", { email: address });
  if (client.state.name === "passcode_confirmation")
    await client.act("verify_passcode", { code: await mailbox.codeFor(address, asked) });
  await client.act("register_password", { new_password: password });
  if (passkey) await createPasskey(client, authenticator, origin);
  let codes: Codes | null = null;
  if (client.state.name === "mfa_method_chooser") {
    if (app) codes = await setUpApp(client);
    else await client.act("skip");
  }
  if (client.state.name !== "success")
    throw new Error(`registration ended in ${JSON.stringify(client.state)}`);
  const recoveryCodes = (client.state.payload.recovery_codes ?? []) as string[];
  return { address, password, authenticator, codes, recoveryCodes };
}

async function setUpApp(client: FlowClient): Promise<Codes> {
  await client.act("continue_to_otp_secret_creation");
  const codes = codesOf(String(client.state.payload.otp_secret));
  await client.act("otp_code_verify", { otp_code: await codes.next() });
  return codes;
}

/** Signs a user in over REST by password alone, and sets the session cookie in a browser. */
export async function setSessionCookie(
  context: BrowserContext,
  url: string,
  { address, password }: Pick<Account, "address" | "password">,
): Promise<void> {
  const client = flowClient(url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: address });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  const token = client.cookies.get("service");
  if (!token) throw new Error(`the sign-in ended in ${JSON.stringify(client.state)}`);
  await context.addCookies([{ name: "service", value: token, url, httpOnly: true, sameSite: "Lax" }]);
}

async function createPasskey(
  client: FlowClient,
  authenticator: Authenticator,
  origin: string,
): Promise<void> {
  await client.act("webauthn_generate_creation_options");
  const made = authenticator.create(client.state.payload.creation_options, { origin });
  await client.act("webauthn_verify_attestation_response", { public_key: made });
}

/** Sets the sign-in of every session one hour earlier. */
export async function backdateSignIns(database: string | null): Promise<void> {
  await withClient(database ?? "", (client) =>
    client.query("update sessions set authenticated_at = authenticated_at - interval '1 hour'"),
  );
}
