import { expect } from "vitest";
import { flowClient } from "../server/testing/flow-client.ts";
import { signUp } from "../server/testing/sign-up.ts";
import type { SmtpCatcher } from "../server/testing/smtp.ts";

/** Signs a visitor of a server up with a code that is mailed, and in again with the password. */
export async function signUpAndIn(address: string, mails: Pick<SmtpCatcher, "codeFor">): Promise<void> {
  const email = `${crypto.randomUUID()}@example.com`;
  const password = "correct horse battery staple";
  await signUp(flowClient(address), { email, password, codeOf: (to) => mails.codeFor(to) });
  const client = flowClient(address);
  await client.start("login", { capabilities: {} });
  await client.act("continue_with_login_identifier", { email });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  expect(client.state.name).toBe("success");
}
