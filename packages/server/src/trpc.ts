/**
 * The type of the flow's tRPC router, for `createTRPCClient<AppRouter>` of `@trpc/client`, and the types of its answers.
 * There is nothing here at run time.
 */
export type {
  ActionDescriptor,
  FlowError,
  FlowLink,
  FlowState,
  InputDescriptor,
} from "../../../server/flow/wire.ts";
export type { PageAnswer as FlowAnswer } from "../../../server/http/page/page-answer.ts";
export type { AppRouter } from "../../../server/http/trpc/router.ts";
