import type { ReportedCapabilities } from "./capabilities.ts";
import type { FlowAnswer, FlowServer } from "./flow-server.ts";

/** Starts a login, in place of the one before, and identifies the user if it takes an identifier. */
export async function startFor(
  server: FlowServer,
  identifier: string,
  capabilities: ReportedCapabilities,
): Promise<FlowAnswer> {
  const started = await server.start("login", capabilities);
  const { continue_with_login_identifier: action } = started.state.actions;
  const [input] = Object.values(action?.inputs ?? {});
  return action && input
    ? server.act("login", action.action, started.version, { [input.name]: identifier }, capabilities)
    : started;
}
