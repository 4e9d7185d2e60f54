import { type Embedding, embeddings } from "../context/client.ts";
import { browserNames, systemNames } from "../lib/user-agent.ts";

/** What the table of counts has, and what the columns `name` and `target` of its rows are. */
export const measures = [
  /** A state was entered. */
  "entered",
  /** A state was left. `name`: the action; `target`: the next state. Counted in the hour in which the state was entered. */
  "left",
  /** A step failed. `name`: the error; `target`: why, as the audit log names it, or the error. */
  "failed",
  /** An account signed in. `method`: the first factor; `name`: the second factor. */
  "signed_in",
  /** An account was created by its user. `method` as above. */
  "signed_up",
  /** A rate limit was exceeded. `name`: the limit. */
  "limited",
  /** A message was sent, or is not sent. `name`: the channel; `target`: `sent` or `failed`. */
  "message",
  /** A delivery of a webhook was attempted. `name`: `delivered`, `retried` or `failed`. */
  "delivery",
] as const;

export type Measure = (typeof measures)[number];

/** The value of a column that does not apply to what is counted. */
export const NONE = "none";

/** What is not known, or not told apart: the rest of a full hour. */
export const OTHER = "other";

export const platforms = [...systemNames, OTHER];
export const browsers = [...browserNames, OTHER];

/** The columns by which counts are told apart beside what was counted. A full hour counts all of them as `other`. */
export const dimensions = ["method", "platform", "browser", "embedding"] as const;

export type Dimension = (typeof dimensions)[number];

/** The client of what is counted, in closed lists. */
export interface CountedClient {
  /** One of `platforms`; null if it is not known. */
  platform: string | null;
  /** One of `browsers`; null if it is not known. */
  browser: string | null;
  embedding: Embedding;
}

/** The values of `embedding` in the table. */
export const countedEmbeddings = [...embeddings, OTHER] as const;

/** Something that happened, in names of closed lists. */
export interface Counted {
  measure: Measure;
  /** When, in milliseconds since 1970: the hour that it is counted in. */
  at: number;
  flowType?: string;
  state?: string;
  name?: string;
  target?: string;
  method?: string | null;
  client?: CountedClient;
  /** How long it took. */
  durationMs?: number | null;
  /** The trace of the step that completed it, if that is recorded. It is not counted. */
  traceId?: string | null;
}

export const HOUR_MS = 3_600_000;

/** The start of the hour of a time, in UTC. Both in milliseconds since 1970. */
export const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS;
