import { json, type Reply } from "../answer/reply.ts";

/**
 * Builds an error of the authenticator interface: `{code, message}`. Published clients read `messsage` of a 404, so it
 * carries both.
 *
 * @param message for developers; of the client, only names of members
 */
export function authenticatorError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  const body = { code: status, message, ...(status === 404 ? { messsage: message } : {}) };
  return json(status, body, { headers });
}
