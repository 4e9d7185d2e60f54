import type { RunningServer } from "../server/testing/server.ts";
import type { Load, LoadResult } from "./load.ts";

/** What stands around the servers in a drill. */
export interface Surroundings {
  /** Settings of the servers. */
  env: Record<string, string>;
  /** The data folder of the server, which exists. Default: a new one, which is removed. */
  dataDir?: string;
  /** Servers over the one database that `env` names. Default: 1 */
  servers?: number;
  /** Opens what visitors reach the servers by. Default: they reach the only server itself. */
  openFront?(servers: readonly RunningServer[]): Promise<Front>;
  close(): Promise<void>;
}

/** A balancer before the servers. */
export interface Front {
  /** Its base address. */
  url: string;
  close(): Promise<void>;
}

/** Servers that Prometheus watches with the alerts of the documentation. */
export interface Place {
  /** The only server, or the first. */
  server: RunningServer;
  servers: readonly RunningServer[];
  /** Base address that visitors use. */
  url: string;
  /** The output of all servers so far. */
  logs(): string;
  /** The greatest current value of an expression of Prometheus; NaN if there is none. */
  metric(expression: string): Promise<number>;
  /** The alerts that have fired since it was opened. */
  alerts(): Promise<string[]>;
  close(): Promise<void>;
}

/** What a drill found beside the logins. */
export interface Findings {
  /** Figures, and what became of things. */
  notes?: string[];
  /** What should not be; the drill fails. */
  faults?: string[];
}

export interface Drill<Around extends Surroundings = Surroundings> {
  /** What is done, for the table. */
  done: string;
  /** The alert that has to fire. */
  alert?: string;
  /** An alert that must not fire: what is done is mended before it is worth a call. */
  silent?: string;
  /** What the log has to say. Absent: what is done is no matter for the log. */
  log?: RegExp;
  /** The longest time without a login, in milliseconds. */
  mayMissMs: number;
  /** The most logins that may be interrupted. Default: any number */
  mayInterrupt?: number;
  /** Why it cannot be done on this machine; null if it can. */
  obstacle?(): string | null;
  surround(): Promise<Around>;
  harm(server: RunningServer, around: Around, place: Place, load: Load): Promise<Findings | undefined>;
  /** What is found once the visitors have gone. */
  review?(result: LoadResult, around: Around): Promise<Findings>;
}

/** The most logins that may be interrupted where the harm is none to logins: a machine that is busy otherwise turns a few away. */
export const MAY_INTERRUPT = 10;

/** Drills by their names. */
export type Drills = Readonly<Record<string, Drill>>;

/** Declares a drill, whose `harm` is given what its `surround` returns. */
export const drill = <Around extends Surroundings>(one: Drill<Around>): Drill => one as unknown as Drill;

/** The server alone, with its embedded database. */
export const nothing = async (): Promise<Surroundings> => ({ env: {}, close: async () => {} });
