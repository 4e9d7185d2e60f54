import { initTRPC, TRPCError } from "@trpc/server";
import { type FlowType, flowTypes } from "../flow/names.ts";
import { isObject } from "../http/body.ts";
import {
  actOnPage,
  currentOnPage,
  type PageAnswer,
  type PageReply,
  startOnPage,
} from "../http/page/page-flow.ts";
import type { Context } from "./context.ts";

// Errors never show where they come from, whatever the environment says.
const { router, procedure } = initTRPC.context<Context>().create({ isDev: false });

/**
 * The browser's flow, for the page of this service. All three change something, if only a token, so all are
 * mutations. A refusal is a state, in `data`; only a call that is malformed is an error of tRPC.
 */
export const appRouter = router({
  flow: router({
    /** Starts a flow, in place of the one this browser may have. */
    start: procedure
      .input(typeInput)
      .mutation(async ({ input, ctx }) => answer(ctx, await startOnPage(ctx.handlerContext, input.type))),

    /** Performs an action of the state that the page drew. */
    act: procedure
      .input(actInput)
      .mutation(async ({ input, ctx }) => answer(ctx, await actOnPage(ctx.handlerContext, input))),

    /** Shows the state as it is now and performs nothing: after a lost answer, or a refusal of another tab. */
    current: procedure
      .input(typeInput)
      .mutation(async ({ input, ctx }) => answer(ctx, await currentOnPage(ctx.handlerContext, input.type))),
  }),
});

export type AppRouter = typeof appRouter;

function answer({ answerHeaders }: Context, { answer, headers, cookies }: PageReply): PageAnswer {
  for (const [name, value] of Object.entries(headers)) answerHeaders.set(name, value);
  for (const cookie of cookies) answerHeaders.append("Set-Cookie", cookie);
  return answer;
}

interface TypeInput {
  type: FlowType;
}

interface ActInput extends TypeInput {
  action: string;
  /** Of the state that the page drew. */
  version: number;
  input: Record<string, unknown>;
}

function typeInput(raw: unknown): TypeInput {
  const { type, ...others } = membersOf(raw);
  return only({ type: flowType(type) }, others);
}

function actInput(raw: unknown): ActInput {
  const { type, action, version, input, ...others } = membersOf(raw);
  if (typeof action !== "string" || action.length === 0 || action.length > 64) throw badInput("action");
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 0) throw badInput("version");
  if (!isObject(input)) throw badInput("input");
  return only({ type: flowType(type), action, version, input }, others);
}

function membersOf(raw: unknown): Record<string, unknown> {
  if (!isObject(raw)) throw badInput("the input");
  return raw;
}

function flowType(value: unknown): FlowType {
  const type = flowTypes.find((name) => name === value);
  if (!type) throw badInput("type");
  return type;
}

function only<Input>(input: Input, others: Record<string, unknown>): Input {
  if (Object.keys(others).length > 0) throw badInput("the input");
  return input;
}

function badInput(what: string): TRPCError {
  return new TRPCError({ code: "BAD_REQUEST", message: `${what} is not valid` });
}
