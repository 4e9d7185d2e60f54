import type { FlowType, StateName } from "../../flow/names.ts";
import type { FlowState } from "../../flow/wire.ts";

/** The calls that the kit makes to the process of its server. They travel over the channel between the two. */
export interface HostCalls {
  addUser(user: HostUser): Promise<{ id: string }>;
  startAt(wish: HostFlow): Promise<StartedState>;
  /** Creates a session, and returns it as the server would set it. */
  session(user: { id: string; methods: string[] }): Promise<{ token: string; cookie: BrowserCookie }>;
  mails(to: string | null): Promise<Mail[]>;
  /** Milliseconds since 1970 by the clock of the server. */
  now(): Promise<number>;
  moveClock(milliseconds: number): Promise<number>;
  /** Holds the clock at a time in milliseconds since 1970; null lets it run on from there. */
  holdClock(at: number | null): Promise<number>;
  coverage(): Promise<{ edges: string[]; errors: string[] }>;
}

/** A user to create. Its passkeys and its secret are made by the kit. */
export interface HostUser {
  id: string;
  /** A record of `stile users import`, but for the hash of the password. */
  record: Record<string, unknown>;
  /** In the clear; the server hashes it. */
  password: string | null;
}

/** A flow to start at a state. */
export interface HostFlow {
  state: string;
  flow: FlowType | null;
  userId: string | null;
  email: string | null;
  username: string | null;
  /** Methods that have been proved in this flow. */
  factors: string[];
  /** Further states that count as completed or skipped. */
  completed: string[];
  webauthn: boolean;
}

export interface StartedState {
  flow: FlowType;
  state: FlowState & { name: StateName };
  /** The cookies of a browser whose hosted page is in this flow. */
  cookies: BrowserCookie[];
}

/** A cookie in the form that Playwright's `addCookies` takes. */
export interface BrowserCookie {
  name: string;
  value: string;
  url: string;
  httpOnly: boolean;
  sameSite: "Lax" | "None" | "Strict";
}

/** A mail that the server has sent, or an SMS: its subject is `SMS`, and its `html` is empty. */
export interface Mail {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  sentAt: Date;
}

/** What the server's process is started with. */
export interface HostOptions {
  /** A tree of settings, as in `stile.config.json`. */
  settings: Record<string, unknown>;
  /** Folder in which the coverage is written when the server ends; null for none. */
  coverageFolder: string | null;
}

export type ToHost =
  | { kind: "start"; options: HostOptions }
  | { kind: "call"; id: number; name: keyof HostCalls; parameters: unknown[] }
  | { kind: "stop" };

export type FromHost =
  | { kind: "ready"; url: string }
  | { kind: "failed"; reason: string }
  | { kind: "result"; id: number; value: unknown }
  | { kind: "rejected"; id: number; reason: string };
