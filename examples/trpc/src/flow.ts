import type { AppRouter, FlowAnswer, FlowState } from "@stile-auth/server/trpc";
import { createTRPCClient, httpLink } from "@trpc/client";

export interface Flow {
  readonly state: FlowState;
  /** Throws where the flow has ended otherwise: it has expired, or too much was tried. */
  act(action: string, input: Record<string, unknown>): Promise<void>;
}

/** Begins a flow at Stile over tRPC, from a page of another origin: the page holds the flow itself. */
export async function begin(
  type: "login" | "registration",
  { url, codeChallenge }: { url: string; codeChallenge: string },
): Promise<Flow> {
  let token: string | undefined;
  const { flow } = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${url}/api/trpc`,
        headers: () => (token === undefined ? {} : { "x-stile-flow": token }),
      }),
    ],
  });
  const taken = (answer: FlowAnswer): FlowAnswer => {
    if (answer.state.name === "error") throw new Error(answer.state.error?.message);
    token = answer.flow_token ?? token;
    return answer;
  };

  // This page shows no passkeys, so it reports no capability.
  let answer = taken(await flow.start.mutate({ type, capabilities: {}, code_challenge: codeChallenge }));
  return {
    get state() {
      return answer.state;
    },
    async act(action, input) {
      answer = taken(await flow.act.mutate({ type, version: answer.version, action, input }));
    },
  };
}
