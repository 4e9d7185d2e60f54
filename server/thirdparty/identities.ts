import { and, eq, or, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import { emit } from "../events/emit.ts";
import { addEmail, createUser } from "../identity/users.ts";
import type { RequestContext } from "../runtime.ts";
import type { ProviderFacts } from "./provider-facts.ts";

/** Identities of users at identity providers. */

const { identities, users } = schema;

const byProviderAndSubject = prepared("identity_owner", (db) =>
  db
    .select({ userId: identities.userId })
    .from(identities)
    .where(
      and(
        eq(identities.tenantId, sql.placeholder("tenantId")),
        eq(identities.provider, sql.placeholder("provider")),
        eq(identities.subject, sql.placeholder("subject")),
      ),
    ),
);

/** @returns the account that an identity is linked to, or null */
export async function findIdentityOwner(
  db: ReadOnly,
  tenantId: string,
  { provider, subject }: Pick<ProviderFacts, "provider" | "subject">,
): Promise<string | null> {
  const [identity] = await byProviderAndSubject(db).execute({ tenantId, provider, subject });
  return identity?.userId ?? null;
}

/**
 * Updates a linked identity at a sign-in with the provider's current facts.
 */
export function refreshIdentity(context: RequestContext, userId: string, facts: ProviderFacts): Write {
  const { tenant, now } = context;
  const line = audit(context, "thirdparty_signin_succeeded", { provider: facts.provider }, userId);
  return async (tx) => {
    const refreshed = await tx
      .update(identities)
      .set({ email: facts.email, updatedAt: now })
      .where(
        and(
          eq(identities.tenantId, tenant.id),
          eq(identities.userId, userId),
          eq(identities.provider, facts.provider),
          eq(identities.subject, facts.subject),
        ),
      )
      .returning({ id: identities.id });
    // The owner removed the identity concurrently.
    if (refreshed.length === 0) throw new ConflictError("third_party_identity");
    if (await updateNames(tx, context, userId, facts)) await emit(context, "user.update", userId)(tx);
    await line(tx);
  };
}

/**
 * Links an identity to an account.
 *
 * @returns a write that throws SQLSTATE 23505 with `identities_subject_unique` if any account is linked to it concurrently
 */
export function linkIdentity(context: RequestContext, userId: string, facts: ProviderFacts): Write {
  const line = audit(context, "thirdparty_linking_succeeded", { provider: facts.provider }, userId);
  return async (tx) => {
    await insertIdentity(tx, context, userId, facts);
    if (await updateNames(tx, context, userId, facts)) await emit(context, "user.update", userId)(tx);
    await line(tx);
  };
}

/**
 * Creates an account with an identity.
 *
 * @param account `email`: the address of the account, null for none; `verified`: whether it counts as verified
 * @returns a write that throws ConflictError("address") if an account has the address, and SQLSTATE 23505 with
 *   `identities_subject_unique` if an account has the identity
 */
export function signUpByIdentity(
  context: RequestContext,
  facts: ProviderFacts,
  account: { userId: string; email: { address: string; verified: boolean } | null },
): Write {
  const { tenant, now, runtime } = context;
  const { platform } = runtime;
  const { userId, email } = account;
  const line = audit(context, "thirdparty_signup_succeeded", { provider: facts.provider }, userId);
  return async (tx) => {
    await createUser(tx, tenant.id, { id: userId, now, platform });
    if (email) {
      const { address, verified } = email;
      const row = {
        id: platform.uuid(),
        userId,
        address,
        isPrimary: true,
        verifiedAt: verified ? now : null,
        now,
      };
      await addEmail(tx, tenant.id, row, "conflict");
    }
    await insertIdentity(tx, context, userId, facts);
    await updateNames(tx, context, userId, facts);
    await emit(context, "user.create", userId)(tx);
    await line(tx);
  };
}

async function insertIdentity(
  tx: Transaction,
  { tenant, now, runtime }: RequestContext,
  userId: string,
  { provider, subject, email }: ProviderFacts,
): Promise<void> {
  await tx.insert(identities).values({
    tenantId: tenant.id,
    id: runtime.platform.uuid(),
    userId,
    provider,
    subject,
    email,
    createdAt: now,
    updatedAt: now,
  });
}

/**
 * Updates the names and the picture that the provider states; others stay unchanged, and so does a picture that the user
 * uploaded.
 *
 * @returns whether one of them differs
 */
async function updateNames(
  tx: Transaction,
  { tenant, now }: RequestContext,
  userId: string,
  { name, givenName, familyName, picture }: ProviderFacts,
): Promise<boolean> {
  const uploaded = sql`${users.picture} like '/%'`;
  const names = {
    ...{ name, givenName, familyName },
    picture: picture && sql`case when ${uploaded} then ${users.picture} else ${picture} end`,
  };
  const stated = (Object.keys(names) as (keyof typeof names)[])
    .filter((column) => names[column] !== undefined)
    .map((column) => [column, names[column]] as const);
  if (stated.length === 0) return false;
  const differs = stated.map(([column, value]) => sql`${users[column]} is distinct from ${value}`);
  const changed = await tx
    .update(users)
    .set({ ...Object.fromEntries(stated), updatedAt: now })
    .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId), or(...differs)))
    .returning({ id: users.id });
  return changed.length > 0;
}
