import { type WalkName, walks } from "./walks.ts";
import type { WayName } from "./ways.ts";

/** The measured servers that Stile is compared with, and what the tables call them. */
export const rivals = {
  bare: "hand-made",
  /** Sends no mail. */
  peer: "better-auth",
  /** Sends its codes, as Stile does, to the mail server of the benchmark. */
  mailingPeer: "better-auth that mails",
} as const;

export type Rival = keyof typeof rivals;

/**
 * What Stile is to reach in a task.
 *
 * * `share`: at least this share of another figure of the same run, at `JUDGED_CONNECTIONS`: the rate of a server, or
 *   the verifications of passwords that the machine can do
 * * `spread`: p99 is at most so many times p50, at `CROWDED_CONNECTIONS`
 * * `growth`: with a worker for each processor, each one more adds at least this share of the rate of one worker, at
 *   `JUDGED_CONNECTIONS`
 */
export type Aim = { share: number; of: Rival | "hash" } | { spread: number } | { growth: number };

/** A task of the benchmark. The hand-made server does the same work by the same requests. */
export interface Measured {
  name: string;
  way: WayName;
  walk: WalkName;
  aims: readonly Aim[];
  /** Those of better-auth that can do it too; it has its own requests (`peer-ways.ts`). */
  peers?: readonly Exclude<Rival, "bare">[];
  /** Needs webhooks while it runs. */
  webhooks?: true;
}

const of = (rival: Rival | "hash", share: number): Aim => ({ share, of: rival });

/** A task that every client does by the same requests. */
const single = (name: string, way: WayName, more: Partial<Measured> = {}): Measured => ({
  aims: [of("bare", 0.75)],
  ...more,
  name,
  way,
  walk: "page",
});

/** A task in all walks, with the aims of each beside those of every login. */
const walked = (
  name: string,
  way: WayName,
  own: Partial<Record<WalkName, readonly Aim[]>> = {},
  more: Partial<Measured> = {},
): Measured[] =>
  (Object.keys(walks) as WalkName[]).map((walk) => ({
    ...more,
    name: `${name}, ${walks[walk].title}`,
    way,
    walk,
    aims: [of("bare", 0.75), ...(own[walk] ?? []), { spread: 3 }],
  }));

const growth: Aim = { growth: 0.8 };

/** Everything that is measured, in the order of the tables. */
export const tasks: readonly Measured[] = [
  single("JSON answer", "answer"),
  single("flow start", "flowStart"),
  single("cheap step", "cheapStep"),
  single("session check", "sessionCheck", { aims: [of("bare", 0.9), growth], peers: ["peer"] }),
  single("page", "page"),
  ...walked(
    "passkey login",
    "passkeyLogin",
    { page: [of("peer", 2), growth], clients: [of("peer", 1.5)] },
    { peers: ["peer"] },
  ),
  ...walked(
    "code login, mail delivered",
    "codeLogin",
    { page: [of("mailingPeer", 1.3), growth], clients: [of("mailingPeer", 1.2)] },
    { peers: ["peer", "mailingPeer"] },
  ),
  ...walked("password login", "passwordLogin", { page: [of("hash", 0.85), growth] }, { peers: ["peer"] }),
  ...walked("password and TOTP", "totpLogin"),
  ...walked("third-party login", "thirdPartyLogin"),
  single("registration, mail delivered", "registration"),
  single("transaction, signed", "transaction"),
  single("UAF answer", "uafAnswer"),
  single("passkey login, five webhooks", "webhookFanOut", { webhooks: true }),
];

/** Bounds of the process itself. */
export const processAims = { startMs: 1200, idleMiB: 200 };

/** The connections at which aims are judged. */
export const JUDGED_CONNECTIONS = 16;

/** The connections at which the spread of times is judged. */
export const CROWDED_CONNECTIONS = 128;
