import { z } from "zod";
import type { Actor } from "../context/client.ts";

/** What made a job: a request, as a rule a step of a flow. */
export interface JobCause {
  client: Actor;
  /** Time of the request, by the database's clock. */
  now: Date;
  flowId?: string | undefined;
  /** The account that the request concerned. */
  userId?: string | null | undefined;
}

const storedCause = z.object({
  request_id: z.string().exactOptional(),
  flow: z.uuid().exactOptional(),
  user: z.uuid().exactOptional(),
});

/** The cause as it is stored with a job, and stands in each of its log lines. Jobs of earlier versions have none. */
export type StoredCause = z.output<typeof storedCause>;

/** Returns what to store of a cause. */
export function storedCauseOf(cause: JobCause | null): StoredCause {
  if (cause === null) return {};
  const { client, flowId, userId } = cause;
  return {
    ...(client.requestId === null ? {} : { request_id: client.requestId }),
    ...(flowId === undefined ? {} : { flow: flowId }),
    ...(userId ? { user: userId } : {}),
  };
}

const caused = z.object({ cause: storedCause });

/** Reads the cause from the row of a job. */
export function causeIn(stored: unknown): StoredCause {
  return caused.safeParse(stored).data?.cause ?? {};
}
