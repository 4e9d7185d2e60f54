import { initTRPC, TRPCError } from "@trpc/server";
import type { z } from "zod";
import { detailedState } from "../../flow/error-codes.ts";
import { type FlowType, isOfSession } from "../../flow/names.ts";
import { retryPayload } from "../../flow/outcome.ts";
import { showError } from "../../flow/show.ts";
import { isUnknownKey } from "../../keys/unknown-key.ts";
import { RETRY_AFTER_SECONDS } from "../answer/temporary-failure.ts";
import { movedFlowInput, pageActionInput, pageFlowInput, pageStartInput } from "../flow/schemas.ts";
import type { PageAnswer } from "../page/page-answer.ts";
import {
  actOnPage,
  continueMovedFlow,
  currentOnPage,
  moveFlow,
  type PageReply,
  startOnPage,
  withoutFlow,
} from "../page/page-flow.ts";
import type { Context } from "./context.ts";

// Errors never contain a stack trace, in any environment.
const { router, procedure } = initTRPC.context<Context>().create({ isDev: false });

const typeInput = parser(pageFlowInput);
const startInput = parser(pageStartInput);
const movedInput = parser(movedFlowInput);
const actInput = parser(pageActionInput);

/** A parser as tRPC knows it. The first two members are types alone. */
interface Parser<Sent, Parsed> {
  _input: Sent;
  _output: Parsed;
  parse(raw: unknown): Parsed;
}

/** Parses with a schema; the error names the first member at fault. */
function parser<Schema extends z.ZodType>(schema: Schema): Parser<z.input<Schema>, z.output<Schema>> {
  const parse = (raw: unknown) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const member = parsed.error.issues[0]?.path[0] ?? "input";
    throw new TRPCError({ code: "BAD_REQUEST", message: `Invalid ${String(member)}.` });
  };
  return { parse } as Parser<z.input<Schema>, z.output<Schema>>;
}

/** A call that may start a flow, without what no flow of its type takes. */
function beginning<Call extends { type: FlowType; code_challenge?: string | undefined }>(call: Call) {
  const { code_challenge: codeChallenge, ...rest } = call;
  // A flow of a session issues none.
  if (codeChallenge !== undefined && isOfSession(call.type))
    throw new TRPCError({ code: "BAD_REQUEST", message: "Invalid code_challenge." });
  return { ...rest, codeChallenge };
}

/**
 * A flow of a browser, for the hosted page and pages of `cors.allow_origins`. All procedures are mutations, since each
 * changes at least a token. Errors of a flow are states, in `data`; only a malformed call is an error of tRPC.
 */
export const appRouter = router({
  flow: router({
    /** Starts a flow, in place of the browser's current one. */
    start: procedure
      .input(startInput)
      .mutation(({ input, ctx }) => answer(ctx, () => startOnPage(ctx.handlerContext, beginning(input)))),

    /** Performs an action of the displayed state. */
    act: procedure
      .input(actInput)
      .mutation(({ input, ctx }) => answer(ctx, () => actOnPage(ctx.handlerContext, beginning(input)))),

    /** Returns the current state without performing an action: after a lost answer, or a step in another tab. */
    current: procedure
      .input(typeInput)
      .mutation(({ input, ctx }) => answer(ctx, () => currentOnPage(ctx.handlerContext, input.type))),

    /** Seals the flow of a frame for another window of this service; null if there is none. */
    move: procedure.input(typeInput).mutation(({ input, ctx }) => moveFlow(ctx.handlerContext, input.type)),

    /** Goes on with a sealed flow, and returns its current state. */
    continue: procedure
      .input(movedInput)
      .mutation(({ input, ctx }) => answer(ctx, () => continueMovedFlow(ctx.handlerContext, input))),
  }),
});

export type AppRouter = typeof appRouter;

async function answer(
  { responseHeaders, handlerContext: { runtime, tenant } }: Context,
  perform: () => Promise<PageReply>,
): Promise<PageAnswer> {
  const { answer, headers, cookies } = await perform().catch((error: unknown) => {
    if (isUnknownKey(error, runtime.log)) return unavailable();
    throw error;
  });
  for (const [name, value] of Object.entries(headers)) responseHeaders.set(name, value);
  for (const cookie of cookies) responseHeaders.append("Set-Cookie", cookie);
  return { ...answer, state: detailedState(answer.state, tenant.config) };
}

const unavailable = (): PageReply => ({
  ...withoutFlow(showError("temporarily_unavailable", { payload: retryPayload(RETRY_AFTER_SECONDS) })),
  headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
});
