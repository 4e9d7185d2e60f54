import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import type { SmtpCatcher } from "../server/testing/smtp.ts";
import { type Authenticator, softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";

export interface Account {
  address: string;
  password: string;
  /** Holds the account's passkey, if it has one. */
  authenticator: Authenticator;
}

interface SignUp {
  passkey?: boolean;
  /** What makes the passkey. */
  authenticator?: Authenticator;
}

/** Registers somebody over REST, for tests that begin with an account. */
export async function signUp(
  url: string,
  mailbox: SmtpCatcher,
  address: string,
  { passkey = false, authenticator = softwareAuthenticator() }: SignUp = {},
): Promise<Account> {
  const password = `a password nobody has, ${crypto.randomUUID()}`;
  const client = flowClient(url);
  await client.start("registration");
  await client.act("register_client_capabilities", {
    webauthn_available: passkey,
    webauthn_conditional_mediation_available: false,
    webauthn_platform_authenticator_available: passkey,
  });
  const asked = Date.now() - 1;
  await client.act("register_login_identifier", { email: address });
  await client.act("verify_passcode", { code: await mailbox.codeFor(address, asked) });
  await client.act("register_password", { new_password: password });
  if (passkey) await createPasskey(client, authenticator, url);
  if (client.state.name !== "success")
    throw new Error(`registration ended in ${JSON.stringify(client.state)}`);
  return { address, password, authenticator };
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
