import type { Client } from "../context/client.ts";
import type { Answer } from "../flow/answer.ts";
import { addStep, type FlowCoverage } from "../flow/coverage.ts";
import { current } from "../flow/current.ts";
import { start, step } from "../flow/engine.ts";
import type { FlowType, StateName } from "../flow/names.ts";
import { errorCodes } from "../flow/tell-observers.ts";
import type { ActionDescriptor, FlowState } from "../flow/wire.ts";
import type { WaitingAuthorization } from "../openid/waiting-authorization.ts";
import { findSession } from "../sessions/sessions.ts";
import { type TestRuntime, testClient } from "./runtime.ts";

/** A client of the engine that keeps the newest token. */
export interface Walk {
  readonly state: FlowState;
  readonly answer: Answer;
  readonly flowId: string;
  /** The newest resume secret. */
  readonly resume: string;
  /** The session of the next request. */
  readonly sessionId: string | undefined;
  /** Performs an action; keeps the new state unless it is `error`. */
  act(
    action: string,
    input?: Record<string, unknown>,
    options?: { token?: string; runtime?: TestRuntime },
  ): Promise<FlowState>;
  /** Asks for the current state, as a page does. */
  refresh(): Promise<FlowState>;
  /** Error codes of the newest answer, as `errorCodes` returns them. */
  errors(): string[];
}

/**
 * Starts a flow.
 *
 * @param options `authorization`: what a consent flow asks; `sessionId`: the session of every request, read anew each time, until an answer issues another
 */
export async function walk(
  runtime: TestRuntime,
  type: FlowType,
  {
    client = testClient,
    taken,
    sessionId: firstSessionId,
    authorization,
  }: {
    client?: Client;
    taken?: FlowCoverage;
    sessionId?: string;
    authorization?: WaitingAuthorization;
  } = {},
): Promise<Walk> {
  let sessionId = firstSessionId;
  const session = async () => {
    const found = sessionId ? await findSession(runtime, runtime.tenant, sessionId) : null;
    return found?.live ? found.session : undefined;
  };
  let answer = await start(runtime, runtime.tenant, client, type, {
    session: await session(),
    authorization,
  });
  const { flowId } = answer;
  if (!flowId) throw new Error(`no flow was started: ${answer.state.error?.code}`);
  return {
    get state() {
      return answer.state;
    },
    get answer() {
      return answer;
    },
    flowId,
    get resume() {
      return answer.resume ?? "";
    },
    get sessionId() {
      return sessionId;
    },
    async act(action, input = {}, options = {}) {
      const from = answer.state.name;
      const { tenant } = options.runtime ?? runtime;
      const token = options.token ?? answer.state.csrf_token;
      const present = await session();
      const next = await step(options.runtime ?? runtime, tenant, client, {
        type,
        flowId,
        action,
        token,
        input: { ...presets(answer.state.actions[action]), ...input },
        ...(present ? { session: present } : {}),
      });
      if (next.state.name === "error") return next.state;
      answer = next;
      if (type === "profile") sessionId = next.session?.id ?? sessionId;
      const to = next.state.name as StateName;
      if (taken)
        addStep(taken, { type, from: from as StateName, action, to, errors: errorCodes(next.state) });
      return next.state;
    },
    async refresh() {
      const present = await session();
      const call = { type, flowId, resume: answer.resume ?? "", ...(present ? { session: present } : {}) };
      const shown = await current(runtime, runtime.tenant, client, call);
      if (shown.state.name !== "error") answer = shown;
      return shown.state;
    },
    errors: () => errorCodes(answer.state),
  };
}

/** The values of hidden inputs that an action announces, which published clients send unless they know others. */
function presets(action: Pick<ActionDescriptor, "inputs"> | undefined): Record<string, unknown> {
  const hidden = Object.values(action?.inputs ?? {}).filter(
    ({ hidden, value }) => hidden && value !== undefined,
  );
  return Object.fromEntries(hidden.map(({ name, value }) => [name, value]));
}
