import { z } from "zod";
import { notReadyReasons } from "../database/readiness.ts";
import { address } from "./address.ts";
import type { Handler } from "./handler-context.ts";
import { described } from "./operation.ts";
import { json } from "./reply.ts";
import { RETRY_AFTER_SECONDS } from "./temporary-failure.ts";

/** `GET /health/alive`: the process answers. */
const aliveHandler: Handler = () => json(200, { alive: true });

/** `GET /health/ready`: the database takes writes; 503 with the reason while it does not. */
const readyHandler: Handler = async ({ runtime }) => {
  const verdict = await runtime.readiness.check();
  if (verdict.ok) return json(200, { ready: true });
  const { reason, error } = verdict;
  runtime.log.warn({ err: error, reason }, "not ready: no login can succeed");
  return json(503, { ready: false, reason }, { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } });
};

const ready = z.strictObject({ ready: z.literal(true) });
const notReady = z.strictObject({ ready: z.literal(false), reason: z.enum(notReadyReasons) });

/** Whether the process answers and its database takes writes, for balancers and orchestrators. */
export const healthAddresses = [
  described(address("GET", "/health/alive", aliveHandler, "plain", "public"), {
    id: "getAlive",
    summary: "Whether the process answers",
    tag: "service",
    answers: { 200: { schema: z.strictObject({ alive: z.literal(true) }) } },
  }),
  described(address("GET", "/health/ready", readyHandler, "plain", "public"), {
    id: "getReady",
    summary: "Whether the database takes writes",
    tag: "service",
    answers: { 200: { schema: ready }, 503: { schema: notReady } },
  }),
];
