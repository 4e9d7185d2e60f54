import { z } from "zod";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import { json, plainError } from "../answer/reply.ts";
import { address } from "../table/address.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";

/** Maximum number of jobs per call. */
const MAX_JOBS = 50;

/** Maximum number of attempts to deliver an event per call. */
const MAX_DELIVERIES = 200;

/**
 * `GET /api/jobs`: runs due jobs, delivers due events and deletes expired rows, for platforms without a worker, where a scheduler calls it.
 * Requires `jobs.secret` or `jobs.cron_secret` as bearer token (RFC 6750). Without either the address does not exist.
 */
const jobsHandler: Handler = async ({ request, runtime, tenant }) => {
  const { secret, cron_secret } = tenant.config.jobs;
  const secrets = [secret, cron_secret].filter((accepted) => accepted !== undefined);
  if (secrets.length === 0) return plainError(404, "Not found.");
  const [, given] = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (!given || !secrets.some((accepted) => constantTimeEqual(given, accepted))) {
    return plainError(401, "The jobs secret is required as bearer token.", { "WWW-Authenticate": "Bearer" });
  }
  const [done, delivered] = await Promise.all([
    runtime.jobs.runDue(MAX_JOBS),
    runtime.webhooks.runDue(MAX_DELIVERIES),
  ]);
  return json(200, { done, delivered, purged: await runtime.purgeExpired() });
};

/** What a scheduler calls. */
export const jobsAddress = described(address("GET", "/api/jobs", jobsHandler, "plain", "public"), {
  id: "runJobs",
  summary: "Run due jobs and delete expired rows",
  description: "For platforms without a worker. Without `jobs.secret` the address does not exist.",
  tag: "service",
  security: "jobs",
  answers: {
    200: { schema: z.object({ done: z.int(), delivered: z.int(), purged: z.int() }) },
    401: "The secret is missing or wrong.",
    404: "No secret is configured.",
  },
});
