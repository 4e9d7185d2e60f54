import { z } from "zod";

/**
 * What a step was decided by, without values: whether there is one, how many there are, and names of the protocol. The
 * recorder stores it, and a replay performs the step by it. Times are milliseconds since the flow was started.
 */

/** Stands for a text. */
export const TEXT = "~";

/** Stands for an id. */
export const ID = "00000000-0000-4000-8000-000000000000";

/** Items of one kind that an account has; more are recorded as this many. */
const MAX_ITEMS = 1_000;
export const countOf = (items: readonly unknown[]): number => Math.min(items.length, MAX_ITEMS);

const name = z.string().max(128);
const names = z.array(name).max(200);
const count = z.int().min(0).max(MAX_ITEMS);
/** JavaScript has no later date. */
const time = z.number().min(-8.64e15).max(8.64e15);

/** Data of a flow: members of `FlowData` with their shape. Null removes a member. */
const data = z.record(name, z.unknown());

const facts = z.strictObject({
  /** Facts that hold, and texts that there are. */
  has: names,
  credentials: z.int().min(0).max(1_000_000).optional(),
  declinedAt: time.optional(),
});

const session = z.strictObject({
  /** Null: the user has proved nothing. */
  authenticatedAt: time.nullable(),
  factors: z.array(z.unknown()).max(100),
});

const account = z.strictObject({
  has: names,
  /** `p` for the primary one, `v` for one that is verified. */
  emails: z.array(z.string().max(2)).max(MAX_ITEMS),
  username: z.boolean(),
  phone: z.enum(["none", "unverified", "verified"]),
  passkeys: count,
  securityKeys: count,
  /** By their providers. */
  identities: z.array(name).max(MAX_ITEMS),
  /** Members of the profile that there are. */
  profile: names,
  otherSessions: count,
  authenticators: count,
  applications: count,
  recoveryCodes: count,
});

const owner = z.strictObject({ account: account.nullable(), session });

const errorOf = z.strictObject({ code: name, inputs: z.record(name, name).optional() });

/** `TEXT`, written as a text of one form: generators of clients have no union of a constant with other types. */
const text = z.string().regex(new RegExp(`^${TEXT}$`)) as unknown as z.ZodType<typeof TEXT>;

const outcome = z.union([
  z.strictObject({
    to: name,
    commits: z.boolean(),
    enters: z.boolean(),
    data: data.optional(),
    facts: z.record(name, z.union([z.boolean(), z.null(), z.number(), text])).optional(),
    via: name.optional(),
    proceeds: z.literal(true).optional(),
  }),
  z.strictObject({ rejects: name, input: name.optional(), renews: z.boolean() }),
]);

/** What a step was decided by. Members that are absent are as the step before has left them, or were not needed. */
export const stepSkeleton = z.strictObject({
  /** Of the flow before the step. */
  version: z.int().min(0).max(1_000_000),
  at: time,
  /** Data of the flow that the step has started. */
  begins: data.optional(),
  user: facts.nullable(),
  facts: facts.extend({ deviceTrusted: z.boolean() }).optional(),
  owner: owner.optional(),
  ownerAfter: owner.optional(),
  postponed: z.literal(true).optional(),
  malformed: z.record(name, name).optional(),
  outcome: outcome.optional(),
  device: z.enum(["trusted", "replaced"]).optional(),
  entered: z
    .array(
      z.strictObject({
        state: name,
        data: data.optional(),
        error: errorOf.optional(),
      }),
    )
    .max(4)
    .optional(),
  conflict: z.strictObject({ name, user: facts.nullable() }).optional(),
  /** The offered actions, each with a checksum of the shape of its inputs; absent if no state was shown. */
  offered: z.record(name, z.string().max(8)).optional(),
});

export type StepSkeleton = z.output<typeof stepSkeleton>;
export type FactsSkeleton = z.output<typeof facts>;
export type SessionSkeleton = z.output<typeof session>;
export type AccountSkeleton = z.output<typeof account>;
export type OwnerSkeleton = z.output<typeof owner>;
export type OutcomeSkeleton = z.output<typeof outcome>;
