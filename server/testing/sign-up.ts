import type { FlowClient } from "./flow-client.ts";

/**
 * Signs up with an address and a password, and skips all else that is offered.
 *
 * @param codeOf returns the code that was mailed to the address, where addresses are verified
 */
export async function signUp(
  client: FlowClient,
  { email, password, codeOf }: { email: string; password: string; codeOf?: (to: string) => Promise<string> },
): Promise<void> {
  await client.start("registration", { capabilities: {} });
  if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email });
  while (client.state.name !== "success") {
    const { actions } = client.state;
    if (actions.verify_passcode && codeOf) await client.act("verify_passcode", { code: await codeOf(email) });
    else if (actions.continue_to_password_registration) await client.act("continue_to_password_registration");
    else if (actions.register_password) await client.act("register_password", { new_password: password });
    else if (actions.skip) await client.act("skip");
    else throw new Error(`a registration ended in ${client.state.name}`);
  }
}
