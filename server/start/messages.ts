import type { Job, Notice } from "../runtime.ts";
import type { Collected } from "./telemetry/collected.ts";

/** What the processes of one server tell each other. */

/** What a worker gets of the server's means. */
export interface Share {
  databaseUrl: string;
  /** The port that the server listens on. */
  port: number;
  /** Connections of each pool. */
  poolSize: number;
  /** Processes that serve. */
  workers: number;
}

export type ToWorker =
  /** The database is ready: serve. */
  | { kind: "begin"; instanceId: string; share: Share }
  /** Answer what has begun, then exit. */
  | { kind: "stop" }
  /** Tell your metrics. */
  | { kind: "collect"; question: string }
  | Notice;

export type ToOwner =
  | { kind: "listening"; port: number }
  /** The start failed, for the reason in `line`; `exitCode` tells a supervisor of it. */
  | { kind: "failed"; line: string; exitCode: number }
  | { kind: "serving" }
  /** The metrics of this process, as it was asked for. */
  | { kind: "collected"; question: string; metrics: Collected[] }
  /** A change committed jobs or events that are due at once. */
  | { kind: "wake"; of: Wakeable }
  | Notice;

/** What the owner looks for: due jobs of a kind, or due deliveries. */
export type Wakeable = Job["name"] | "deliveries";
