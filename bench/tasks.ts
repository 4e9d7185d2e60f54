import type { WayName } from "./ways.ts";

/** What Stile is to reach: at least this share of another figure of the same run, at 16 connections. */
export interface Aim {
  share: number;
  of: "hand-made" | "hash" | "better-auth";
}

/** A task of the benchmark. The hand-made server does the same work by the same requests. */
export interface Measured {
  name: string;
  way: WayName;
  aims: readonly Aim[];
  /** Whether better-auth can do it too; it has its own requests (`peer-ways.ts`). */
  peer?: true;
  /** Needs webhooks while it runs. */
  webhooks?: true;
}

const ofHandMade = (share: number): Aim => ({ share, of: "hand-made" });
const ofPeer = (share: number): Aim => ({ share, of: "better-auth" });

/** Everything that is measured, in the order of the tables. */
export const tasks: readonly Measured[] = [
  { name: "JSON answer", way: "answer", aims: [ofHandMade(0.4)] },
  { name: "flow start", way: "flowStart", aims: [ofHandMade(0.6)] },
  { name: "cheap step", way: "cheapStep", aims: [ofHandMade(0.6)] },
  { name: "session check", way: "sessionCheck", aims: [ofHandMade(0.6)], peer: true },
  { name: "page", way: "page", aims: [] },
  { name: "passkey login", way: "passkeyLogin", aims: [ofHandMade(0.5), ofPeer(1.5)], peer: true },
  { name: "code login, mail delivered", way: "codeLogin", aims: [ofHandMade(0.5), ofPeer(1.2)], peer: true },
  { name: "password login", way: "passwordLogin", aims: [{ share: 0.85, of: "hash" }], peer: true },
  { name: "password and TOTP", way: "totpLogin", aims: [] },
  { name: "registration, mail delivered", way: "registration", aims: [] },
  { name: "third-party login", way: "thirdPartyLogin", aims: [] },
  { name: "transaction, signed", way: "transaction", aims: [] },
  { name: "UAF answer", way: "uafAnswer", aims: [] },
  { name: "passkey login, five webhooks", way: "webhookFanOut", aims: [], webhooks: true },
];

/** Bounds of the process itself. */
export const processAims = { startMs: 1200, idleMiB: 200 };

/** The connections at which aims are judged. */
export const JUDGED_CONNECTIONS = 16;
