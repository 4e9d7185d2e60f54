import type { FlowType } from "../../flow/names.ts";
import type { FlowState } from "../../flow/wire.ts";
import { CommandError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { type FlowRequests, NoAnswerError } from "./flow-requests.ts";
import type { Prompter } from "./prompter.ts";

/**
 * Goes through a flow with a program: prints each state as a line of JSON without its token, and reads the next action
 * as one, `{"action": "password_login", "input": {"password": "…"}}`.
 *
 * @returns the state `success`
 * @throws CommandError for the state `error`, which is printed too, and for a line that names no offered action
 */
export async function signInByLines({
  type,
  requests,
  prompter,
  print,
}: {
  type: FlowType;
  requests: FlowRequests;
  prompter: Prompter;
  print(line: string): Promise<void>;
}): Promise<FlowState> {
  const answered = async (request: Promise<FlowState>) => {
    const state = await request.catch((error: unknown) => {
      throw error instanceof NoAnswerError ? new CommandError(error.message) : error;
    });
    if (state.name !== "success") await print(JSON.stringify({ ...state, csrf_token: undefined }));
    return state;
  };
  let state = await answered(requests.start(type));
  for (;;) {
    if (state.name === "success") return state;
    if (state.name === "error")
      throw new CommandError(`the flow ended: ${escapeControls(state.error?.code ?? String(state.status))}`);
    const { action, input } = parseLine(await prompter.ask(""), state);
    state = await answered(requests.act(state, action, input));
  }
}

function parseLine(line: string, { name, actions }: FlowState) {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new CommandError('a line is not JSON like {"action": "…", "input": {…}}');
  }
  const { action, input = {} } = (value ?? {}) as { action?: unknown; input?: unknown };
  if (typeof action !== "string" || !Object.hasOwn(actions, action))
    throw new CommandError(escapeControls(`${name} offers ${Object.keys(actions).join(", ")}`));
  if (typeof input !== "object" || input === null) throw new CommandError("the input is not an object");
  return { action, input: input as Record<string, unknown> };
}
