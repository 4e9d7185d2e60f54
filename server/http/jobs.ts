import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Handler } from "./handler-context.ts";
import { json, plainError } from "./reply.ts";

/** Most jobs that one call does. */
const JOB_LIMIT = 50;

/**
 * `GET /api/jobs`: does the jobs that are due and deletes what has expired, for platforms where a scheduler has to ask for them. Needs
 * `jobs.secret` as bearer token (RFC 6750); without a configured one the address does not exist.
 */
export const jobsHandler: Handler = async ({ request, runtime, tenant }) => {
  const { secret } = tenant.config.jobs;
  if (!secret) return plainError(404, "There is nothing at this address.");
  const [, given] = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (!given || !constantTimeEqual(given, secret)) {
    return plainError(401, "This address needs the secret of the jobs.", { "WWW-Authenticate": "Bearer" });
  }
  const done = await runtime.jobs.runDue(JOB_LIMIT);
  return json(200, { done, purged: await runtime.purgeExpired() });
};
