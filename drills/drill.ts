import type { RunningServer } from "../server/testing/server.ts";

/** What stands around a server in a drill. */
export interface Surroundings {
  /** Settings of the server. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface Drill<Around extends Surroundings = Surroundings> {
  /** What is done, for the table. */
  done: string;
  /** The alert that has to fire. */
  alert?: string;
  /** What the log has to say. */
  log: RegExp;
  /** The longest time without a login, in milliseconds. */
  mayMissMs: number;
  surround(): Promise<Around>;
  harm(server: RunningServer, around: Around): Promise<void>;
}

/** Drills by their names. */
export type Drills = Readonly<Record<string, Drill>>;

/** Declares a drill, whose `harm` is given what its `surround` returns. */
export const drill = <Around extends Surroundings>(one: Drill<Around>): Drill => one as unknown as Drill;

/** The server alone, with its embedded database. */
export const nothing = async (): Promise<Surroundings> => ({ env: {}, close: async () => {} });
