import type { ReadOnly } from "#db/client";
import type { Impersonation } from "#db/schema/sessions";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { ConsoleVisitor } from "../console/console-sessions.ts";
import { strongestRole } from "../console/grants.ts";
import { isAnotherReleaseRunning } from "../database/instances.ts";
import { emit } from "../events/emit.ts";
import { mayAs } from "../identity/console-roles.ts";
import { factsById } from "../identity/facts.ts";
import { firstIdentifier } from "../identity/identifiers.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import { securityNotice } from "../mail/security-notices.ts";
import type { IssuedSession } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { actingRole, mayGoOn } from "../sessions/impersonation.ts";
import { issuerOf } from "../sessions/session-claims.ts";
import { carrierOf, issueSession } from "../sessions/sessions.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

/** An account of the console signs in as a user, to see what the user sees. */

type Context = AdminContext<
  Logs &
    Signing &
    Configured & {
      /** The default tenant. */
      tenant: Tenant;
      tenants: { byId(id: string): Promise<Tenant | null> };
    }
>;

/** What an account of the console asks for. */
export interface AskedImpersonation {
  userId: string;
  reason: string;
  /** Default: `console.impersonation.lifetime`. */
  seconds?: number | undefined;
}

/** A granted request, until the browser that asked for it takes it up. */
export interface GrantedImpersonation {
  userId: string;
  /** By which the account of the console knows the user. */
  name: string;
  impersonation: Impersonation;
  seconds: number;
}

/**
 * Grants an account of the console to act as a user. Nothing is written yet.
 *
 * @param visitor the account; undefined for a call with a key, which names no person
 */
export async function grantImpersonation(
  context: Context,
  visitor: ConsoleVisitor | undefined,
  { userId, reason, seconds }: AskedImpersonation,
): Promise<AdminVerdict<{ granted: GrantedImpersonation }>> {
  const { runtime, tenant } = context;
  const { enabled, lifetime } = runtime.config.console.impersonation;
  const user = await factsById(runtime.database.read, tenant.id, userId);
  if (!user) return notFound;
  if (!visitor || !mayAs(visitor.role, actingRole(tenant, visitor.tenantId)))
    return rejectAdmin(
      "forbidden",
      "Only an administrator or operator of the console can sign in as a user.",
    );
  if (!enabled) return rejectAdmin("forbidden", "`console.impersonation.enabled` is off.");
  if (carrierOf(tenant) === "header")
    return rejectAdmin("conflict", "Sessions of this tenant are in headers, so no browser can have one.");
  if (await isAnotherReleaseRunning(runtime)) return ofOtherRelease;
  const [operator, own] = await Promise.all([
    factsById(runtime.database.read, visitor.tenantId, visitor.userId),
    visitor.tenantId === runtime.tenant.id ? runtime.tenant : runtime.tenants.byId(visitor.tenantId),
  ]);
  if (!operator || !own) return notFound;
  if (user.blocked) return rejectAdmin("conflict", "The user is blocked.");
  if (await hasRole(context.runtime.database.read, context, userId)) return ofConsole;
  const impersonation: Impersonation = {
    tenantId: own.id,
    userId: visitor.userId,
    ofDefaultTenant: own.id === runtime.tenant.id,
    issuer: issuerOf(own),
    role: visitor.role,
    name: nameOf(operator, visitor.userId),
    consoleSessionId: visitor.consoleSessionId,
    reason,
  };
  const granted = {
    userId,
    name: nameOf(user, userId),
    impersonation,
    seconds: seconds ?? lifetime,
  };
  return { ok: true, granted };
}

/**
 * Begins the session in which an account of the console acts as a user: with an entry of the audit log, an event, and a mail to
 * the owner if `console.impersonation.notify` is on. It is no sign-in of the user.
 *
 * @param context its client names the account of the console
 * @returns a rejection if what `grantImpersonation` asked for does not hold any more
 */
export async function beginImpersonation(
  context: Context,
  { userId, impersonation, seconds }: GrantedImpersonation,
): Promise<AdminVerdict<{ issued: IssuedSession }>> {
  const { runtime, tenant, now } = context;
  if (!runtime.config.console.impersonation.enabled) return ofConsole;
  if (await isAnotherReleaseRunning(runtime)) return ofOtherRelease;
  const user = await factsById(runtime.database.read, tenant.id, userId);
  if (!user) return notFound;
  const { email, emailVerified, username } = user;
  const { issued, session, write } = await issueSession(context, {
    userId,
    factors: [],
    amr: [],
    rememberMe: false,
    email,
    emailVerified,
    username,
    // The owner is told who acts, not where from.
    byOperator: { userAgent: null, ipAddress: null, acting: { impersonation, seconds } },
  });
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    if (user.blocked) return rejectAdmin("conflict", "The user is blocked.");
    if (await hasRole(tx, context, userId)) return ofConsole;
    await write(tx);
    if (!(await mayGoOn(tx, tenant, session, now)))
      return rejectAdmin("forbidden", "The account is not in the console any more, or has another role.");
    const { reason } = impersonation;
    await record("impersonation_started", {
      session_id: session.id,
      why: reason,
      until: session.expiresAt.toISOString(),
    });
    await emit(context, "user.impersonate", userId)(tx);
    const minutes = Math.ceil(issued.lifetimeSeconds / 60);
    jobs.push(
      ...securityNotice(owner, "impersonation", user.email, { at: now.toISOString(), minutes, reason }),
    );
    return { ok: true, issued };
  });
}

const ofOtherRelease = rejectAdmin(
  "conflict",
  "Servers of another release run, which would not know who acts.",
);

const ofConsole = rejectAdmin("forbidden", "Accounts with a role of the console are not signed in as.");

const hasRole = async (db: ReadOnly, { runtime, tenant }: Context, userId: string): Promise<boolean> =>
  (await strongestRole(db, runtime, tenant, [userId])) !== null;

const nameOf = (facts: Parameters<typeof firstIdentifier>[0], userId: string): string =>
  firstIdentifier(facts)?.value ?? userId;
