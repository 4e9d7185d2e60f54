import { createHash } from "node:crypto";
import type { SourceOptions, SourceRecord } from "./form.ts";
import { isObject, parseRecord, type UserRecordInput } from "./user-record.ts";

/** Reads the fields of a record. What is neither taken nor ignored is reported as omitted. */
export interface SourceFields {
  /** Takes a field as it is; undefined if it is absent or empty. */
  take(name: string): unknown;
  /** Takes a text. A number is read as text; any other value is omitted. */
  text(name: string): string | undefined;
  /** Takes a truth value, which may be written as text. */
  flag(name: string): boolean;
  /** Takes a list of objects, which may be written as text. */
  list(name: string): SourceRecord[];
  /** Takes an object, which may be written as text. */
  object(name: string): Record<string, unknown> | undefined;
  /** Takes a time: milliseconds since 1970, or a text that names its time zone or is in UTC. */
  time(name: string): string | undefined;
  /** Takes fields that say nothing about the user which is not known otherwise. */
  ignore(...names: string[]): void;
  /** Reports a field as omitted. */
  omit(name: string): void;
  /** The names of all omitted fields. */
  omitted(): string[];
}

export function sourceFields(record: SourceRecord): SourceFields {
  const left = new Map(Object.entries(record));
  const omitted: string[] = [];

  const take = (name: string): unknown => {
    const value = left.get(name);
    left.delete(name);
    return isEmpty(value) ? undefined : value;
  };
  /** Takes a value of one type; any other is omitted. */
  const typed = <Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined => {
    const value = take(name);
    if (value === undefined) return undefined;
    const result = read(value);
    if (result === undefined) omitted.push(name);
    return result;
  };

  return {
    take,
    text: (name) =>
      typed(name, (value) =>
        typeof value === "string" || typeof value === "number" ? String(value) : undefined,
      ),
    flag: (name) => typed(name, flagOf) ?? false,
    list: (name) =>
      typed(name, (value) => {
        const list = parsed(value);
        return Array.isArray(list) && list.every(isObject) ? list : undefined;
      }) ?? [],
    object: (name) =>
      typed(name, (value) => {
        const object = parsed(value);
        return isObject(object) ? object : undefined;
      }),
    time: (name) => typed(name, timeOf),
    ignore: (...names) => {
      for (const name of names) left.delete(name);
    },
    omit: (name) => void omitted.push(name),
    omitted: () => [...omitted, ...[...left].flatMap(([name, value]) => (isEmpty(value) ? [] : [name]))],
  };
}

/** Returns a text that is not empty, or undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns a text, or a number as text; empty for any other value, which may have no text at all. */
export function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns a number, which may be written as text; NaN for any other value. */
export function asNumber(value: unknown): number {
  const text = asText(value);
  return text === "" ? Number.NaN : Number(text);
}

/** Whether a value says nothing. */
function isEmpty(value: unknown): boolean {
  if ([undefined, null, "", false, "false", "f"].includes(value as never)) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function flagOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "t") return true;
  return value === "false" || value === "f" ? false : undefined;
}

/** Parses a text as JSON, as a value of a CSV file is; undefined if it is none. Other values stay as they are. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return parseRecord(value);
  } catch {
    return undefined;
  }
}

/** Converts a time to ISO 8601; undefined if it is none, or outside the years 0 to 9999. */
export function timeOf(value: unknown): string | undefined {
  const date =
    typeof value === "number" || /^\d+$/.test(asText(value)) ? new Date(Number(value)) : dateOf(value);
  if (!date || Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString();
  return text.length === 24 ? text : undefined;
}

/** Reads ISO 8601, and PostgreSQL's output: a space for the T, an offset in hours. */
function dateOf(value: unknown): Date | null {
  const [, day, time = "00:00", offset = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/.exec(
      typeof value === "string" ? value : "",
    ) ?? [];
  if (day === undefined) return null;
  const zone = /^[+-]\d\d$/.test(offset) ? `${offset}:00` : offset.replace("UTC", "Z");
  return new Date(`${day}T${time}${zone}`);
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Namespace of the ids that are derived from ids at other systems. */
const NAMESPACE = Buffer.from("3d1c0ba6d4c94f1e8f0a5b7cbe2f7a91", "hex");

/**
 * The id of a user who had another id: the same one if it is a UUID, otherwise a UUID derived from it (RFC 9562
 * section 5.5, with SHA-1), so that an application can compute it.
 *
 * @param form the name of the form, so that equal ids of two systems stay apart
 */
export function idOf(form: string, id: string): string {
  if (uuid.test(id)) return id.toLowerCase();
  const bytes = createHash("sha1").update(NAMESPACE).update(`${form}:${id}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the addresses of a user who has one at most. */
export function onlyEmail(
  address: string | undefined,
  verification: Pick<NonNullable<UserRecordInput["emails"]>[number], "is_verified" | "verified_at">,
): UserRecordInput["emails"] {
  return address === undefined ? [] : [{ address, is_primary: true, ...verification }];
}

/** Since when a user is blocked whose source does not say it: the creation of the account. */
export const blockedSince = (createdAt: string | null | undefined) => createdAt ?? new Date(0).toISOString();

/** Returns the hash as a member of the user, or omits it with the reason. */
export function passwordHash(
  fields: SourceFields,
  hash: string | undefined,
  { acceptHash }: SourceOptions,
): Pick<UserRecordInput, "password_hash"> {
  if (hash === undefined) return {};
  const accepted = acceptHash(hash);
  if (accepted.ok) return { password_hash: accepted.stored };
  fields.omit(`password hash (${accepted.reason})`);
  return {};
}

/**
 * Names the identity of a provider, or omits it.
 *
 * @param known names of providers here, by their names at the source; null for a method that is no provider
 * @param identity what the source says of it: only texts are read
 */
export function identityOf(
  fields: SourceFields,
  known: Readonly<Record<string, string | null>>,
  { providers }: SourceOptions,
  identity: { provider: unknown; subject: unknown; email: unknown },
): NonNullable<UserRecordInput["identities"]> {
  const provider = textOf(identity.provider) ?? "unknown";
  const [subject, email] = [textOf(identity.subject), textOf(identity.email)];
  const name = Object.hasOwn(providers, provider)
    ? providers[provider]
    : Object.hasOwn(known, provider)
      ? known[provider]
      : undefined;
  if (name === null) return [];
  if (name !== undefined && subject) return [{ provider: name, subject, ...(email ? { email } : {}) }];
  fields.omit(`identity (${provider.slice(0, 64)})`);
  return [];
}
