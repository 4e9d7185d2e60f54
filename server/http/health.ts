import { z } from "zod";
import { pingDatabase } from "../database/ping.ts";
import { address } from "./address.ts";
import type { Handler } from "./handler-context.ts";
import { described } from "./operation.ts";
import { json } from "./reply.ts";

/** `GET /health/alive`: the process answers. */
const aliveHandler: Handler = () => json(200, { alive: true });

/** `GET /health/ready`: the database answers; 503 while it does not. */
const readyHandler: Handler = async ({ runtime }) => {
  try {
    await pingDatabase(runtime.database);
    return json(200, { ready: true });
  } catch (error) {
    runtime.log.warn({ err: error }, "not ready: the database does not answer");
    return json(503, { ready: false });
  }
};

const readiness = z.strictObject({ ready: z.boolean() });

/** Whether the process and its database answer, for balancers and orchestrators. */
export const healthAddresses = [
  described(address("GET", "/health/alive", aliveHandler, "plain", "public"), {
    id: "getAlive",
    summary: "Whether the process answers",
    tag: "service",
    answers: { 200: { schema: z.strictObject({ alive: z.literal(true) }) } },
  }),
  described(address("GET", "/health/ready", readyHandler, "plain", "public"), {
    id: "getReady",
    summary: "Whether the database answers",
    tag: "service",
    answers: { 200: { schema: readiness }, 503: { schema: readiness } },
  }),
];
