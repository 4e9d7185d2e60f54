import type { z } from "zod";
import { parseInput } from "../../authenticator/request-input.ts";
import type { Reply } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { authenticatorError } from "./error.ts";

/** Reads a body and parses it with a schema of `server/authenticator/request-input.ts`. */
export async function readBody<Value>(
  { request }: HandlerContext,
  schema: z.ZodType<Value>,
): Promise<{ ok: true; value: Value } | { ok: false; reply: Reply }> {
  const body = await readObject(request);
  if (!body.ok)
    return {
      ok: false,
      reply:
        body.reason === "too_large"
          ? authenticatorError(413, "The body is too large.")
          : authenticatorError(400, sentence(body.details)),
    };
  const parsed = parseInput(schema, body.value);
  return parsed.ok ? parsed : { ok: false, reply: authenticatorError(400, `${parsed.details}.`) };
}

function sentence(details: string): string {
  return `${details.charAt(0).toUpperCase()}${details.slice(1)}.`;
}
