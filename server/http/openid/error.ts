import { json, type Reply } from "../answer/reply.ts";

/** What is said while the provider is off. */
export const OFF = "The OpenID provider is off (openid.enabled).";

/**
 * An error of the OpenID provider that the library does not send (RFC 6749, 5.2).
 *
 * @param description for developers of clients; never repeats what a client sent
 */
export function oauthError(status: number, description: string, headers: Record<string, string> = {}): Reply {
  const error = status === 429 ? "temporarily_unavailable" : "invalid_request";
  return json(status, { error, error_description: description }, { headers });
}
