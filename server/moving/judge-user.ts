import { parseEmailAddress } from "../identity/email/email-address.ts";
import { isStorable, MAX_METADATA_CHARACTERS } from "../identity/metadata.ts";
import { pathOfPicture, readPicture } from "../identity/picture.ts";
import { parseUsername } from "../identity/username/username.ts";
import { printable } from "../lib/printable-text.ts";
import { firstFactors, movings } from "../methods/index.ts";
import { hexOf, type Importing, type Moving } from "../methods/moving.ts";
import type { Converted } from "./form.ts";
import { type UserRecord, type UserRecordInput, userRecord } from "./user-record.ts";
import { keysOf, takenReason, type UserKey, type UserRows } from "./user-rows.ts";

export type JudgedUser =
  /** `keys`: what no other user of the tenant may have. */
  | { ok: true; rows: UserRows; keys: UserKey[]; omitted: readonly string[] }
  /** `reason` contains no data of the record. */
  | { ok: false; reason: string };

/** What users are judged with. */
export type Judge = Omit<Importing, "userId" | "keepsId" | "createdAt">;

const everyMoving: readonly Moving[] = movings;

/** The tables of methods that identify their user, who needs no identifier to sign in. */
const identifyingTables = new Set(
  firstFactors.flatMap(({ moving, firstFactor }) => (firstFactor.identifies && moving ? moving.table : [])),
);

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
  const result = rowsOf(judge, record);
  if (!result.ok) return result;
  const keys = keysOf(result.rows);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated) return { ok: false, reason: takenReason(repeated) };
  return { ...result, keys, omitted: [...converted.omitted, ...omitted, ...result.omitted] };
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

type Rows = { ok: true; rows: UserRows; omitted: string[] } | { ok: false; reason: string };

function rowsOf(judge: Judge, record: UserRecord): Rows {
  const { tenant, platform } = judge;
  const { config } = tenant;
  const id = record.id ?? platform.uuid();
  const created = record.created_at ?? null;
  if (!isStorable(record)) return { ok: false, reason: "a value cannot be stored" };

  if (record.emails.filter((email) => email.is_primary).length > 1)
    return { ok: false, reason: "more than one primary address" };
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
  const credentials: UserRows["credentials"] = {};
  const omitted: string[] = [];
  for (const { table, rows } of movings) {
    const importing = { ...judge, userId: id, keepsId: Boolean(record.id), createdAt: created };
    const moved = rows(record, importing);
    if (!moved.ok) return moved;
    credentials[table] = moved.rows;
    if (moved.omitted !== undefined) omitted.push(moved.omitted);
  }
  const isIdentified = [...identifyingTables].some((table) => (credentials[table] ?? []).length > 0);
  if (!isIdentified && record.emails.length === 0 && !record.username)
    return { ok: false, reason: "no email address, username, passkey or identity to sign in with" };

  const picture = record.picture_file ? readPicture(record.picture_file) : null;
  if (record.picture_file && !picture)
    return { ok: false, reason: "picture_file is not a square baseline JPEG of 32 to 512 pixels" };
  const pictureId = picture && platform.uuid();

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
    username: username ? { id: platform.uuid(), username: username.value } : null,
    credentials,
  };
  return { ok: true, rows, omitted };
}

const optionalTexts = ["name", "given_name", "family_name", "picture"] as const;
const metadataKinds = ["public_metadata", "private_metadata", "unsafe_metadata"] as const;

/** Leaves out what would reject a user from another system, although the user can sign in without it. */
function withoutInvalid(
  { tenant }: Judge,
  record: UserRecordInput,
): { user: UserRecordInput; omitted: string[] } {
  const user = { ...record };
  const omitted: string[] = [];
  for (const name of optionalTexts) {
    if (userRecord.shape[name].safeParse(user[name]).success) continue;
    user[name] = null;
    omitted.push(`${name} (too long, or not an address)`);
  }
  for (const name of metadataKinds) {
    if (userRecord.shape[name].safeParse(user[name]).success && isStorable(user[name])) continue;
    user[name] = {};
    omitted.push(`${name} (more than ${MAX_METADATA_CHARACTERS} characters)`);
  }
  const isAllowed = !user.username || parseUsername(user.username, tenant.config.username).ok;
  if (!isAllowed && (user.emails ?? []).length > 0) {
    user.username = null;
    omitted.push("username (not allowed by this tenant)");
  }
  for (const { removeInvalid } of everyMoving) {
    const removed = removeInvalid?.(user as never);
    if (removed) omitted.push(removed);
  }
  return { user, omitted };
}
