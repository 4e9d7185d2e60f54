"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { type ReactNode, useState } from "react";
import { useAskToSignIn } from "../_shell/sign-in-again.tsx";
import type { ConsoleRouter } from "./console-router.ts";
import { refusalOf, signInLink } from "./step-up.ts";

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<ConsoleRouter>();

export { useTRPC, useTRPCClient };

/** Calls that one request carries, as the server allows. */
const MAX_BATCH = 20;

/** How long an answer is shown without asking again. */
const STALE_MS = 10_000;

const makeQueries = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        retry: (failures, error) => refusalOf(error) === null && failures < 2 && !isAnswer(error),
      },
    },
  });

/** Whether an error is an answer of the service, which a repetition would not change. */
const isAnswer = (error: unknown) => {
  const status = (error as { data?: { httpStatus?: number } }).data?.httpStatus;
  return status !== undefined && status < 500;
};

/** Gives pages the procedures of the console. */
export function ApiProvider({ children }: { children: ReactNode }) {
  const ask = useAskToSignIn();
  const [queries] = useState(makeQueries);
  const [client] = useState(() =>
    createTRPCClient<ConsoleRouter>({
      links: [
        signInLink(ask),
        httpBatchLink({ url: "/api/console/trpc", methodOverride: "POST", maxItems: MAX_BATCH }),
      ],
    }),
  );
  return (
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}
