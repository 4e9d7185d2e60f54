import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import { ConfigError } from "../../config/errors.ts";
import type { ConsoleVisitor } from "../../console/console-sessions.ts";
import { isUnknownKey } from "../../keys/unknown-key.ts";
import type { tenantConflict } from "../admin/change-conditions.ts";
import type { Reply } from "../answer/reply.ts";
import { isTemporaryFailure } from "../answer/temporary-failure.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import {
  type CallRefusal,
  type ConsoleOperation,
  callOperation,
  consoleOperations,
  isList,
  type ProcedureInput,
  parsed,
} from "./call.ts";
import { whoIsSignedIn } from "./me.ts";

/** The administration interface over tRPC: a procedure for each operation, of the same name, and `me`. */

/** What was changed since the version that a change was made of (`tenantConflict`). */
type ChangesSince = NonNullable<z.output<typeof tenantConflict>["changes"]>;

/**
 * Why a call was refused: before its operation was asked, because it would lock users out, or because another change was made
 * meanwhile. The member `data.reason` of an error; `data.changes` are those of the other.
 */
class Refusal extends Error {
  readonly reason: CallRefusal | "locks_out" | "changed_since";
  readonly changes: ChangesSince | undefined;
  constructor(reason: Refusal["reason"], message: string, changes?: ChangesSince) {
    super(message);
    this.reason = reason;
    this.changes = changes;
  }
}

const refusals = {
  signed_out: { code: "UNAUTHORIZED", message: "Sign in to the console." },
  forbidden: { code: "FORBIDDEN", message: "Your role does not allow this." },
  not_found: { code: "NOT_FOUND", message: "There is no such tenant, or it is not yours." },
  step_up_required: { code: "FORBIDDEN", message: "Sign in again to make changes." },
  key_required: {
    code: "FORBIDDEN",
    message: "Only an API key may call this: what it gives would not say who asked for it.",
  },
} as const satisfies Record<CallRefusal, { code: TRPCError["code"]; message: string }>;

/** The request, and the account that it is signed in with, which its calls share. */
export interface ConsoleContext {
  request: HandlerContext;
  /** Null if the request is not signed in. */
  visitor(): Promise<ConsoleVisitor | null>;
}

/** Errors never contain a stack trace, in any environment. */
const { router, procedure } = initTRPC.context<ConsoleContext>().create({
  isDev: false,
  errorFormatter({ shape, error }) {
    const { reason, changes } = error.cause instanceof Refusal ? error.cause : {};
    return {
      ...shape,
      // The message of an unexpected error may hold a statement with its values.
      message: error.code === "INTERNAL_SERVER_ERROR" ? "The call failed." : shape.message,
      data: { ...shape.data, reason, changes },
    };
  },
});

function refuse(reason: CallRefusal): never {
  throw new TRPCError({ ...refusals[reason], cause: new Refusal(reason, refusals[reason].message) });
}

const input = z
  .looseObject({ tenant: z.string().optional(), query: z.unknown().optional(), body: z.unknown().optional() })
  .default({});

const procedureOf = (called: ConsoleOperation) => {
  const answers = procedure.input(input);
  const call = async ({ request, visitor }: ConsoleContext, given: ProcedureInput) => {
    const answer = await answered(request, async () =>
      callOperation(request, await visitor(), called, given),
    );
    if ("refused" in answer) return refuse(answer.refused);
    if (answer instanceof Response) {
      await answer.body?.cancel();
      throw new TRPCError({ code: "BAD_REQUEST", message: "The answer is a file: download it." });
    }
    if (answer.status >= 400) throw errorOf(answer);
    const body = parsed(answer);
    return isList(called) ? { items: body, total: Number(answer.headers?.["X-Total-Count"]) } : body;
  };
  return called.row.method === "GET"
    ? answers.query(({ ctx, input: given }) => call(ctx, given))
    : answers.mutation(({ ctx, input: given }) => call(ctx, given));
};

/** As other addresses, answers 503 to what a repetition may mend. */
async function answered<Answer>({ runtime }: HandlerContext, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!isTemporaryFailure(error) && !isUnknownKey(error, runtime.log) && !(error instanceof ConfigError))
      throw error;
    throw new TRPCError({ code: "SERVICE_UNAVAILABLE", message: "The service is busy. Try again." });
  }
}

const codes: Record<number, TRPCError["code"]> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  412: "PRECONDITION_FAILED",
  413: "PAYLOAD_TOO_LARGE",
  429: "TOO_MANY_REQUESTS",
  503: "SERVICE_UNAVAILABLE",
};

function errorOf(answer: Reply): TRPCError {
  const {
    message = "The call failed.",
    locked_out,
    changes,
  } = (parsed(answer) ?? {}) as Partial<z.output<typeof tenantConflict>>;
  const code = codes[answer.status] ?? "INTERNAL_SERVER_ERROR";
  // The page asks whether to make the change all the same, or shows the other one.
  const cause = locked_out
    ? new Refusal("locks_out", message)
    : changes && new Refusal("changed_since", message, changes);
  return new TRPCError({ code, message, cause });
}

export const consoleRouter = router({
  /** The account that is signed in, its role, and the tenants that it reaches. */
  me: procedure.query(async ({ ctx }) => {
    const me = await answered(ctx.request, async () => {
      const visitor = await ctx.visitor();
      return visitor && whoIsSignedIn(ctx.request.runtime, visitor);
    });
    return me ?? refuse("signed_out");
  }),
  ...Object.fromEntries([...consoleOperations].map(([id, called]) => [id, procedureOf(called)])),
});
