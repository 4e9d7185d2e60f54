import { and, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import {
  countFailure,
  failureSubject,
  growingDelay,
  inARow,
  refundFailure,
  unlimited,
} from "../limits/failure-counters.ts";
import type { RequestContext } from "../runtime.ts";
import { HashQueueFullError } from "./password-hasher.ts";

export interface PasswordAttempt {
  password: string;
  /** How the person named themselves, in canonical form. */
  identifier: string;
  /** The account that has this identifier, if any. */
  userId?: string;
  /** Whether the account has another way in, so that strangers who bar this one do not bar the account. */
  hasAlternative?: boolean;
}

export type PasswordVerdict =
  /** `write` belongs to the step that goes on from here; it throws TakenError("password") when it was changed since. */
  | { ok: true; write: Write }
  | { ok: false }
  /** Not judged: too many tries. Whole seconds to wait, at least 1. */
  | { limited: number };

/**
 * Judges a password. Unknown accounts, accounts without a password and wrong passwords cost the same statements and
 * the same hash.
 *
 * Counted before it is judged: by rate, per source and per account and source; as a failure in a row, per account and
 * source with a growing wait, and per account. After a hundred in a row no password is right until another method
 * succeeds, provided there is one, which looks like a wrong one to whoever brought that about.
 */
export async function verifyPassword(
  context: RequestContext,
  attempt: PasswordAttempt,
): Promise<PasswordVerdict> {
  const { runtime, tenant, client, now, signal } = context;
  const { vault, rates, passwordHasher, database } = runtime;
  // A try that would find no place in the queue must not count as one.
  if (passwordHasher.full) return { limited: 1 };

  const { userId, identifier } = attempt;
  const subject = failureSubject(vault, tenant.id, userId ? { userId } : { identifier });
  const source = await rates.consume("password_source", `${tenant.id}/${client.source}`);
  if (!source.ok) return { limited: source.retryAfterSeconds };
  const account = await rates.consume("password", `${tenant.id}/${attempt.identifier}/${client.source}`);
  if (!account.ok) return { limited: account.retryAfterSeconds };

  const limit = tenant.config.rate_limiter.enabled;
  const key = { tenantId: tenant.id, method: "password", subject } as const;
  const here = { ...key, source: client.source };
  const delayed = await countFailure(database, here, limit ? growingDelay : unlimited, now);
  if (!delayed.ok) return { limited: "retryAfterSeconds" in delayed ? delayed.retryAfterSeconds : 1 };
  const everywhere = { ...key, source: "" };
  const admitted = await countFailure(
    database,
    everywhere,
    limit && attempt.hasAlternative ? inARow : unlimited,
    now,
  );

  const stored = await readHash(database.read, tenant.id, userId ?? nobody);
  try {
    const { ok, outdated } = await passwordHasher.verify(
      attempt.password,
      admitted.ok ? stored : null,
      signal,
    );
    if (!ok || stored === null) return { ok: false };
    const renewed = outdated ? await renewedHash(context, attempt.password) : null;
    return { ok: true, write: succeed(context, here, userId ?? nobody, { stored, renewed }) };
  } catch (error) {
    if (error instanceof HashQueueFullError) return { limited: 1 };
    throw error;
  }
}

/** Sets the password of an account, whether or not it has one, and forgets the failures with the one before. */
export function replacePassword(
  { tenant, runtime, client, now }: RequestContext,
  userId: string,
  hash: string,
): Write {
  return async (tx) => {
    await tx
      .insert(schema.passwords)
      .values({ tenantId: tenant.id, userId, hash, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({
        target: [schema.passwords.tenantId, schema.passwords.userId],
        set: { hash, updatedAt: now },
      });
    const subject = failureSubject(runtime.vault, tenant.id, { userId });
    await refundFailure(tx, { tenantId: tenant.id, method: "password", subject, source: client.source });
  };
}

/** Sets the first password of an account; violates `passwords_tenant_id_user_id_pk` when it has one meanwhile. */
export function createPassword({ tenant, now }: RequestContext, userId: string, hash: string): Write {
  return async (tx) => {
    await tx
      .insert(schema.passwords)
      .values({ tenantId: tenant.id, userId, hash, createdAt: now, updatedAt: now });
  };
}

/** Takes the password from an account. */
export function deletePassword({ tenant }: RequestContext, userId: string): Write {
  const { passwords } = schema;
  return async (tx) => {
    await tx.delete(passwords).where(and(eq(passwords.tenantId, tenant.id), eq(passwords.userId, userId)));
  };
}

/** Whoever has no account is looked up all the same. */
const nobody = "00000000-0000-0000-0000-000000000000";

const selectHash = prepared("password_hash", (db) =>
  db
    .select({ hash: schema.passwords.hash })
    .from(schema.passwords)
    .where(
      and(
        eq(schema.passwords.tenantId, sql.placeholder("tenantId")),
        eq(schema.passwords.userId, sql.placeholder("userId")),
      ),
    ),
);

async function readHash(db: ReadOnly, tenantId: string, userId: string): Promise<string | null> {
  const [row] = await selectHash(db).execute({ tenantId, userId });
  return row?.hash ?? null;
}

/** A hash by the parameters and the pepper of today; null when there is no room to make one now. */
async function renewedHash({ runtime, signal }: RequestContext, password: string): Promise<string | null> {
  try {
    return await runtime.passwordHasher.hash(password, signal);
  } catch (error) {
    if (error instanceof HashQueueFullError) return null;
    throw error;
  }
}

function succeed(
  { tenant, now }: RequestContext,
  counted: { tenantId: string; method: "password"; subject: Buffer; source: string },
  userId: string,
  { stored, renewed }: { stored: string; renewed: string | null },
): Write {
  const { passwords } = schema;
  const own = and(eq(passwords.tenantId, tenant.id), eq(passwords.userId, userId));
  return async (tx) => {
    // Judged against a hash that was replaced meanwhile, it was the password before.
    const [current] = await tx.select({ hash: passwords.hash }).from(passwords).where(own).for("update");
    if (current?.hash !== stored) throw new ConflictError("password");
    if (renewed) await tx.update(passwords).set({ hash: renewed, updatedAt: now }).where(own);
    await refundFailure(tx, counted);
  };
}
