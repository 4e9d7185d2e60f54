import { createTRPCClient, httpLink } from "@trpc/client";
import type { FlowType } from "#server/flow/names";
import type { FlowState } from "#server/flow/wire";
import type { AppRouter } from "#server/trpc/router";

export type { FlowType };

/** What the server answers to every call; refusals are flow states too. */
export interface FlowAnswer {
  /** Names the state that this page draws; a step must name the newest one. 0 when no flow was started. */
  version: number;
  state: FlowState;
  /** Where the person goes after `success`. */
  redirect_to?: string;
}

/** The three calls there are. A call that brings no answer at all rejects. */
export interface FlowServer {
  start(type: FlowType): Promise<FlowAnswer>;
  act(type: FlowType, action: string, version: number, input: Record<string, unknown>): Promise<FlowAnswer>;
  /** The state as it is now; performs nothing. */
  current(type: FlowType): Promise<FlowAnswer>;
}

/** Longer than the server allows itself for a step; after that the answer counts as lost. */
const patience = 20_000;

/**
 * The server behind the page, over tRPC.
 *
 * @param url address of the tRPC endpoint, for instance `/api/trpc`
 * @param language of the mails that the steps lead to
 */
export function flowServer(url: string, language: string): FlowServer {
  const client = createTRPCClient<AppRouter>({
    links: [httpLink({ url, headers: { "x-language": language } })],
  });
  const options = () => ({ signal: AbortSignal.timeout(patience) });
  return {
    start: async (type) => asSent(await client.flow.start.mutate({ type }, options())),
    act: async (type, action, version, input) =>
      asSent(await client.flow.act.mutate({ type, action, version, input }, options())),
    current: async (type) => asSent(await client.flow.current.mutate({ type }, options())),
  };
}

/** A flow state is JSON by its definition; that it went through JSON has changed nothing but its type. */
function asSent(received: object): FlowAnswer {
  return received as FlowAnswer;
}
