import { and, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { executeParts, type Part } from "#db/part";
import { prepared } from "#db/prepared";
import { type Write, writeOf } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { RequestContext } from "../context/context.ts";
import { emit, unlessSubscribed } from "../events/emit.ts";
import { type NewUser, userParts } from "../identity/users.ts";
import type { Process } from "./process.ts";
import type { ProviderFacts } from "./provider-facts.ts";

/** Identities of users at identity providers. */

const { identities } = schema;

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
 *
 * @returns a write that throws ConflictError("third_party_identity") if the owner removed the identity concurrently
 */
export function refreshIdentity(
  context: RequestContext<Process>,
  userId: string,
  facts: ProviderFacts,
): Write {
  const { tenant, now } = context;
  const refreshed: Part = {
    name: "identity_used",
    text: refreshText,
    values: [tenant.id, userId, facts.provider, facts.subject, facts.email, now],
    refuses: "case when not exists (select 1 from identity) then 'third_party_identity' end",
    ofAccount: true,
  };
  return withNames(context, userId, facts, refreshed, "thirdparty_signin_succeeded");
}

const refreshText = `identity as (
  update identities set email = $5, updated_at = $6
  where tenant_id = $1 and user_id = $2 and provider = $3 and subject = $4 returning 1)`;

/**
 * Links an identity to an account.
 *
 * @returns a write that violates `identities_subject_unique` if any account is linked to it concurrently
 */
export function linkIdentity(context: RequestContext<Process>, userId: string, facts: ProviderFacts): Write {
  const linked = identityPart(context, userId, facts);
  return withNames(context, userId, facts, linked, "thirdparty_linking_succeeded");
}

/**
 * Creates an account with an identity, and with the names and the picture that the provider states.
 *
 * @param account `email`: the address of the account, null for none; `verified`: whether it counts as verified
 * @returns writes that throw ConflictError("address") if an account has the address, and violate
 *   `identities_subject_unique` if an account has the identity
 */
export function signUpByIdentity(
  context: RequestContext<Process>,
  facts: ProviderFacts,
  account: { userId: string; email: { address: string; verified: boolean } | null },
): Write[] {
  const { tenant, now, runtime } = context;
  const { userId, email } = account;
  const user: NewUser = {
    id: userId,
    names: facts,
    identifiers: email ? { email: { value: email.address, verifiedAt: email.verified ? now : null } } : {},
    now,
    platform: runtime.platform,
  };
  return [
    writeOf(...userParts(tenant.id, user, "conflict"), identityPart(context, userId, facts)),
    emit(context, "user.create", userId),
    audit(context, "thirdparty_signup_succeeded", { provider: facts.provider }, userId),
  ];
}

const insertText = `new_identity as (
  insert into identities (tenant_id, id, user_id, provider, subject, email, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $7))`;

function identityPart(
  { tenant, now, runtime }: RequestContext<Process>,
  userId: string,
  { provider, subject, email }: ProviderFacts,
): Part {
  const values = [tenant.id, runtime.platform.uuid(), userId, provider, subject, email, now];
  return { name: "linked", text: insertText, values, ofAccount: true };
}

/** Returns the write of a change of an identity that also updates the names of its account. */
function withNames(
  context: RequestContext<Process>,
  userId: string,
  facts: ProviderFacts,
  change: Part,
  type: "thirdparty_signin_succeeded" | "thirdparty_linking_succeeded",
): Write {
  const names = namesPart(context, userId, facts);
  const entry = audit(context, type, { provider: facts.provider }, userId);
  const inTransaction = async (tx: Transaction) => {
    const { renamed } = await executeParts<{ renamed: boolean }>(tx, [change, names]);
    if (renamed) await emit(context, "user.update", userId)(tx);
    await entry(tx);
  };
  // Whether there is an event depends on the row, so a transaction tells webhooks of changed names.
  const alone = { ...names, name: "names", refuses: refusalOf(`${isChanged} and ${hasWebhooks}`) };
  const subscribed = { ...names, name: "names_told", refuses: refusalOf(isChanged) };
  return Object.assign(inTransaction, {
    parts: [change, unlessSubscribed(alone, subscribed), ...(entry.parts ?? [])],
    ...(entry.committed ? { committed: entry.committed } : {}),
  });
}

const isChanged = "exists (select 1 from named)";
const hasWebhooks = "exists (select 1 from webhooks where tenant_id = $1 and enabled)";
const refusalOf = (condition: string) => `case when ${condition} then 'webhook' end`;

const statedNames = `coalesce($3, name), coalesce($4, given_name), coalesce($5, family_name),
      case when picture like '/%' then picture else coalesce($6, picture) end`;

const namesText = `named as (
  update users set (name, given_name, family_name, picture, updated_at) = (
      ${statedNames}, $7)
  where tenant_id = $1 and id = $2
    and (name, given_name, family_name, picture) is distinct from (
      ${statedNames})
  returning 1)`;

/**
 * The part that updates the names and the picture that the provider states; others stay unchanged, and so does a picture
 * that the user uploaded. It returns whether one of them differs.
 */
function namesPart({ tenant, now }: RequestContext<Process>, userId: string, facts: ProviderFacts): Part {
  const { name, givenName, familyName, picture } = facts;
  return {
    name: "renamed",
    text: namesText,
    values: [tenant.id, userId, name ?? null, givenName ?? null, familyName ?? null, picture ?? null, now],
    returns: `(select ${isChanged})`,
    ofAccount: true,
  };
}
