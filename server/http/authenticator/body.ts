import type { Read } from "../../authenticator/request-input.ts";
import { readObject } from "../body.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { Reply } from "../reply.ts";
import { authenticatorError } from "./error.ts";

/** Reads a body by one of the readers of `server/authenticator/request-input.ts`. */
export async function readBody<Value>(
  { request }: HandlerContext,
  read: (body: unknown) => Read<Value>,
): Promise<{ ok: true; value: Value } | { ok: false; rejection: Reply }> {
  const body = await readObject(request);
  if (!body.ok) {
    const rejection =
      body.reason === "too_large"
        ? authenticatorError(413, "The body is too large.")
        : authenticatorError(400, "The body is not a JSON object that can be read.");
    return { ok: false, rejection };
  }
  const given = read(body.value);
  return given.ok ? given : { ok: false, rejection: authenticatorError(400, given.message) };
}
