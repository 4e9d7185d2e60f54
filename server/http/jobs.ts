import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Handler } from "./handler-context.ts";
import { json, plainError } from "./reply.ts";

/** Maximum number of jobs per call. */
const MAX_JOBS = 50;

/**
 * `GET /api/jobs`: runs due jobs and deletes expired rows, for platforms without a worker, where a scheduler calls it.
 * Requires `jobs.secret` or `jobs.cron_secret` as bearer token (RFC 6750). Without either the address does not exist.
 */
export const jobsHandler: Handler = async ({ request, runtime, tenant }) => {
  const { secret, cron_secret } = tenant.config.jobs;
  const secrets = [secret, cron_secret].filter((accepted) => accepted !== undefined);
  if (secrets.length === 0) return plainError(404, "Not found.");
  const [, given] = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (!given || !secrets.some((accepted) => constantTimeEqual(given, accepted))) {
    return plainError(401, "The jobs secret is required as bearer token.", { "WWW-Authenticate": "Bearer" });
  }
  const done = await runtime.jobs.runDue(MAX_JOBS);
  return json(200, { done, purged: await runtime.purgeExpired() });
};
