import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import { clientsToldBy } from "../config/logout-channels.ts";
import type { Tenant } from "../config/tenant.ts";
import type { ClientContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { hasSignedInBefore } from "./account-marks.ts";
import { actorOf } from "./impersonation.ts";
import { leaveProviderSession, providerLogoutUrl, providerSessionOf } from "./provider-sessions.ts";
import { applicationsOf, endSession, type FoundSession } from "./sessions.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Sealing & AuditOutputs & WakesWebhooks;

const { openidSignIns, sessions } = schema;

/** The most applications that a browser is signed out of by their pages. */
const MAX_APPLICATIONS = 20;

/**
 * A browser whose cookies name several sessions, all but one of which were planted or left behind, goes to the provider of so many:
 * the session of its user does not say that it is the one.
 */
const MAX_PROVIDER_SIGN_OUTS = 4;

interface SignOut {
  found: readonly { session: Pick<FoundSession["session"], "id" | "userId" | "impersonation">; now: Date }[];
  /**
   * The client is a browser that goes on to the provider that a session was signed in at, or of several to one after the other,
   * and from there to this address, already checked; null for a page of this service.
   */
  leaving?: { redirectTo: string | null };
}

/** An application that a session has signed its user in to, and what it knows the session by. */
export interface ApplicationSession {
  clientId: string;
  sid: string;
}

/** What is left for the browser to do after a sign-out. */
export interface LeftToBrowser {
  /** `state` of the first sign-out at a provider; null if there is none. */
  state: string | null;
  /** The applications whose pages it loads (OpenID Connect Front-Channel Logout 1.0). */
  applications: ApplicationSession[];
}

/**
 * Ends the sessions that a client logs out of, and records each in the audit log.
 *
 * @param tx also stores what the browser needs to go on, so that a sign-out that fails is repeated as a whole
 * @returns what is left for a browser that goes on; nothing for another client
 */
export async function logOut(
  tx: Transaction,
  context: Omit<ClientContext<Process>, "now">,
  { found, leaving }: SignOut,
): Promise<LeftToBrowser> {
  const { config } = context.tenant;
  const isKnown = ({ session, now }: SignOut["found"][number]) =>
    hasSignedInBefore({ ...context, now }, session.userId);
  const known = leaving ? found.filter(isKnown) : [];
  const others = found.filter((one) => !known.includes(one));
  const applications = leaving ? await applicationsInBrowser(tx, context.tenant, { known, others }) : [];
  // The browser begins at the provider of the last one.
  const ordered = [...others, ...known];
  const going = new Set(ordered.slice(-MAX_PROVIDER_SIGN_OUTS));
  let state: string | null = null;
  for (const one of ordered) {
    const { session, now } = one;
    if (leaving && going.has(one)) {
      const redirectTo = state === null ? leaving.redirectTo : providerLogoutUrl(config, state);
      const left = await leaveProviderSession(tx, context, { sessionId: session.id, redirectTo });
      state = left ?? state;
    }
    await endSession(context, session.id, "session.delete.explicit.logout")(tx);
    const by = { ...context, now };
    if (session.impersonation) await recordEndOfActing(by, session)(tx);
    else await audit(by, "user_logged_out", {}, session.userId)(tx);
  }
  return { state, applications };
}

/** Returns the entry of the audit log for the end of a session in which an operator acts as its user. */
const recordEndOfActing = (context: ClientContext<Process>, session: SignOut["found"][number]["session"]) => {
  const client = { ...context.client, ...actorOf(session) };
  return audit({ ...context, client }, "impersonation_ended", { session_id: session.id }, session.userId);
};

/**
 * Reads which applications have a page that signs the browser out, those of `known` sessions first: a session cookie that was
 * planted, with sign-ins of its own, keeps no application of the user from being loaded. Sessions take turns, each with its last
 * sign-in first. A sign-in that is stored after this, and before the end of the session, gives its application no tokens.
 *
 * @param about `known`: of users that have signed in with this browser
 */
async function applicationsInBrowser(
  tx: Transaction,
  { id: tenantId, config }: Tenant,
  { known, others }: Record<"known" | "others", SignOut["found"]>,
): Promise<ApplicationSession[]> {
  const clientIds = clientsToldBy(config, "frontchannel_logout_uri");
  const knownIds = known.map(({ session }) => session.id);
  const otherIds = others.map(({ session }) => session.id);
  const { sessionId, createdAt, sid } = openidSignIns;
  if (clientIds.length === 0 || known.length + others.length === 0) return [];
  return tx
    .select({ clientId: openidSignIns.clientId, sid })
    .from(openidSignIns)
    .where(
      and(
        eq(openidSignIns.tenantId, tenantId),
        inArray(sessionId, [...knownIds, ...otherIds]),
        inArray(openidSignIns.clientId, clientIds),
      ),
    )
    .orderBy(
      sql`${sessionId} = any (${sql.param(knownIds)}::uuid[]) desc`,
      sql`row_number() over (partition by ${sessionId} order by ${createdAt} desc, ${sid})`,
      desc(createdAt),
      sid,
    )
    .limit(MAX_APPLICATIONS);
}

/**
 * Ends the sessions that a browser had before it was issued another one. The end of one in which an operator acts as its user is
 * in the audit log, as the start is.
 */
export async function endReplacedSessions(
  context: Omit<ClientContext<Process>, "now">,
  found: readonly FoundSession[],
  { id: issuedId }: { id: string },
): Promise<void> {
  const replaced = found.filter(({ session }) => session.id !== issuedId);
  if (replaced.length === 0) return;
  await context.runtime.database.write.transaction(async (tx) => {
    const [issuedTo] = await tx
      .select({ userId: sessions.userId })
      .from(sessions)
      .where(and(eq(sessions.tenantId, context.tenant.id), eq(sessions.id, issuedId)));
    for (const { session, now } of replaced) {
      const isSame = session.userId === issuedTo?.userId;
      const carry = isSame ? await applicationsOf(tx, context.tenant, session.id) : null;
      const carryProvider = isSame ? await providerSessionOf(tx, context.tenant, session.id) : null;
      await endSession(context, session.id, "session.delete.explicit.logout")(tx);
      if (session.impersonation) await recordEndOfActing({ ...context, now }, session)(tx);
      await carry?.(issuedId);
      await carryProvider?.(issuedId);
    }
  });
}
