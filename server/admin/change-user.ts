import type { Databases, Transaction } from "#db/client";
import { ConflictError, isRetryable, type UniqueConstraint, violatedUnique } from "#db/errors";
import { type AuditDetails, audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { mayChangeAccount } from "../console/grants.ts";
import type { Actor } from "../context/client.ts";
import type { ClientContext, RequestContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import { factsById, type UserFacts } from "../identity/facts.ts";
import { lockUser } from "../identity/lock-user.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { accountLanguage } from "../mail/mail-language.ts";
import type { securityNotice } from "../mail/security-notices.ts";
import { readUserObject, type UserObject } from "../objects/user-object.ts";
import { type AdminRejection, type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

const MAX_ATTEMPTS = 3;

/** An operator who changes a user, by a request with an API key or by the CLI. */
export interface OperatorContext extends Pick<ClientContext<unknown>, "tenant" | "now"> {
  runtime: Databases &
    OnPlatform &
    Configured &
    AuditOutputs &
    WakesWebhooks & {
      jobs: Pick<Enqueuing<MailJob>["jobs"], "enqueue" | "wake">;
      /** The default tenant. */
      tenant: Pick<Tenant, "id">;
    };
  client: Actor;
}

/** A request that changes a user, and what its change takes of the process beside what every change does. */
export type AdminContext<More = unknown> = RequestContext<OperatorContext["runtime"] & More>;

/** What to answer if a change would violate a unique constraint. */
export type Conflicts = Partial<Record<UniqueConstraint, AdminRejection>>;

/** Rolls a change back, with its rejection. */
class RejectedChange extends Error {
  readonly rejection: AdminRejection;
  constructor(rejection: AdminRejection) {
    super(rejection.message);
    this.rejection = rejection;
  }
}

/**
 * Commits a change in one short transaction.
 *
 * @param context `userId`: the user whom the change concerns, if it has one already
 * @param change writes the change; `jobs` commit with it. Of a rejection nothing is written
 */
export async function commitChange<Result>(
  context: OperatorContext & { userId?: string },
  change: (tx: Transaction, jobs: MailJob[]) => Promise<AdminVerdict<Result>>,
  conflicts: Conflicts = {},
): Promise<AdminVerdict<Result>> {
  for (let attempt = 1; ; attempt += 1) {
    const jobs: MailJob[] = [];
    try {
      return await commitWithJobs(context.runtime, jobs, context, async (tx) => {
        const result = await change(tx, jobs);
        if (!result.ok) throw new RejectedChange(result);
        return result;
      });
    } catch (error) {
      if (error instanceof RejectedChange) return error.rejection;
      const conflict = conflicts[violatedUnique(error) as UniqueConstraint];
      if (conflict) return conflict;
      if (attempt >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

/** A user whom an operator changes. */
export interface ChangedUser {
  tx: Transaction;
  /** The user before the change. */
  user: UserFacts;
  /** Jobs that commit with the change. */
  jobs: MailJob[];
  /** Context for mails to the user, in the language of the account. */
  owner: Parameters<typeof securityNotice>[0];
  /** Writes an entry of the audit log about the user. */
  record(type: Parameters<typeof audit>[1], details?: AuditDetails): Promise<void>;
  /** The user as operators are shown it, with what is changed so far. */
  shown(): Promise<UserObject>;
}

/**
 * Changes a user under the lock of the account, so that concurrent changes of it run one after the other.
 *
 * @returns what `change` returns; `not_found` if the tenant has no such user, or `forbidden` if its role is stronger than that of
 *   the account of the console that changes it
 */
export async function changeUser<Result>(
  context: OperatorContext,
  userId: string,
  change: (user: ChangedUser) => Promise<AdminVerdict<Result>>,
  conflicts: Conflicts = {},
): Promise<AdminVerdict<Result>> {
  const { tenant } = context;
  return commitChange(
    { ...context, userId },
    async (tx, jobs) => {
      if (!(await isLocked(tx, tenant.id, userId))) return notFound;
      if (!(await mayChangeAccount(tx, context, userId))) return strongerRole;
      const user = await factsById(tx, tenant.id, userId);
      if (!user) return notFound;
      return change({
        tx,
        user,
        jobs,
        owner: { tenant, client: { language: accountLanguage(user) } },
        record: (type, details = {}) => audit(context, type, { by: "admin", ...details }, userId)(tx),
        async shown() {
          const shown = await readUserObject(tx, tenant, userId);
          if (!shown) throw new RejectedChange(notFound);
          return shown;
        },
      });
    },
    conflicts,
  );
}

const strongerRole = rejectAdmin("forbidden", "The role of the account is stronger than your own.");

async function isLocked(tx: Transaction, tenantId: string, userId: string): Promise<boolean> {
  try {
    await lockUser(tx, tenantId, userId);
    return true;
  } catch (error) {
    if (error instanceof ConflictError && error.reason === "user") return false;
    throw error;
  }
}
