import { json, type Reply } from "../reply.ts";

/**
 * A refusal of the authenticator interface: `{code, message}`. Published clients read `messsage` where something was
 * not found (`interface.md` 7.2), so a 404 carries both.
 *
 * @param message for the people who build clients; nothing a client sent is repeated in it
 */
export function authenticatorError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  const body = { code: status, message, ...(status === 404 ? { messsage: message } : {}) };
  return json(status, body, { headers });
}
