import type { Transaction } from "#db/client";
import { ConflictError, isRetryable } from "#db/errors";
import { lockUser } from "../identity/users.ts";
import { commitWithJobs } from "../jobs/commit-with-jobs.ts";
import type { ClientContext, Job } from "../runtime.ts";
import { type AdminRejection, notFound } from "./rejections.ts";

const MAX_ATTEMPTS = 3;

/** Rolls a change back, with its rejection. */
class RejectedChange extends Error {
  readonly rejection: AdminRejection;
  constructor(rejection: AdminRejection) {
    super(rejection.message);
    this.rejection = rejection;
  }
}

/**
 * Changes a user in one short transaction that holds the lock of the account, so that concurrent changes of it run one
 * after the other.
 *
 * @param change writes the change; `jobs` commit with it. Of a rejection nothing is written
 * @returns what `change` returns, or `not_found` if the tenant has no such user
 */
export async function changeUser<Result extends { ok: true }>(
  { runtime, tenant }: ClientContext,
  userId: string,
  change: (tx: Transaction, jobs: Job[]) => Promise<Result | AdminRejection>,
): Promise<Result | AdminRejection> {
  for (let attempt = 1; ; attempt += 1) {
    const jobs: Job[] = [];
    try {
      return await commitWithJobs(runtime, jobs, async (tx) => {
        await lockUser(tx, tenant.id, userId);
        const result = await change(tx, jobs);
        if (!result.ok) throw new RejectedChange(result);
        return result;
      });
    } catch (error) {
      if (error instanceof RejectedChange) return error.rejection;
      if (error instanceof ConflictError && error.reason === "user") return notFound;
      if (attempt >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
