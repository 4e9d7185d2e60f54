import { createHandover } from "../sessions/handover.ts";
import type { IssuedSession } from "../sessions/sessions.ts";
import type { Exchange } from "./exchange.ts";
import { openPageCookie } from "./page-cookie.ts";
import { destinationUrl } from "./redirect.ts";

/**
 * Where to send a person who has just signed in, if an application asked for that: with a one-time code when it
 * gave a challenge to bind one to, else without, because it sees the session cookie itself.
 */
export async function handOver(
  { runtime, tenant, cookies }: Exchange,
  session: IssuedSession,
): Promise<string | null> {
  const destination = await openPageCookie(runtime, tenant, "destination", cookies);
  if (!destination) return null;
  const { to, codeChallenge } = destination;
  if (codeChallenge === undefined) return destinationUrl(destination, null);
  const code = await createHandover(runtime, tenant, {
    sessionId: session.id,
    codeChallenge,
    redirectTo: to,
  });
  return code === null ? null : destinationUrl(destination, code);
}
