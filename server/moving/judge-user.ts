import type { Tenant } from "../config/tenant.ts";
import { parseEmailAddress } from "../identity/email-address.ts";
import { isStorable, MAX_METADATA_CHARACTERS } from "../identity/metadata.ts";
import { pathOfPicture, readPicture } from "../identity/picture.ts";
import { parseUsername } from "../identity/username.ts";
import { DIGEST_BYTES, splitDigest, UnknownKeyError, type Vault } from "../keys/vault.ts";
import { decodeBase64url } from "../lib/base64url.ts";
import type { Platform } from "../lib/platform.ts";
import { printable } from "../lib/printable-text.ts";
import type { AcceptableHash } from "../methods/password/acceptable-hash.ts";
import {
  decodeTotpSecret,
  MAX_IMPORTED_SECRET_BYTES,
  MIN_IMPORTED_SECRET_BYTES,
  totpSealContext,
} from "../methods/totp/totp.ts";
import { importCredentialKey } from "../webauthn/cose-key.ts";
import { legacyUserHandle } from "../webauthn/user-handle.ts";
import type { Converted } from "./form.ts";
import { type UserRecord, type UserRecordInput, userRecord } from "./user-record.ts";
import { type UserKey, type UserRows, userKey } from "./user-rows.ts";

export type JudgedUser =
  /** `keys`: what no other user of the tenant may have. */
  | { ok: true; rows: UserRows; keys: UserKey[]; omitted: readonly string[] }
  /** `reason` contains no data of the record. */
  | { ok: false; reason: string };

/** What users are judged with. */
export interface Judge {
  tenant: Tenant;
  vault: Vault;
  platform: Platform;
  acceptHash(hash: string): AcceptableHash;
}

/**
 * Decides whether a converted user can be imported, and makes its rows.
 *
 * @param isStrict whether a field that could be left out rejects the user
 */
export function judgeUser(judge: Judge, converted: Converted, isStrict: boolean): JudgedUser {
  if (!converted.ok) return converted;
  const { user, omitted } = isStrict
    ? { user: converted.user, omitted: [] }
    : withoutInvalid(judge, converted.user);
  const parsed = userRecord.safeParse(user);
  if (!parsed.success) return { ok: false, reason: reasonOf(parsed.error) };
  const record = parsed.data;
  const reason = rejection(record);
  if (reason !== null) return { ok: false, reason };
  const result = rowsOf(judge, record);
  if (!result.ok) return result;
  const keys = keysOf(result.rows);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated) return { ok: false, reason: takenReason(repeated) };
  return { ...result, keys, omitted: [...converted.omitted, ...omitted, ...result.omitted] };
}

const takenReasons: Record<string, string> = {
  id: "a user with this id exists",
  email: "an email address is in use, or listed twice",
  username: "the username is in use",
  passkey: "a passkey is in use, or listed twice",
  identity: "an identity is in use, or listed twice",
};

/** The reason of a user one of whose keys another user has. */
export function takenReason(key: UserKey): string {
  return takenReasons[key.slice(0, key.indexOf(":"))] ?? "a unique value is in use";
}

function reasonOf({
  issues: [issue],
}: {
  issues: { code: string; path: PropertyKey[]; message: string }[];
}): string {
  const keys = issue && "keys" in issue && Array.isArray(issue.keys) ? issue.keys.slice(0, 1) : [];
  const path = printable([...(issue?.path ?? []), ...keys].map(String).join(".").slice(0, 128));
  return keys.length > 0 ? `${path}: unknown member` : `${path || "record"}: ${issue?.message}`;
}

/** Returns why a record of the right shape cannot be imported. */
function rejection(record: UserRecord): string | null {
  const { emails, passkeys, identities, username } = record;
  if (!isStorable(record)) return "a value cannot be stored";
  for (const { id, public_key, user_handle } of passkeys) {
    if (!decodeBase64url(id)) return "the id of a passkey is not base64url";
    if (user_handle && !decodeBase64url(user_handle)) return "the user handle of a passkey is not base64url";
    if (!importCredentialKey(Buffer.from(public_key, "base64url")))
      return "the public key of a passkey is not supported";
  }
  if (emails.filter((email) => email.is_primary).length > 1) return "more than one primary address";
  const canSignIn = [emails, passkeys, identities].some((list) => list.length > 0) || username;
  return canSignIn ? null : "no email address, username, passkey or identity to sign in with";
}

type Rows = { ok: true; rows: UserRows; omitted: string[] } | { ok: false; reason: string };

function rowsOf(judge: Judge, record: UserRecord): Rows {
  const { tenant, platform } = judge;
  const { config } = tenant;
  const id = record.id ?? platform.uuid();
  const created = record.created_at ?? null;

  const emails: UserRows["emails"] = [];
  const none = !record.emails.some((email) => email.is_primary);
  for (const [index, email] of record.emails.entries()) {
    const address = parseEmailAddress(email.address, config.email.max_length);
    if (address === null) return { ok: false, reason: `emails.${index} is not an email address` };
    const isVerified = email.is_verified || Boolean(email.verified_at);
    emails.push({
      id: platform.uuid(),
      address,
      is_primary: none ? index === 0 : email.is_primary,
      is_verified: isVerified,
      verified_at: email.verified_at ?? null,
      created_at: email.created_at ?? created,
    });
  }
  const username = record.username ? parseUsername(record.username, config.username) : null;
  if (username && !username.ok) return { ok: false, reason: "this tenant does not allow the username" };
  const hash = record.password_hash ? judge.acceptHash(record.password_hash) : null;
  if (hash && !hash.ok) return { ok: false, reason: `password_hash ${hash.reason}` };
  const secret = record.totp ? decodeTotpSecret(record.totp.secret) : null;
  if (record.totp && !isSecret(secret))
    return { ok: false, reason: "totp.secret is not a secret in base 32" };
  const picture = record.picture_file ? readPicture(record.picture_file) : null;
  if (record.picture_file && !picture)
    return { ok: false, reason: "picture_file is not a square baseline JPEG of 32 to 512 pixels" };
  const pictureId = picture && platform.uuid();
  const recovery = recoveryDigests(judge, record.id ?? null, record.recovery_codes ?? null);

  const rows: UserRows = {
    user: {
      id,
      name: record.name ?? null,
      given_name: record.given_name ?? null,
      family_name: record.family_name ?? null,
      picture: pictureId === null ? (record.picture ?? null) : pathOfPicture(pictureId),
      language: record.language ?? null,
      public_metadata: record.public_metadata,
      private_metadata: record.private_metadata,
      unsafe_metadata: record.unsafe_metadata,
      blocked_at: record.blocked_at ?? null,
      created_at: created,
      updated_at: record.updated_at ?? created,
    },
    emails,
    uploadedPicture: picture && { id: pictureId, data: hexOf(picture.bytes) },
    username: username ? { id: platform.uuid(), username: username.username } : null,
    password: hash ? { hash: hash.stored, set_at: record.password_set_at ?? created } : null,
    credentials: record.passkeys.map((passkey) => ({
      id: passkey.id,
      public_key: hexOf(Buffer.from(passkey.public_key, "base64url")),
      user_handle: handleOf(passkey.user_handle, id),
      sign_count: passkey.sign_count,
      aaguid: passkey.aaguid.toLowerCase(),
      attestation_type: passkey.attestation_type,
      transports: passkey.transports,
      backup_eligible: passkey.backup_eligible,
      backup_state: passkey.backup_state,
      user_verified: passkey.user_verified,
      mfa_only: passkey.mfa_only,
      name: passkey.name ?? null,
      last_used_at: passkey.last_used_at ?? null,
      created_at: passkey.created_at ?? created,
    })),
    totp: secret && {
      sealed_secret: hexOf(judge.vault.seal(secret, totpSealContext(tenant.id, id))),
      last_step: record.totp?.last_step ?? 0,
      created_at: record.totp?.created_at ?? created,
    },
    recoveryCodes: (recovery ?? []).map(splitDigest).map(({ keyId, mac }) => ({
      key_id: hexOf(keyId),
      code_hash: hexOf(mac),
    })),
    identities: record.identities.map(({ provider, subject, email, created_at }) => ({
      id: platform.uuid(),
      provider,
      subject,
      email: email ?? null,
      created_at: created_at ?? created,
    })),
  };
  return {
    ok: true,
    rows,
    omitted: recovery ? [] : ["recovery_codes (of another tenant, user or secret key)"],
  };
}

function isSecret(secret: Buffer | null): boolean {
  return (
    secret !== null &&
    secret.length >= MIN_IMPORTED_SECRET_BYTES &&
    secret.length <= MAX_IMPORTED_SECRET_BYTES
  );
}

/** Returns the digests of recovery codes; null if they cannot be verified here. */
function recoveryDigests(
  { tenant, vault }: Judge,
  userId: string | null,
  codes: NonNullable<UserRecord["recovery_codes"]> | null,
): Buffer[] | null {
  if (!codes) return [];
  if (userId === null || codes.tenant_id !== tenant.id) return null;
  const digests = [...new Set(codes.digests)].map((digest) => Buffer.from(digest, "base64url"));
  try {
    // Digests of a version that did not name the key are not told apart from damaged ones.
    for (const digest of digests) {
      if (digest.length !== DIGEST_BYTES) return null;
      vault.assertKnown("digest", digest);
    }
  } catch (error) {
    if (error instanceof UnknownKeyError) return null;
    throw error;
  }
  return digests;
}

/**
 * The handle that a passkey was made with; the id of the user, if the source names none. It is recorded in either case:
 * only passkeys of this service's former versions record none, and their accounts go on with the id as handle.
 */
function handleOf(handle: string | null | undefined, userId: string): string {
  return hexOf(handle ? Buffer.from(handle, "base64url") : legacyUserHandle(userId));
}

/** Bytes as PostgreSQL reads them in a text. */
function hexOf(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}

function keysOf({ user, emails, username, credentials, identities }: UserRows): UserKey[] {
  return [
    userKey("id", user.id),
    ...emails.map(({ address }) => userKey("email", address)),
    ...(username ? [userKey("username", username.username)] : []),
    ...credentials.map(({ id }) => userKey("passkey", id)),
    ...identities.map(({ provider, subject }) => userKey("identity", JSON.stringify([provider, subject]))),
  ];
}

const optionalTexts = { name: 256, given_name: 256, family_name: 256, picture: 2_048 } as const;

/** Leaves out what would reject a user from another system, although the user can sign in without it. */
function withoutInvalid(
  { tenant }: Judge,
  given: UserRecordInput,
): { user: UserRecordInput; omitted: string[] } {
  const user = { ...given };
  const omitted: string[] = [];
  for (const [name, length] of Object.entries(optionalTexts) as [keyof typeof optionalTexts, number][]) {
    const text = user[name];
    const isValid =
      !text ||
      (text.length <= length &&
        (name !== "picture" || (/^https?:\/\/\S+$/.test(text) && URL.canParse(text))));
    if (isValid) continue;
    user[name] = null;
    omitted.push(`${name} (too long, or not an address)`);
  }
  for (const name of ["public_metadata", "private_metadata", "unsafe_metadata"] as const) {
    const metadata = user[name];
    if (!metadata || (JSON.stringify(metadata).length <= MAX_METADATA_CHARACTERS && isStorable(metadata)))
      continue;
    user[name] = {};
    omitted.push(`${name} (more than ${MAX_METADATA_CHARACTERS} characters)`);
  }
  const isAllowed = !user.username || parseUsername(user.username, tenant.config.username).ok;
  if (!isAllowed && (user.emails ?? []).length > 0) {
    user.username = null;
    omitted.push("username (not allowed by this tenant)");
  }
  const secret = user.totp ? decodeTotpSecret(user.totp.secret) : null;
  if (user.totp && !isSecret(secret)) {
    user.totp = null;
    omitted.push("secret of the authenticator app (not base 32, or of another length)");
  }
  return { user, omitted };
}
