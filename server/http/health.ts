import { pingDatabase } from "../database/ping.ts";
import type { Handler } from "./handler-context.ts";
import { json } from "./reply.ts";

/** `GET /health/alive`: the process answers. */
export const aliveHandler: Handler = () => json(200, { alive: true });

/** `GET /health/ready`: the database answers; 503 while it does not. */
export const readyHandler: Handler = async ({ runtime }) => {
  try {
    await pingDatabase(runtime.database);
    return json(200, { ready: true });
  } catch (error) {
    runtime.log.warn({ err: error }, "not ready: the database does not answer");
    return json(503, { ready: false });
  }
};
