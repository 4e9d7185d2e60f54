import { createTRPCClient, httpLink } from "@trpc/client";
import type { FlowType } from "#server/flow/names";
import type { FlowState } from "#server/flow/wire";
import type { AppRouter } from "#server/http/trpc/router";
import type { ReportedCapabilities } from "./capabilities.ts";
import { REQUEST_TIMEOUT_MS } from "./request-timeout.ts";

export type { FlowType };

/** The server's answer to every call; errors are flow states too. */
export interface FlowAnswer {
  /** Identifies the state that this page shows; a step must name the newest one. 0 when no flow was started. */
  version: number;
  state: FlowState;
  /** What a user tells an operator of the flow by; absent where flows are not recorded. */
  support_number?: string;
  /** Where to redirect after `success`. */
  redirect_to?: string;
}

/** The calls of the flow API. A call without an answer rejects. */
export interface FlowServer {
  /** @param capabilities of the browser; a server that takes them answers with the state after `preflight` */
  start(type: FlowType, capabilities?: ReportedCapabilities): Promise<FlowAnswer>;
  /** @param capabilities of the browser, beside a step that may start a flow */
  act(
    type: FlowType,
    action: string,
    version: number,
    input: Record<string, unknown>,
    capabilities?: ReportedCapabilities,
  ): Promise<FlowAnswer>;
  /** The current state; performs no action. */
  current(type: FlowType): Promise<FlowAnswer>;
  /** Whether the service refuses the calls of this page, so that no further attempt helps. Absent: it does not. */
  refuses?(): Promise<boolean>;
  /** Whether the browser keeps nothing by which the server knows the flow again. Absent: it does. */
  forgets?(): boolean;
}

/**
 * A client of the flow API over tRPC.
 *
 * @param url address of the tRPC endpoint, for instance `/api/trpc`
 * @param language language of mails that the steps send
 * @param options `headers`: further headers of every call; `account`: id of the account that the page was drawn for, if any
 */
export function flowServer(
  url: string,
  language: string,
  { headers = {}, account }: { headers?: Record<string, string>; account?: string | undefined } = {},
): FlowServer {
  const client = createTRPCClient<AppRouter>({
    links: [httpLink({ url, headers: { "x-language": language, ...headers } })],
  });
  const options = () => ({ signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  return {
    start: async (type, capabilities) =>
      asSent(await client.flow.start.mutate({ type, capabilities }, options())),
    act: async (type, action, version, input, capabilities) => {
      // Only a step that starts a flow needs it.
      const shown = version === 0 && type === "profile" ? { account } : {};
      const step = { type, action, version, input, capabilities, ...shown };
      return asSent(await client.flow.act.mutate(step, options()));
    },
    current: async (type) => asSent(await client.flow.current.mutate({ type }, options())),
  };
}

/** Flow states are JSON by definition, so serialization changes nothing but the inferred type. */
function asSent(received: object): FlowAnswer {
  return received as FlowAnswer;
}
