import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { issueAuthorizationCode } from "../../sessions/authorization-codes.ts";
import type { IssuedSession } from "../../sessions/session.ts";
import type { HandlerContext } from "../handler-context.ts";
import { destinationUrl, mayReturnTo } from "./destination.ts";
import { openPageCookie } from "./page-cookie.ts";

const { handoverCodes } = schema;

/**
 * Where to send a person who has signed in, if an application asked for that: with a one-time code when it gave a
 * challenge to bind one to, else without, because it sees the session cookie itself. The address is judged anew: it
 * may have been taken off the list since the cookie was sealed.
 *
 * @param again whether this session was handed out before. Then a code takes the place of the one that was made for
 *   it, and once that was redeemed there is none: one sign-in is handed over once.
 */
export async function handOver(
  context: HandlerContext,
  session: IssuedSession,
  { again }: { again: boolean },
): Promise<string | null> {
  const { runtime, tenant, cookies } = context;
  const destination = await openPageCookie(runtime, tenant, "destination", cookies);
  if (!destination) return null;
  const { to, codeChallenge } = destination;
  if (!mayReturnTo(new URL(to), tenant.config)) return null;
  if (codeChallenge === undefined) return destinationUrl(destination, null);
  if (again && !(await withdrawCode(context, session))) return null;
  const code = await issueAuthorizationCode(runtime, tenant, {
    sessionId: session.id,
    codeChallenge,
    redirectTo: to,
  });
  return code === null ? null : destinationUrl(destination, code);
}

/** Whether a code that was made for the session has not been redeemed yet. */
export async function hasUnspentCode(
  { runtime, tenant }: HandlerContext,
  session: IssuedSession,
): Promise<boolean> {
  const found = await runtime.database.write
    .select({ sessionId: handoverCodes.sessionId })
    .from(handoverCodes)
    .where(codesOf(tenant.id, session));
  return found.length > 0;
}

/** Takes back a code that nobody has redeemed; one that is redeemed at the same time is not there to be taken. */
async function withdrawCode({ runtime, tenant }: HandlerContext, session: IssuedSession): Promise<boolean> {
  const taken = await runtime.database.write
    .delete(handoverCodes)
    .where(codesOf(tenant.id, session))
    .returning({ sessionId: handoverCodes.sessionId });
  return taken.length > 0;
}

const codesOf = (tenantId: string, { id }: IssuedSession) =>
  and(eq(handoverCodes.tenantId, tenantId), eq(handoverCodes.sessionId, id));
