import { sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { isInvalidValue, violatedUnique } from "#db/errors";
import { parseEmailAddress } from "../../identity/email-address.ts";
import { parseUsername } from "../../identity/username.ts";
import { addEmail } from "../../identity/users.ts";
import { decodeBase64url } from "../../lib/base64url.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { isAcceptableKey } from "../../webauthn/cose-key.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { LineError, type UserLine, userLine } from "./line.ts";
import { passwordHashCheck } from "./password-hash.ts";

const { identities, passwords, usernames, users, webauthnCredentials } = schema;

/** The result of an import. */
export interface Imported {
  imported: number;
  /** Rejected lines, counted from 1, with the reason. */
  rejected: { line: number; reason: string }[];
}

/**
 * Creates a user from each line. A rejected line has no effect, and the import continues with the next one.
 *
 * @param onRejected called for each rejected line at once, because a file may be long
 */
export async function importUsers(
  runtime: CliRuntime,
  tenant: Tenant,
  lines: AsyncIterable<string>,
  onRejected: (rejection: Imported["rejected"][number]) => void,
): Promise<Imported> {
  const checkHash = await passwordHashCheck(runtime.config.password);
  const outcome: Imported = { imported: 0, rejected: [] };
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === "") continue;
    try {
      const user = parseLine(text, tenant, checkHash);
      await runtime.database.write.transaction((tx) => insertUser(tx, runtime, tenant, user));
      outcome.imported += 1;
    } catch (error) {
      const reason = error instanceof LineError ? error.message : rejectionReason(error);
      if (reason === null) throw error;
      outcome.rejected.push({ line, reason });
      onRejected({ line, reason });
    }
  }
  return outcome;
}

function parseLine(text: string, { config }: Tenant, checkHash: (hash: string) => void): UserLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineError("not JSON");
  }
  const parsed = userLine.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const extra = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    const path = [...(issue?.path ?? []), ...extra].join(".");
    throw new LineError(
      extra.length > 0 ? `${path}: unknown member` : `${path || "line"}: ${issue?.message}`,
    );
  }
  const user = parsed.data;
  if (user.password_hash) checkHash(user.password_hash);
  for (const { id, public_key } of user.passkeys) {
    if (!decodeBase64url(id)) throw new LineError("the id of a passkey is not base64url");
    if (!isAcceptableKey(Buffer.from(public_key, "base64url")))
      throw new LineError("the public key of a passkey is not supported");
  }
  const canSignIn =
    [user.emails, user.passkeys, user.identities].some((list) => list.length > 0) || user.username;
  if (!canSignIn) throw new LineError("no e-mail address, username, passkey or identity to sign in with");
  return {
    ...user,
    emails: canonicalEmails(user.emails, config.email.max_length),
    username: user.username ? canonicalUsername(user.username, config.username) : null,
  };
}

function canonicalEmails(given: UserLine["emails"], maxLength: number): UserLine["emails"] {
  if (given.filter((email) => email.is_primary).length > 1)
    throw new LineError("more than one primary address");
  const none = !given.some((email) => email.is_primary);
  return given.map((email, index) => {
    const address = parseEmailAddress(email.address, maxLength);
    if (address === null) throw new LineError(`emails.${index} is not an e-mail address`);
    return { ...email, address, is_primary: none ? index === 0 : email.is_primary };
  });
}

function canonicalUsername(given: string, limits: Parameters<typeof parseUsername>[1]): string {
  const parsed = parseUsername(given, limits);
  if (!parsed.ok) throw new LineError("this tenant does not allow the username");
  return parsed.username;
}

async function insertUser(
  tx: Transaction,
  { platform }: CliRuntime,
  { id: tenantId }: Tenant,
  user: UserLine,
): Promise<void> {
  const userId = user.id ?? platform.uuid();
  const createdAt = user.created_at ? new Date(user.created_at) : sql`clock_timestamp()`;
  const own = () => ({ tenantId, userId, createdAt, updatedAt: createdAt });
  const { name, given_name: givenName, family_name: familyName, picture } = user;
  const { public_metadata: publicMetadata, private_metadata: privateMetadata } = user;
  const row = { tenantId, id: userId, createdAt, updatedAt: createdAt, name, givenName, familyName, picture };
  await tx
    .insert(users)
    .values({ ...row, publicMetadata, privateMetadata, unsafeMetadata: user.unsafe_metadata });
  for (const { address, is_primary: isPrimary, is_verified } of user.emails) {
    const verifiedAt = is_verified ? createdAt : null;
    await addEmail(tx, tenantId, {
      userId,
      address,
      isPrimary,
      verifiedAt,
      id: platform.uuid(),
      now: createdAt,
    });
  }
  if (user.username)
    await tx.insert(usernames).values({ ...own(), id: platform.uuid(), username: user.username });
  if (user.password_hash) await tx.insert(passwords).values({ ...own(), hash: user.password_hash });
  for (const passkey of user.passkeys) {
    await tx.insert(webauthnCredentials).values({
      ...own(),
      ...(passkey.created_at ? { createdAt: new Date(passkey.created_at) } : {}),
      id: passkey.id,
      publicKey: Buffer.from(passkey.public_key, "base64url"),
      signCount: passkey.sign_count,
      aaguid: passkey.aaguid,
      attestationType: passkey.attestation_type,
      transports: passkey.transports,
      backupEligible: passkey.backup_eligible,
      backupState: passkey.backup_state,
      userVerified: passkey.user_verified,
      mfaOnly: passkey.mfa_only,
      name: passkey.name,
    });
  }
  for (const { provider, subject, email } of user.identities)
    await tx.insert(identities).values({ ...own(), id: platform.uuid(), provider, subject, email });
}

const conflictReasons: Record<string, string> = {
  users_tenant_id_id_pk: "a user with this id exists",
  emails_address_unique: "an e-mail address is in use, or listed twice",
  usernames_username_unique: "the username is in use",
  webauthn_credentials_pkey: "a passkey is in use",
  identities_subject_unique: "an identity is in use, or listed twice",
};

/** Returns why the database rejected a line, or null for an error that the line did not cause. */
function rejectionReason(error: unknown): string | null {
  const constraint = violatedUnique(error);
  if (constraint !== null) return conflictReasons[constraint] ?? "a unique value is in use";
  return isInvalidValue(error) ? "a value cannot be stored" : null;
}
