import type { Account } from "../account/account.ts";
import { describeAccount } from "../account/profile.ts";
import type { StoredAccount } from "../account/stored-account.ts";
import type { Config } from "../config/schema.ts";
import type { FlowData } from "../flow/data.ts";
import type { StepError } from "../flow/errors.ts";
import { type Facts, noFacts } from "../flow/facts.ts";
import type { Outcome } from "../flow/outcome.ts";
import type { Performing } from "../flow/performing.ts";
import {
  type AccountSkeleton,
  type FactsSkeleton,
  ID,
  type OutcomeSkeleton,
  type OwnerSkeleton,
  type SessionSkeleton,
  type StepSkeleton,
  TEXT,
} from "../flow/step-skeleton.ts";
import type { StepFlow } from "../flow/store.ts";
import type { Owner } from "../flow/view.ts";
import type { UserFacts } from "../identity/facts.ts";
import { NEVER_AUTHENTICATED, type Session } from "../objects/session.ts";
import type { RequestContext, Runtime } from "../runtime.ts";

/**
 * What the engine judges by, from what was recorded of it. A text is `~`, an id is always the same, and times count from
 * the start of the flow. The values are as their schemas tell, except for what no condition reads.
 */

/** The time of a flow, in which it starts at 0. The time of a session whose user has proved nothing is another one. */
const dateOf = (milliseconds: number) => new Date(milliseconds);

/** Long before any flow: it stands for `NEVER_AUTHENTICATED`. */
const LONG_AGO = new Date(-8.64e15 / 2);

export function userOf(skeleton: FactsSkeleton | null): UserFacts | null {
  if (!skeleton) return null;
  const { deviceTrusted, ...facts } = factsOfSkeleton(skeleton);
  return { userId: ID, credentialCount: skeleton.credentials ?? 0, ...facts };
}

export function factsOfSkeleton(skeleton: FactsSkeleton & { deviceTrusted?: boolean }): Facts {
  const has = new Set(skeleton.has);
  const facts = Object.entries(noFacts).map(([name, absent]) => [
    name,
    has.has(name) ? (typeof absent === "boolean" ? true : TEXT) : absent,
  ]);
  return {
    ...(Object.fromEntries(facts) as Facts),
    deviceTrusted: skeleton.deviceTrusted ?? false,
    passkeyDeclinedAt: skeleton.declinedAt === undefined ? null : dateOf(skeleton.declinedAt),
  };
}

/** Data of a flow, or a change of it. */
export const dataOf = (skeleton: Record<string, unknown>): FlowData =>
  Object.fromEntries(
    Object.entries(skeleton).map(([name, value]) => [name, value === null ? undefined : value]),
  ) as FlowData;

function outcomeOf(skeleton: OutcomeSkeleton): Outcome {
  if ("rejects" in skeleton) {
    const { rejects, input, renews } = skeleton;
    return {
      kind: "reject",
      code: rejects as never,
      ...(input === undefined ? {} : { input }),
      renew: renews,
      writes: [],
    };
  }
  const { to, commits, enters, data, facts, via, proceeds } = skeleton;
  const changed = Object.entries(facts ?? {}).map(([name, fact]) => [
    name,
    typeof fact === "number" ? dateOf(fact) : fact,
  ]);
  return {
    kind: "move",
    to: to as never,
    commits,
    enters,
    effects: {
      ...(data ? { data: dataOf(data) } : {}),
      ...(facts ? { facts: Object.fromEntries(changed) } : {}),
      ...(via === undefined ? {} : { via: via as never }),
      ...(proceeds ? { proceedsAfterProof: true } : {}),
    },
  };
}

export function ownerOf({ account, session }: OwnerSkeleton, now: Date, config: Config): Owner {
  return { account: account && accountOf(account, config), session: sessionOf(session), now };
}

function sessionOf({ authenticatedAt, factors }: SessionSkeleton): Session {
  return {
    id: ID,
    userId: ID,
    authenticatedAt: authenticatedAt === null ? LONG_AGO : dateOf(authenticatedAt),
    factors,
    userAgent: null,
    ipAddress: null,
    createdAt: NEVER_AUTHENTICATED,
    lastUsedAt: NEVER_AUTHENTICATED,
    expiresAt: NEVER_AUTHENTICATED,
  } as unknown as Session;
}

/** An item of an account. Each has another id. */
const items = <Item>(count: number, item: (id: string) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(`${TEXT}${index}`));

function accountOf(skeleton: AccountSkeleton, config: Config): Account {
  const stored = storedOf(skeleton);
  return {
    profile: describeAccount(stored, config),
    stored,
    has: stored.has,
    picture: stored.user.picture,
    identities: stored.identities,
    sessions: [
      sessionOf({ authenticatedAt: 0, factors: [] }),
      ...items(skeleton.otherSessions, (id) => ({ ...sessionOf({ authenticatedAt: 0, factors: [] }), id })),
    ],
    sessionLocations: {},
    handles: {},
    credentialUses: {},
    belongings: {
      recoveryCodesLeft: skeleton.recoveryCodes,
      phones: items(skeleton.authenticators, (id) => ({ id, name: TEXT, created_at: "", last_used_at: "" })),
      trustedBrowsers: [],
      signIns: [],
      applications: items(skeleton.applications, (id) => ({
        id,
        application: null,
        allowed: null,
        since: "",
      })),
    },
  };
}

function storedOf(skeleton: AccountSkeleton): StoredAccount {
  const at = NEVER_AUTHENTICATED;
  const member = (name: string) => (skeleton.profile.includes(name) ? TEXT : null);
  const credentials = (count: number, mfaOnly: boolean) =>
    items(count, (id) => ({
      id: `${id}${mfaOnly}`,
      mfaOnly,
      publicKey: Buffer.alloc(0),
      aaguid: ID,
      transports: [],
      createdAt: at,
      lastUsedAt: at,
    }));
  const stored = {
    user: {
      id: ID,
      name: member("name"),
      givenName: member("given_name"),
      familyName: member("family_name"),
      picture: member("picture"),
      publicMetadata: {},
      unsafeMetadata: {},
      createdAt: at,
      updatedAt: at,
    },
    username: skeleton.username ? { id: ID, username: TEXT, createdAt: at, updatedAt: at } : null,
    phone:
      skeleton.phone === "none"
        ? null
        : { number: TEXT, verifiedAt: skeleton.phone === "verified" ? at : null },
    emails: skeleton.emails.map((marks, index) => ({
      id: `${TEXT}${index}`,
      address: `${TEXT}${index}`,
      isPrimary: marks.includes("p"),
      verifiedAt: marks.includes("v") ? at : null,
    })),
    credentials: [...credentials(skeleton.passkeys, false), ...credentials(skeleton.securityKeys, true)],
    identities: skeleton.identities.map((provider, index) => ({
      id: `${TEXT}${index}`,
      provider,
      subject: TEXT,
      email: null,
    })),
    has: {
      hasPassword: skeleton.has.includes("hasPassword"),
      hasTotp: skeleton.has.includes("hasTotp"),
    } satisfies StoredAccount["has"],
  };
  return stored as unknown as StoredAccount;
}

/** Gives the engine what was recorded. */
export function performingOf({ malformed, outcome, device, entered = [] }: StepSkeleton): Performing {
  const found = (state: string) => entered.find((one) => one.state === state);
  return {
    parse() {
      const codes = Object.entries(malformed ?? {}).map(([input, code]) => [input, { code }]);
      return malformed ? { ok: false, inputs: Object.fromEntries(codes) } : { ok: true, value: {} };
    },
    run() {
      if (!outcome) throw new Error("The step has no outcome.");
      return outcomeOf(outcome);
    },
    device: async () => device ?? "unknown",
    async enter({ name }) {
      const { data, error } = found(name) ?? {};
      return {
        ...(data ? { data: dataOf(data) } : {}),
        ...(error ? { error: stepErrorOf(error) } : {}),
      };
    },
    writesOfBlocked: () => [],
    writesOfReplaced: () => [],
  };
}

function stepErrorOf({
  code,
  inputs,
}: {
  code: string;
  inputs?: Record<string, string> | undefined;
}): StepError {
  const codes = Object.entries(inputs ?? {}).map(([input, of]) => [input, { code: of }]);
  return { code, ...(inputs ? { inputs: Object.fromEntries(codes) } : {}) } as StepError;
}

/** What a replay does not have: to use it is an error. */
const nothing = new Proxy(
  {},
  {
    get() {
      throw new Error("a replay uses nothing of a process");
    },
  },
) as Runtime;

export function contextOf({ record, now }: StepFlow, owner: Owner | null, config: Config): RequestContext {
  const client = { language: null, deviceCookie: null } as RequestContext["client"];
  return {
    // The context of an action has the pool of the process, which no action asks here.
    runtime: { database: { read: nothing } } as unknown as Runtime,
    tenant: { id: ID, config },
    client,
    now,
    signal: new AbortController().signal,
    flowId: record.id,
    hasStoredWebhooks: false,
    ...(owner ? { session: owner.session } : {}),
  };
}
