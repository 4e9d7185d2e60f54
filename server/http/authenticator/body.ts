import type { Parsed } from "../../authenticator/request-input.ts";
import type { Reply } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { authenticatorError } from "./error.ts";

/** Reads a body and parses it with a function of `server/authenticator/request-input.ts`. */
export async function readBody<Value>(
  { request }: HandlerContext,
  parse: (body: unknown) => Parsed<Value>,
): Promise<{ ok: true; value: Value } | { ok: false; reason: "too_large" | "malformed"; reply: Reply }> {
  const body = await readObject(request);
  if (!body.ok) {
    const reply =
      body.reason === "too_large"
        ? authenticatorError(413, "The body is too large.")
        : authenticatorError(400, sentence(body.details));
    return { ok: false, reason: body.reason, reply };
  }
  const parsed = parse(body.value);
  if (parsed.ok) return parsed;
  return { ok: false, reason: "malformed", reply: authenticatorError(400, parsed.message) };
}

function sentence(details: string): string {
  return `${details.charAt(0).toUpperCase()}${details.slice(1)}.`;
}
