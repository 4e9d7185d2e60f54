import type { Database, ReadOnly } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { parseEmailAddress } from "../identity/email/email-address.ts";
import { factsByIdentifier } from "../identity/facts.ts";
import { parseUsername } from "../identity/username/username.ts";
import { isUser } from "../identity/users.ts";
import type { Vault } from "../keys/vault.ts";
import { isUuid } from "../lib/uuid.ts";
import { type AuditFilter, failuresOfUnknown } from "./audit-log.ts";
import { identifierDigests, maskIdentifier } from "./identifier.ts";

interface Reading {
  database: { read: ReadOnly };
}

/** What an operator names a user by. */
interface Name {
  /** The account that has it, if one has. */
  userId: string | null;
  /** In canonical form. */
  name: string;
}

/**
 * Resolves an id, an email address, a username or a telephone number in the international form, in full, to its canonical
 * form and the account that has it.
 */
export async function resolveName(
  { database }: Reading,
  { id, config }: Tenant,
  given: string,
): Promise<Name> {
  const { read } = database;
  if (isUuid(given)) {
    const name = given.toLowerCase();
    return { userId: (await isUser(read, id, name)) ? name : null, name };
  }
  if (given.includes("@")) {
    const name = parseEmailAddress(given, config.email.max_length) ?? given.toLowerCase();
    return { userId: (await factsByIdentifier(read, id, "email", name))?.userId ?? null, name };
  }
  // Whichever countries are allowed now.
  if (given.startsWith("+")) return { userId: null, name: given.replace(/[^+\d]/g, "") };
  // Whatever the present limits are, an account may have been created under others.
  const parsed = parseUsername(given, { min_length: 1, max_length: Number.MAX_SAFE_INTEGER });
  const name = parsed.ok ? parsed.value : given.toLowerCase();
  return { userId: (await factsByIdentifier(read, id, "username", name))?.userId ?? null, name };
}

/**
 * Returns the filter of the audit log for all entries about a user, an email address or a username. One that belongs to
 * no account is found by its digest.
 */
export async function entriesAbout(
  runtime: Reading & { vault: Pick<Vault, "macs"> },
  tenant: Tenant,
  given: string,
): Promise<NonNullable<AuditFilter["about"]>> {
  const { userId, name } = await resolveName(runtime, tenant, given);
  return {
    userId: isUuid(given) ? name : userId,
    digests: isUuid(given) ? [] : identifierDigests(runtime.vault, tenant.id, name),
  };
}

/** Failures about an identifier that had no account. */
export interface UnknownIdentifier extends Awaited<ReturnType<typeof failuresOfUnknown>> {
  /** The account that has the identifier now; null if none has. */
  userId: string | null;
  /** As entries show it. */
  mask: string;
}

/**
 * Finds the failures that may be about an email address, a username or a telephone number, in full, which had no account.
 * Entries hold it masked: other identifiers may have the same mask. Those with its digest are about it.
 */
export async function failuresAbout(
  runtime: { database: Pick<Database, "read">; vault: Pick<Vault, "macs"> },
  tenant: Tenant,
  given: string,
  since: Date,
): Promise<UnknownIdentifier> {
  const { userId, name } = await resolveName(runtime, tenant, given);
  const mask = maskIdentifier(name);
  const digests = identifierDigests(runtime.vault, tenant.id, name);
  const found = await failuresOfUnknown(runtime.database.read, tenant, { mask, digests }, since);
  return { userId, mask, ...found };
}
